// Changes the code of targets.js in small ways, one at a time, and looks whether a test notices: see docs/mutation.md.
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

const wanted = process.argv.slice(2);
for (const [file, tests] of TARGETS.flatMap(({ files }) => Object.entries(files))) {
  if (wanted.length > 0 && !wanted.some((part) => file.includes(part))) continue;
  console.log(file);
  await new Stryker(options(file, tests)).runMutationTest();
}
const problems = await writeReport(TARGETS);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
