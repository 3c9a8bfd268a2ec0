// Changes the code of targets.js in small ways, one at a time, and looks whether a test notices: see docs/mutation.md.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Stryker } from '@stryker-mutator/core';
import jestConfig from '../../jest.config.js';
import { resultsFile, writeReport } from './report.js';
import { TARGETS } from './targets.js';

function options(file, tests) {
  return {
    mutate: [file],
    testRunner: 'jest',
    jest: {
      projectType: 'custom',
      config: {
        ...jestConfig,
        testRegex: tests.map((test) => `/test/${test}.*\\.spec\\.ts$`),
        setupFiles: ['<rootDir>/test/mutation/no-shrinking.js'],
        reporters: [],
      },
      enableFindRelatedTests: false,
    },
    testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    coverageAnalysis: 'perTest',
    concurrency: 1,
    // Jest's modules stay in memory.
    maxTestRunnerReuse: 10,
    timeoutMS: 20_000,
    incremental: true,
    incrementalFile: resultsFile(file, 'incremental'),
    reporters: ['json', 'dots'],
    jsonReporter: { fileName: resultsFile(file) },
    tempDirName: 'reports/mutation/sandbox',
    cleanTempDir: 'always',
    ignorePatterns: ['bench', 'dist', 'docs', 'reports', 'sample'],
    disableTypeChecks: false,
    logLevel: 'warn',
    warnings: { slow: false },
  };
}

/** Stryker believes that a new test cannot notice what survived where that is run as a module is loaded. */
function forgetSurvivors(file) {
  const earlier = resultsFile(file, 'incremental');
  if (!existsSync(earlier)) return;
  const results = JSON.parse(readFileSync(earlier, 'utf8'));
  for (const changed of Object.values(results.files)) {
    changed.mutants = changed.mutants.filter(({ status }) => status !== 'Survived');
  }
  writeFileSync(earlier, JSON.stringify(results));
}

const wanted = process.argv.slice(2);
for (const [file, tests] of TARGETS.flatMap(({ files }) => Object.entries(files))) {
  if (wanted.length > 0 && !wanted.some((part) => file.includes(part))) continue;
  console.log(file);
  forgetSurvivors(file);
  await new Stryker(options(file, tests)).runMutationTest();
}
const problems = await writeReport(TARGETS);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
