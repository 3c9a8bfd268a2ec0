import eslint from '@eslint/js';
import prettier from 'eslint-config-prettier';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      'site/',
      'dist/',
      'sample/dist/',
      'sample/vendure/', // compiled by its own test, beside Vendure
      'node_modules/',
      'coverage/',
      'reports/',
      '**/*.js',
      '**/*.mjs',
      '**/*.cjs',
    ],
  },
  eslint.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.json' } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
    },
  },
  { files: ['lib/cli/**', 'bench/**', 'sample/**', 'test/site/main.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['lib/**'],
    ignores: ['lib/cli/**', 'lib/telemetry/payment-logger.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          name: '@nestjs/common',
          importNames: ['Logger', 'ConsoleLogger'],
          message: "A host's logger may throw: log through PaymentLogger of lib/telemetry/payment-logger.ts.",
        },
      ],
    },
  },
  {
    files: ['lib/**'],
    // Tools for people, the expiry of a card, and a note beside the tables.
    ignores: [
      'lib/{cli,desk,simulator,testing}/**',
      'lib/runtime/clock.ts',
      'lib/dto/rules.ts',
      'lib/store/sql/schema.ts',
    ],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          'NewExpression[callee.name="Date"][arguments.length=0]',
          'MemberExpression[object.name="Date"][property.name="now"]',
        ].map((selector) => ({ selector, message: "Ask PaymentClock: this host's own clock may be hours off." })),
      ],
    },
  },
  {
    // What reads texts of buyers, gateways or hosts takes linear time.
    files: ['lib/**', 'sample/src/**'],
    plugins: { regexp },
    rules: { 'regexp/no-super-linear-backtracking': 'error', 'regexp/no-super-linear-move': 'error' },
  },
  // Jest's asymmetric matchers are `any`.
  {
    files: ['test/**'],
    rules: { '@typescript-eslint/no-unsafe-assignment': 'off', '@typescript-eslint/unbound-method': 'off' },
  },
  {
    files: ['test/**/*.spec.ts'],
    rules: {
      // A room loads all of its files into one suite: what stands at the top of one file would hold for the others, too.
      'no-restricted-syntax': [
        'error',
        ...[
          ['CallExpression[callee.name=/^(before|after)(Each|All)$/]', 'Put hooks into a describe.'],
          ['CallExpression[callee.object.name="jest"]', 'Give the time limit, or the mock, to a test or a hook.'],
          ['AwaitExpression', 'Import what is tested statically, and wait in a hook.'],
        ].map(([node, message]) => ({ selector: `Program > ExpressionStatement > ${node}`, message })),
        {
          selector: 'Program > VariableDeclaration > VariableDeclarator > AwaitExpression',
          message: 'Import what is tested statically, and wait in a hook.',
        },
      ],
    },
  },
  prettier,
);
