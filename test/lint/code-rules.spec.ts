import { ESLint } from 'eslint';

// In CI, typescript-eslint would read the files from disk instead of the given code.
process.env.TSESTREE_SINGLE_RUN = 'false';

const lint = new ESLint();
const [LIB, CLOCK, LOGGER, SPEC] = [
  'lib/settlement/change-log.ts',
  'lib/runtime/clock.ts',
  'lib/telemetry/payment-logger.ts',
  'test/payment/amount.spec.ts',
];
const imports = (name: string): string => `import { ${name} } from '@nestjs/common';\n\nexport const used = new `;

/** Code, the file that it stands in, and what is said of it where it is refused. */
const ROWS: readonly (readonly [code: string, file: string, refusal: string | null])[] = [
  // A logger may throw.
  [`${imports('Logger')}Logger();\n`, LIB, 'log through PaymentLogger'],
  [`${imports('ConsoleLogger')}ConsoleLogger();\n`, LIB, 'log through PaymentLogger'],
  [`${imports('Logger')}Logger();\n`, LOGGER, null],
  [`${imports('NotFoundException')}NotFoundException();\n`, LIB, null],
  // The clock of a host may be wrong.
  ['export const at = new Date();\n', LIB, 'Ask PaymentClock'],
  ['export const at = Date.now();\n', LIB, 'Ask PaymentClock'],
  ['export const at = new Date(0);\n', LIB, null],
  ['export const at = new Date(Date.now());\n', CLOCK, null],
  // A regular expression takes linear time.
  ['export const cut = /\\s*;\\s*/;\n', LIB, 'quadratic'],
  ['export const all = /^(a+)+$/;\n', LIB, 'exponential'],
  ['export const end = /[;,]\\s*$/;\n', LIB, null],
  // All files of a room are one suite.
  ['beforeEach(() => undefined);\n', SPEC, 'Put hooks into a describe'],
  ['jest.setTimeout(1_000);\n', SPEC, 'to a test or a hook'],
  ['await Promise.resolve();\n', SPEC, 'wait in a hook'],
  ['export {};\nconst loaded = await Promise.resolve();\nvoid loaded;\n', SPEC, 'wait in a hook'],
  ["describe('one', () => {\n  beforeEach(() => undefined);\n});\n", SPEC, null],
];

it.each(ROWS)('what eslint says of %j in %s: %s', async (code, filePath, refusal) => {
  const [{ messages } = { messages: [] }] = await lint.lintText(code, { filePath });
  const errors = messages.filter(({ severity }) => severity === 2).map(({ message }) => message);
  expect(errors).toEqual(refusal === null ? [] : [expect.stringContaining(refusal)]);
});
