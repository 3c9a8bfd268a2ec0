/**
 * A folder of tests is one suite, its `room.ts`, but for those that mostly wait. A file that is named by its path
 * runs alone: `npm run jest -- test/payment/amount.spec.ts`. test/README.md says what each layer is for.
 */
const words = process.argv.slice(2);
const namesAFile = words.some((word) => word.endsWith('.spec.ts'));
const namesAFolder = words.some((word) => word.startsWith('test/'));

const ALONE = ['api', 'faults', 'package', 'wire'];
const LINT = ['lint', 'release'];
const PACKAGES = ['package'];
const WHOLE = ['alerts', 'bench', 'fail-over', 'galera', 'soak'];

const isWhole = process.env.TESTS === 'whole';

function suites() {
  return namesAFile ? '\\.spec\\.ts$' : ['/room\\.ts$', ...ALONE.map((folder) => `/test/${folder}/.+\\.spec\\.ts$`)];
}

function leftOut() {
  const forTheWhole = isWhole || namesAFile ? [] : ['\\.whole\\.spec\\.ts$'];
  if (namesAFile || namesAFolder) return forTheWhole;
  const folders = isWhole ? LINT : [...LINT, ...PACKAGES, ...WHOLE];
  return [...forTheWhole, ...folders.map((folder) => `/test/${folder}/`)];
}

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testRegex: suites(),
  testPathIgnorePatterns: ['/node_modules/', ...leftOut()],
  restoreMocks: true,
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          target: 'es2022',
          keepClassNames: true,
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^@nestjs/throttler$': '<rootDir>/test/browser/throttler.js',
    '^nestjs-card-payment$': '<rootDir>/lib/index.ts',
    '^nestjs-card-payment/(desk|health|simulator|swagger|testing)$': '<rootDir>/lib/$1/index.ts',
    '^nestjs-card-payment/sql$': '<rootDir>/lib/store/sql/index.ts',
  },
  testTimeout: 60000,
  // What runs at once within a suite mostly waits.
  maxConcurrency: 20,
  // For two cores: tests often wait for sockets, servers and a browser, and two workers left a seventh of the time unused.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/longest-first.sequencer.js',
  // Jest keeps what ES modules held of each suite; collecting garbage around that made the last ones five times as slow.
  workerIdleMemoryLimit: '512MB',
  reporters: ['default', '<rootDir>/test/plain-count.reporter.js'],
};
