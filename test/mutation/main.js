// Changes the code that targets.js lists in small ways, one at a time, and checks whether a test fails: see docs/internals/mutation.md.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { readFigures, recordFigures, resultsFile } from './figures.js';
import { differencesOf, problemsOf } from './problems.js';
import { writeReport } from './report.js';
import { TARGETS } from './targets.js';

/** The test files whose paths begin so, in this order: each change is tried until a test fails. */
function specsOf(beginnings) {
  const files = readdirSync('test', { recursive: true }).filter((path) => /\.spec\.ts$|^mutation\/.*\.ts$/.test(path));
  const wanted = beginnings.flatMap((one) => files.filter((path) => path.startsWith(one)));
  return [...new Set(wanted)].map((path) => `test/${path}`);
}

function options(file, tests) {
  return {
    mutate: [file],
    plugins: [fileURLToPath(new URL('one-process-runner.js', import.meta.url))],
    testRunner: 'one-process',
    cardPaymentSpecs: specsOf(tests),
    coverageAnalysis: 'perTest',
    concurrency: 1,
    timeoutMS: 20_000,
    dryRunTimeoutMinutes: 20,
    incremental: true,
    incrementalFile: resultsFile(file, 'incremental'),
    reporters: ['json', 'dots'],
    jsonReporter: { fileName: resultsFile(file) },
    tempDirName: 'reports/mutation/sandbox',
    cleanTempDir: 'always',
    ignorePatterns: ['bench', 'dist', 'reports', 'sample/dist', 'sample/public'],
    disableTypeChecks: false,
    logLevel: 'warn',
    warnings: { slow: false },
  };
}

/** Stryker assumes that new tests cannot notice a surviving change of code that runs while a module is loaded. */
function forgetSurvivors(file) {
  const earlier = resultsFile(file, 'incremental');
  if (!existsSync(earlier)) return;
  const results = JSON.parse(readFileSync(earlier, 'utf8'));
  for (const changed of Object.values(results.files)) {
    changed.mutants = changed.mutants.filter(({ status }) => status !== 'Survived');
  }
  writeFileSync(earlier, JSON.stringify(results));
}

async function runStryker(file, tests) {
  forgetSurvivors(file);
  await new Stryker(options(file, tests)).runMutationTest();
}

const { values, positionals: wanted } = parseArgs({
  options: { compare: { type: 'boolean', default: false }, report: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const isPart = (name) => TARGETS.some((part) => part.name === name);
const isWanted = (name, file) =>
  wanted.length === 0 || wanted.some((one) => (isPart(one) ? one === name : file.includes(one)));

mkdirSync('reports/mutation', { recursive: true });
const problems = [];
for (const part of TARGETS) {
  const files = Object.entries(part.files).filter(([file]) => isWanted(part.name, file));
  if (files.length === 0) continue;
  const before = readFigures(part);
  for (const [file, tests] of values.report ? [] : files) {
    console.log(file);
    try {
      await runStryker(file, tests);
      await recordFigures(part, file);
    } catch (error) {
      problems.push(`${file} was not measured: ${error.message}`);
    }
  }
  problems.push(...problemsOf(part), ...(values.compare ? differencesOf(part, before) : []));
}
await writeReport(TARGETS);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
