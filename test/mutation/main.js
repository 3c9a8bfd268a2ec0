// Changes the code that targets.js lists in small ways, one at a time, and checks whether a test fails: test/README.md.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';
import { TARGETS } from './targets.js';

const FOLDER = 'reports/mutation';
/** The least score of a part, in percent. */
const BOUND = 90;

const wanted = process.argv.slice(2);
const isPart = (name) => TARGETS.some((part) => part.name === name);
const isWanted = (name, file) =>
  wanted.length === 0 || wanted.some((word) => (isPart(word) ? word === name : file.includes(word)));

mkdirSync(FOLDER, { recursive: true });
for (const { name, files } of TARGETS) {
  const chosen = Object.entries(files).filter(([file]) => isWanted(name, file));
  if (chosen.length === 0) continue;
  const mutants = [];
  for (const [file, tests] of chosen) {
    console.log(file);
    try {
      mutants.push(...(await mutantsOf(file, tests)));
    } catch (error) {
      fail(`${file} was not measured: ${error.message}`);
    }
  }
  const survivors = mutants.filter(isSurvivor);
  for (const { file, location, replacement } of survivors) {
    console.log(`  ${file}:${location.start.line} survived: ${replacement.replace(/\s+/g, ' ')}`);
  }
  const score =
    mutants.length === 0 ? 100 : Math.floor((1000 * (mutants.length - survivors.length)) / mutants.length) / 10;
  const part = chosen.length === Object.keys(files).length ? name : `${name}, in part`;
  const summary = `${part}: ${score.toFixed(1)} % of ${mutants.length} changes were noticed`;
  if (score < BOUND) fail(`${summary}, less than ${BOUND} %`);
  else console.log(summary);
}

function fail(why) {
  console.error(why);
  process.exitCode = 1;
}

/** What was tried with a file: Stryker's report has the same, and is what continuous integration keeps. */
async function mutantsOf(file, tests) {
  const name = `${FOLDER}/${file.replace(/^lib\/|\.ts$/g, '').replaceAll('/', '.')}`;
  const [report, earlier] = [`${name}.results.json`, `${name}.incremental.json`];
  forgetSurvivors(earlier);
  await new Stryker({
    mutate: [file],
    plugins: [fileURLToPath(new URL('one-process-runner.js', import.meta.url))],
    testRunner: 'one-process',
    cardPaymentSpecs: specsOf(tests),
    coverageAnalysis: 'perTest',
    concurrency: 1,
    timeoutMS: 20_000,
    dryRunTimeoutMinutes: 20,
    incremental: true,
    incrementalFile: earlier,
    reporters: ['json', 'dots'],
    jsonReporter: { fileName: report },
    tempDirName: `${FOLDER}/sandbox`,
    cleanTempDir: 'always',
    ignorePatterns: ['bench', 'dist', 'reports', 'sample/dist', 'sample/public'],
    disableTypeChecks: false,
    logLevel: 'warn',
    warnings: { slow: false },
  }).runMutationTest();
  // A file in which Stryker finds nothing to change is not in its report.
  const found = JSON.parse(readFileSync(report, 'utf8')).files[file]?.mutants ?? [];
  return found.filter((mutant) => isSurvivor(mutant) || isNoticed(mutant)).map((mutant) => ({ ...mutant, file }));
}

function isSurvivor({ status }) {
  return status === 'Survived' || status === 'NoCoverage';
}

/** A test failed, a whole file of tests could not run, or the tests did not end. */
function isNoticed({ status }) {
  return status === 'Killed' || status === 'RuntimeError' || status === 'Timeout';
}

/** The test files whose paths begin so, in this order: each change is tried until a test fails. */
function specsOf(beginnings) {
  const files = readdirSync('test', { recursive: true }).filter((path) => /\.spec\.ts$|^mutation\/.*\.ts$/.test(path));
  const specs = beginnings.flatMap((one) => {
    const found = files.filter((path) => path.startsWith(one));
    if (found.length === 0) throw new Error(`no tests in test/${one}`);
    return found;
  });
  return [...new Set(specs)].map((path) => `test/${path}`);
}

/** Stryker assumes that new tests cannot notice a surviving change of code that runs while a module is loaded. */
function forgetSurvivors(earlier) {
  if (!existsSync(earlier)) return;
  const results = JSON.parse(readFileSync(earlier, 'utf8'));
  for (const changed of Object.values(results.files)) {
    changed.mutants = changed.mutants.filter(({ status }) => status !== 'Survived');
  }
  writeFileSync(earlier, JSON.stringify(results));
}
