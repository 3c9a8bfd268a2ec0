import { resolve } from 'node:path';
import ts from 'typescript';

const FILE = resolve('test/payment/compiled-here.ts');

/** Compiled like a merchant's code. For each: null if it compiles, otherwise part of the error. */
const HANDLERS: readonly (readonly [name: string, error: string | null, member: string])[] = [
  ['the event of its state', null, `@OnPayment('succeeded') on({ payment }: PaymentEvent<'succeeded'>) {}`],
  ['any event', null, `@OnPayment('succeeded', { id: 'x', timeoutMs: 5 }) on(event: PaymentEvent) {}`],
  ['nothing', null, `@OnPayment(['failed', 'expired']) async on() {}`],
  [
    'the events of its states',
    null,
    `@OnPayment(['failed', 'expired']) on(event: PaymentEvent<'failed' | 'expired'>) {}`,
  ],
  [
    'the events of two decorators',
    null,
    `@OnPayment('failed') @OnPayment('expired', { name: 'eu' }) private on(event: PaymentEvent<'failed' | 'expired'>) {}`,
  ],
  ['all states by the list', null, `@OnPayment(EVENT_STATES) on(event: PaymentEvent) {}`],
  [
    'as much of it as it needs',
    null,
    `@OnPayment('failed') on({ payment }: { payment: Pick<Payment, 'reference'> }) {}`,
  ],
  ['a decorator made of several', null, `@applyDecorators(OnPayment('failed')) on(event: PaymentEvent<'failed'>) {}`],
  ['a plain event', null, `@OnEvent('payment.failed') on(event: PaymentEvent<'failed'>) {}`],

  [
    'the event of another state',
    `Type '"payment.succeeded"' is not assignable to type '"payment.failed"'`,
    `@OnPayment('succeeded') on(event: PaymentEvent<'failed'>) {}`,
  ],
  [
    'the event of one state of two',
    `Type '"payment.expired"' is not assignable to type '"payment.failed"'`,
    `@OnPayment(['failed', 'expired']) on(event: PaymentEvent<'failed'>) {}`,
  ],
  [
    'the event of one decorator of two',
    `Type '"payment.expired"' is not assignable to type '"payment.failed"'`,
    `@OnPayment('failed') @OnPayment('expired') on(event: PaymentEvent<'failed'>) {}`,
  ],
  ['the payment', 'is missing the following properties from type', `@OnPayment('failed') on(payment: Payment) {}`],
  ['more than the event', 'too few arguments', `@OnPayment('failed') on(event: PaymentEvent, more: string) {}`],
  ['a state without events', `'"charging"' is not assignable`, `@OnPayment('charging') on() {}`],
];

const READINGS: readonly (readonly [name: string, error: string | null, code: string])[] = [
  ['by its type', null, `if (event.type === 'payment.failed') failed = event.payment.state;`],
  [
    'by its type, taken apart',
    null,
    `const { type, payment } = event; if (type === 'payment.failed') failed = payment.state;`,
  ],
  ["by its payment's state", null, `if (event.payment.state === 'failed') failed = event.payment.state;`],
  [
    'by instanceof',
    null,
    `if (some instanceof PaymentEvent && some.type === 'payment.failed') failed = some.payment.state;`,
  ],
  ['as a payment', null, `const payment: Payment = event.payment;`],
  ['for a test', null, `failed = aPaymentEvent({ state: 'failed', reference: 'o' }).payment.state;`],
  ['for a test, succeeded', null, `const state: 'succeeded' = aPaymentEvent({ reference: 'o' }).payment.state;`],
  ['as a payment for a test', null, `const payment: PaymentIn<'failed'> = aPayment({ state: 'failed' });`],
  ['without looking', `is not assignable to type '"failed"'`, `failed = event.payment.state;`],
  ['for a test of another', `is not assignable to type`, `const other: PaymentEvent<'failed'> = aPaymentEvent();`],
  ['misspelt', 'no overlap', `if (event.type === 'payment.faild') return;`],
];

describe('the types of events', () => {
  const wholes = [
    ...HANDLERS.map(([, , member], index) => `export class Handler${index} { ${member} }`),
    ...READINGS.map(
      ([, , code], index) =>
        `export function read${index}(event: PaymentEvent, some: unknown, failed: 'failed') { ${code} }`,
    ),
  ];
  let errors: readonly string[];
  let emitted: string;

  beforeAll(() => {
    ({ errors, emitted } = compile(
      `import { applyDecorators } from '@nestjs/common'; import { OnEvent } from '@nestjs/event-emitter'; ` +
        `import { EVENT_STATES, OnPayment, Payment, PaymentEvent, type PaymentIn } from 'nestjs-card-payment'; ` +
        `import { aPayment, aPaymentEvent } from 'nestjs-card-payment/testing';`,
      wholes,
    ));
  });

  it.each(HANDLERS.map(([name, error], index) => [name, error, index] as const))(
    'a handler that takes %s',
    (_name, error, index) => expectError(index, error),
  );

  it.each(READINGS.map(([name, error], index) => [name, error, index] as const))('read %s', (_name, error, index) =>
    expectError(HANDLERS.length + index, error),
  );

  it('a handler that takes one state of two is refused without strictFunctionTypes, too', () => {
    const members = [
      `class A { @OnPayment(['failed', 'expired']) on(event: PaymentEvent<'failed'>) {} }`,
      `class B { @OnPayment(['failed', 'expired']) on(event: PaymentEvent) {} }`,
    ];
    const found = compile(`import { OnPayment, PaymentEvent } from 'nestjs-card-payment';`, members, {
      strictFunctionTypes: false,
    });
    expect(found.errors).toEqual([expect.stringContaining('the handler must take'), '']);
  });

  it('are a class at run time, as the type of a decorated parameter', () => {
    expect(emitted).toContain('"design:paramtypes", [PaymentEvent]');
  });

  function expectError(index: number, error: string | null): void {
    if (error === null) expect(errors[index]).toBe('');
    else expect(errors[index]).toContain(error);
  }
});

/** The errors of each line, and the compiled code, with the options of this project. */
function compile(
  imports: string,
  lines: readonly string[],
  changed: ts.CompilerOptions = {},
): { errors: string[]; emitted: string } {
  const text = [imports, ...lines].join('\n');
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, process.cwd());
  const host = ts.createCompilerHost({ ...options, noEmit: false });
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => resolve(path) === FILE || fileExists.call(host, path);
  host.getSourceFile = (path, ...how) =>
    resolve(path) === FILE
      ? ts.createSourceFile(path, text, ...(how.slice(0, 1) as [ts.ScriptTarget]))
      : getSourceFile.call(host, path, ...how);
  const found = { ...options, ...changed, noEmit: false, noUnusedLocals: false, noUnusedParameters: false };
  const program = ts.createProgram([FILE], found, host);
  const source = program.getSourceFile(FILE);
  if (!source) throw new Error(`TypeScript did not read ${FILE}`);
  const errors = lines.map(() => '');
  for (const { start, messageText } of [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ]) {
    const line = source.getLineAndCharacterOfPosition(start ?? 0).line - 1;
    if (line < 0) throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
    errors[line] += ts.flattenDiagnosticMessageText(messageText, '\n');
  }
  let emitted = '';
  program.emit(source, (_path, code) => (emitted += code));
  return { errors, emitted };
}
