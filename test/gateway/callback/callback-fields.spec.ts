import fc from 'fast-check';
import { type Callback, checkCallback, readCallback } from '../../../lib/gateway/callback/callback-fields.js';
import { PaymentCallbackError } from '../../../lib/errors/payment-errors.js';
import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

const NAMES = ['InstrumentDetail'];
const PAYMENT = aPaymentRecord({ state: 'awaiting' });
const ID = PAYMENT.conversationId;
const MORPOS = morposDialect();

const read = (received: unknown, objectFields = NAMES): Callback => readCallback(received, objectFields);

/** Why it is refused; `none` if it is not. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof PaymentCallbackError) return error.refusal;
    throw error;
  }
  return 'none';
}

/** So many fields. */
const many = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]));
const deep = (open: string, close: string): unknown => JSON.parse(`${open.repeat(10_000)}1${close.repeat(10_000)}`);
const big = (count: number): string => 'x'.repeat(count);
const inDetail = (...values: unknown[]): object[] => values.map((InstrumentDetail) => ({ InstrumentDetail }));

const DETAIL = { CardType: 'CARD', Bank: 'X' };
const [DOTTED, BRACKETED] = ['InstrumentDetail.', 'InstrumentDetail['];

test.each<[refusal: string, received: readonly unknown[]]>([
  ['not_a_callback', [null, undefined, '', 'Code=B0000', 7, true, [], [{ Code: 'B0000' }], Symbol('x'), () => ({})]],
  ['repeated_field', [{ Code: ['B0000', 'B0000'] }, { Code: [] }, { Code: 'B0000', code: 'B0000' }]],
  ['repeated_field', [{ InstrumentDetail: { a: '1' }, instrumentDetail: { b: '1' } }]],
  ['repeated_field', [{ InstrumentDetail: { a: '1' }, [`${DOTTED}A`]: '1' }]],
  ['repeated_field', inDetail({ a: '1', A: '1' }, { a: ['1'] }, ['1'], deep('[', ']'))],
  ['repeated_field', [{ [`${DOTTED}a`]: '1', [`${BRACKETED}a]`]: '1' }]],
  ['repeated_field', [{ [`${DOTTED}a`]: '1', instrumentdetail: 'text' }]],
  ['repeated_field', inDetail({ a: '1' }, '{"a":1}', 'text').map((it) => ({ ...it, [`${DOTTED}A`]: '2' }))],
  ['repeated_field', inDetail('{"a":1,"A":2}', '{"a":[1]}', `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`)],
  ['nested_field', [{ a: '1' }, new Date(), 1n, () => 1, undefined].map((Code) => ({ Code }))],
  ['nested_field', [{ constructor: 'x' }, { prototype: 'x' }, deep('{"a":', '}')]],
  ['nested_field', inDetail({ a: { b: '1' } }, { constructor: 'x' }, deep('{"a":', '}'), '{"a":{"b":1}}')],
  ['nested_field', ['"x"', '{"Code":"B0000"}'].map((it) => JSON.parse(`{"__proto__":${it}}`) as unknown)],
  ['nested_field', [JSON.parse('{"InstrumentDetail":{"__proto__":"x"}}'), { [`${BRACKETED}__proto__]`]: '1' }]],
  ['nested_field', inDetail('{"__proto__":1}')],
  // 64 fields, those of the detail counted, and 64 KiB in names and values.
  ['none', [many(64), { ...many(60), InstrumentDetail: many(4) }, ...inDetail(JSON.stringify(many(63)))]],
  ['too_large', [many(65), many(10_000), { ...many(60), InstrumentDetail: many(5) }]],
  ['too_large', inDetail(JSON.stringify(many(64)), JSON.stringify(many(7_000)))],
  ['none', [{ a: big(65_535) }, { [big(65_536)]: '' }]],
  ['too_large', [{ a: big(65_536) }, { [big(65_537)]: '' }, { a: big(40_000), InstrumentDetail: { b: big(40_000) } }]],
])('reading: %s', (expected, received) => {
  for (const one of received) expect([one, refusal(() => read(one))]).toEqual([one, expected]);
  expect(({} as { Code?: string }).Code).toBeUndefined();
});

test('what is read stays as received, names and values', () => {
  const text = ' Onaylandı \u0000\r\nSet-Cookie: a=b ';
  const odd = { message: text, n: 1.5, yes: true, nothing: null, 'odd name[]=&': '' };
  for (const received of [
    { Code: 'B0000', ...odd, InstrumentDetail: { CardType: 'CARD', n: 1 }, 'InstrumentDetail2.X': 'y' },
    { [`${DOTTED}CardType`]: 'CARD', [`${DOTTED}Bank`]: 'X' },
    { [`${BRACKETED}CardType]`]: 'CARD', 'instrumentdetail[Bank]': 'X' },
    { InstrumentDetail: '{"CardType":"CARD"}' },
    // As a query is.
    Object.assign(Object.create(null) as object, { Code: 'B0000' }),
  ]) {
    expect(read(received).fields).toEqual({ ...received });
    expect(Object.keys(read(received).fields)).toEqual(Object.keys(received));
  }
});

test.each<[object, gathered: object]>([
  ...[
    { InstrumentDetail: DETAIL },
    { [`${DOTTED}CardType`]: 'CARD', [`${DOTTED}Bank`]: 'X' },
    { [`${DOTTED}CardType`]: 'CARD', [`${BRACKETED}Bank]`]: 'X' },
    { InstrumentDetail: ` ${JSON.stringify(DETAIL)}` },
    { InstrumentDetail: '{"CardType":"CARD"}', [`${DOTTED}Bank`]: 'X' },
    { InstrumentDetail: '', [`${DOTTED}CardType`]: 'CARD', [`${DOTTED}Bank`]: 'X' },
    { [`${DOTTED}CardType`]: 'CARD', instrumentdetail: null, [`${DOTTED}Bank`]: 'X' },
  ].map((written): [object, object] => [
    { ...written, n: 1 },
    { InstrumentDetail: DETAIL, n: 1 },
  ]),
  // Its name stays as it came.
  [{ 'instrumentDetail.x': '1' }, { instrumentDetail: { x: '1' } }],
  ...inDetail('', 'text', '{', '{x', '[1]', '"x"', null, 7, false, '[object Object]').map((it): [object, object] => {
    return [it, it];
  }),
  ...['a.b', '', 'a]'].map((it): [object, object] => [{ [DOTTED + it]: '1' }, { [DOTTED + it]: '1' }]),
  ...['a][b]', ']'].map((it): [object, object] => [{ [BRACKETED + it]: '1' }, { [BRACKETED + it]: '1' }]),
])('%j is gathered as %j', (fields, expected) => {
  expect(read(fields).gathered).toEqual(expected);
});

const BOTH = ['Code', 'MdStatus'];
const OWN = MORPOS.requiredCallbackFields;
/** As the hosted page names them. */
const HOSTED = { ResultCode: 'B0000', BankUniqueReferenceNumber: '', Amount: '149.90' };

test.each<[refusal: string, fields: readonly object[], required: readonly string[]]>([
  ['missing_field', [{}], []],
  [
    'none',
    [
      { CODE: 'B0000', mdStatus: 'UGF5==' },
      { Code: 0, MdStatus: false },
    ],
    BOTH,
  ],
  ['missing_field', ['', null].map((CODE) => ({ CODE, mdStatus: 'UGF5==' })), BOTH],
  ['missing_field', [{ Code: 'B0000' }, { Code: 'B0000', xMdStatus: '' }], BOTH],
  ['none', [{ [`${DOTTED}a`]: '1' }], NAMES],
  ['missing_field', inDetail({}, '{}', ''), NAMES],
  ['none', [{ conversationId: ID }, { ...HOSTED, ConversationId: ID }], OWN],
  ['none', [{ conversationId: ID, InstrumentDetail: '[object Object]' }], OWN],
  ['missing_field', ['', null].map((conversationId) => ({ Code: 'B0000', conversationId })), OWN],
  ['missing_field', [{ Code: 'R0099', Message: 'failed' }], OWN],
  ['foreign_payment', [{ ...HOSTED, ConversationId: 'ANOTHER' }], OWN],
  ...['conversationId', 'ConversationID'].flatMap((name): [string, object[], string[]][] => [
    ['none', [ID, '', null].map((it) => ({ [name]: it })), []],
    ['foreign_payment', [`${ID} `, ID.toLowerCase(), `${ID}2`, 7, true].map((it) => ({ [name]: it })), []],
  ]),
])('checking: %s', (expected, received, requiredCallbackFields) => {
  for (const one of received) {
    const found = refusal(() => checkCallback(read(one), PAYMENT, { ...MORPOS, requiredCallbackFields }));
    expect([one, found]).toEqual([one, expected]);
  }
});

test('an id that came as a number is compared by its digits', () => {
  expect(refusal(() => checkCallback(read({ conversationId: 7 }), { conversationId: '7' }, MORPOS))).toBe('none');
});

const ODD_NAMES =
  'Code code InstrumentDetail instrumentdetail InstrumentDetail.X InstrumentDetail[X] InstrumentDetail.a.b ' +
  'InstrumentDetail[__proto__] __proto__ constructor toString';

test('it is read or refused, whatever it is, and what is read is flat and not more than came', () => {
  const name = fc.oneof(fc.string(), fc.constantFrom(...ODD_NAMES.split(' ')));
  const json = fc.constantFrom('{"X":1}', '{"__proto__":{"a":1}}', '{', '{"a":[1]}', '{"X":1,"x":2}');
  const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });
  const fields = fc.dictionary(name, fc.oneof(fc.string({ unit: 'binary' }), json, anything), {
    noNullPrototype: false,
  });
  const received = fc.oneof({ weight: 4, arbitrary: fields }, { weight: 1, arbitrary: fc.anything() });
  const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
  const tryOne = (received: unknown): void => {
    let callback: Callback | null = null;
    if (refusal(() => (callback = read(received))) !== 'none') return;
    for (const [name, value] of Object.entries(callback!.fields)) {
      if (!isObject(value)) expect(value).toBe((received as Record<string, unknown>)[name]);
      else expect([name.toLowerCase(), Object.values(value).some(isObject)]).toEqual(['instrumentdetail', false]);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
  };
  fc.assert(fc.property(received, tryOne), { numRuns: 500 });
});
