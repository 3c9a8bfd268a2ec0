/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testRegex: '\\.spec\\.ts$',
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
    '^nestjs-card-payment/(health|simulator|swagger|testing)$': '<rootDir>/lib/$1/index.ts',
    '^nestjs-card-payment/(sql|redis)$': '<rootDir>/lib/store/$1/index.ts',
  },
  testTimeout: 60000,
  // For two cores: tests often wait for sockets, servers and a browser, and two workers left a seventh of the time unused.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/longest-first.sequencer.js',
  // Jest keeps what ES modules held of each suite; collecting garbage around that made the last ones five times as slow.
  workerIdleMemoryLimit: '512MB',
  reporters: ['default', '<rootDir>/test/plain-count.reporter.js'],
};
