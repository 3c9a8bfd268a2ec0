import { DEFAULT_CODE_SETS } from '../../../lib/gateway/result-codes.js';
import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import type { GatewayResult, ResultCodeSets } from '../../../lib/gateway/gateway-dialect.js';
import { type AnswerFacts, type Expectation, type Question, readAnswer } from '../../../lib/gateway/readings/facts.js';
import type { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import { expectCases } from '../../rigs/case-texts.js';
import { Masker } from '../../../lib/payment/kept-text.js';
import { standard } from '../stub-client.js';

// Random answers, and whether a success is one, are in test/fuzz/replies.fuzz.spec.ts.

const STANDARD = standard().operations.doPayment;
const { doPayment: MORPOS, checkPayment: CHECK_PAYMENT } = morposDialect().operations;
/** What is asked about a sale of 60.00 lira. */
const QUESTION: Question = {
  expected: { conversationId: 'ABC1', amount: '60.00', currencyCode: 949, installmentCount: 1 },
  codes: DEFAULT_CODE_SETS,
  verifyAmount: 'notLess',
  isSignGood: null,
  masker: new Masker([]),
};
const DEEP = '[{"x":'.repeat(10_000) + '1' + '}]'.repeat(10_000);

const expecting = (over: Partial<Expectation>): Partial<Question> => ({ expected: { ...QUESTION.expected, ...over } });
const knowing = (over: Partial<ResultCodeSets>): Partial<Question> => ({ codes: { ...DEFAULT_CODE_SETS, ...over } });
const THREE = expecting({ installmentCount: 3 });
const RVV1 = new Set(['RVV1']);

/** The facts of an answer to a charge, which both dialects read alike, or to an inquiry. */
function factsOf(body: unknown, over: Partial<Question> = {}, status = 200): AnswerFacts {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const [facts, others] = (over.about ? [CHECK_PAYMENT!] : [STANDARD, MORPOS]).map(
    (operation) => readAnswer({ sent: true, reply: { status, text } }, operation, { ...QUESTION, ...over }).facts,
  );
  if (others) expect(others).toEqual(facts);
  return facts!;
}

/** What an answer shows that is empty, or is not an object. */
const NOTHING: Partial<AnswerFacts> = {
  ...{ reply: 'read', http: '2xx', code: 'none', id: 'absent', currency: 'fits', amount: 'fits', sign: 'fits' },
  ...{ names: 'neither', type: 'absent', status: 'none', text: 'none' },
};

const shown =
  (over?: Partial<Question>) =>
  (body: string): string => {
    const facts = Object.entries(factsOf(body.replace('DEEP', DEEP), over));
    const more = facts.filter(([name, value]) => NOTHING[name as keyof AnswerFacts] !== value);
    return more.map(([name, value]) => `${name} ${value}`).join(', ') || 'nothing';
  };

const SALE = { about: 'sale', ...knowing({ notFoundCodes: new Set(['B7777']) }) } as const;

test('what answers show', () =>
  expectCases(import.meta.url, 'facts.txt', {
    'A charge of 60.00 lira': shown(),
    'Where amounts must be equal': shown({ verifyAmount: 'exact' }),
    'Where amounts are not compared': shown({ verifyAmount: 'off' }),
    'In three instalments': shown(THREE),
    'In three instalments, where amounts must be equal': shown({ ...THREE, verifyAmount: 'exact' }),
    'In three instalments, where amounts are not compared': shown({ ...THREE, verifyAmount: 'off' }),
    'Of 60.00 Australian dollars': shown(expecting({ currencyCode: 36 })),
    'An inquiry about a sale of 60.00 lira': shown(SALE),
    'Of a host whose text for success is BAŞARILI': shown({
      ...SALE,
      ...knowing({ approvedTexts: new Set(['BAŞARILI']) }),
    }),
    'An inquiry about a page of 60.00 lira': shown({ about: 'page' }),
  }));

test.each<[body: unknown, Partial<AnswerFacts>, Partial<Question>?]>([
  [`\r\n {"code":"B0000","x":${DEEP}}\n`, { code: 'approved' }],
  ...['', ' ', '\0'].map((body): [string, object] => [body, NOTHING]),
  [{ code: '00' }, { code: 'approved' }, knowing({ approvedCodes: new Set(['00']) })],
  [{ code: 'B9912' }, { code: 'declined' }, knowing({ declinedPrefixes: ['B98', 'B99'] })],
  [{ code: 'RVV1' }, { code: 'unheard' }, knowing({ declinedPrefixes: ['B99'] })],
  [
    { responseCode: 'RVV1' },
    { code: 'card' },
    { ...SALE, ...knowing({ inquiryDeclinedCodes: RVV1, declinedPrefixes: [] }) },
  ],
  [{ responseCode: 'B0012' }, { code: 'declined' }, { ...SALE, ...knowing({ inquiryUnpaidCodes: undefined }) }],
  // A code in several sets of a host is the least certain, but for an approval.
  [{ code: 'B9999' }, { code: 'indeterminate' }, knowing({ declinedPrefixes: ['B99'] })],
  [{ code: 'RVV1' }, { code: 'indeterminate' }, knowing({ declinedCodes: RVV1, indeterminateCodes: RVV1 })],
  [{ code: 'RVV1' }, { code: 'variant' }, knowing({ indeterminateCodes: RVV1, approvalVariantCodes: RVV1 })],
  [{ code: 'RVV1' }, { code: 'approved' }, knowing({ approvedCodes: RVV1, approvalVariantCodes: RVV1 })],
  ['{"amount":9007199254740993.01}', { amount: 'other' }, expecting({ amount: '9007199254740993.02' })],
  // Whether the answer to a refund shows the sale's amount is not known.
  ...[60, 149.9, 1].map((amount): [object, object, object] => {
    return [{ amount }, { amount: 'fits', names: 'one' }, expecting({ otherAmounts: ['149.90', '1'] })];
  }),
  [{ code: 'B0000' }, { sign: 'fits' }, { isSignGood: (fields) => fields.text('code') === 'B0000' }],
  [{ code: 'B0000' }, { sign: 'bad' }, { isSignGood: () => false }],
  [{ code: 'B0051' }, { sign: 'fits' }, { isSignGood: () => false }],
])('%j shows %j', (...row) => {
  const [body, facts, over] = row;
  expect(factsOf(body, over)).toMatchObject(facts);
});

const KINDS = { approved: 'B0000', variant: 'B0010', indeterminate: 'B0096', unheard: 'B4711', declined: 'B0012' };

it.each(Object.entries(KINDS))('%s agrees with its own kind, and else counts as the most doubtful', (kind, code) => {
  const doubt = Object.keys(KINDS).slice(2);
  for (const [other, resultCode] of Object.entries(KINDS)) {
    const isApproving = !doubt.includes(kind) || !doubt.includes(other);
    const mixed = isApproving ? 'disagree' : doubt.find((it) => it === kind || it === other);
    const found = factsOf({ ResultCode: resultCode, Code: code }).code;
    expect([other, found]).toEqual([other, kind === other ? kind : mixed]);
  }
});

it.each<[AnswerFacts['http'], number[]]>([
  ['2xx', [200, 201, 202, 204, 206, 299]],
  ['refused', [401, 404, 405, 413, 415, 429]],
  ['invalid', [400, 403]],
  ['undecided', [408, 409, 300, 301, 302, 303, 304, 307, 308, 399, 100, 101, 199, 0]],
  ['client', [402, 406, 407, 410, 411, 412, 414, 418, 422, 423, 424, 425, 426, 428, 431, 451, 499]],
  ['server', [500, 501, 502, 503, 504, 520, 599, 600]],
])('%s: %j', (http, statuses) => {
  for (const status of statuses) {
    for (const body of [{ code: 'B0000' }, '<html>'])
      expect([status, factsOf(body, {}, status).http]).toEqual([status, http]);
  }
});

describe('what a dialect of the host’s gives', () => {
  const giving = (read: () => unknown, over: Partial<Question> = {}) => {
    const operation = { ...STANDARD, read: read as (fields: ReplyFields) => GatewayResult };
    return readAnswer({ sent: true, reply: { status: 200, text: '{"code":"B0000"}' } }, operation, {
      ...QUESTION,
      ...over,
    });
  };

  it.each<[given: object, facts: Partial<AnswerFacts>, Partial<Question>?]>([
    [{ isSuccessful: 'yes', message: {}, transactionType: 7 }, { status: 'other', text: 'other', type: 'other' }, SALE],
    [{ unreadable: ['transactionType', 'transactionStatus'] }, { type: 'other', status: 'unreadable' }, SALE],
    [{}, { code: 'none', id: 'absent', names: 'neither' }],
    [{ code: 51 }, { code: 'unreadable' }],
    [{ code: 'B0000', unreadable: ['code'] }, { code: 'disagree' }],
    [
      { code: 'B0000', unreadable: ['amount'] },
      { code: 'approved', amount: 'other' },
    ],
    [{ unreadable: ['currency', 'conversationId'] }, { currency: 'other', id: 'foreign' }],
    [{ amount: {}, currency: {} }, { amount: 'other', currency: 'other' }, THREE],
  ])('%j: %j', (...row) => {
    const [given, facts, over] = row;
    expect(giving(() => given, over).facts).toMatchObject({ reply: 'read', ...facts });
  });

  const throwing = (): never => {
    throw new Error('a dialect that fails');
  };
  const rejecting = (): never => Promise.reject(new Error('a dialect that fails')) as never;
  const approving = (): object => ({ code: 'B0000' });
  const read = 'read()';
  const result = 'the result of read(), or codes';
  const sign = 'verifySign()';

  it.each<[part: string, read: () => unknown, over?: Partial<Question>]>([
    [read, throwing],
    [read, rejecting],
    [read, () => undefined],
    [read, () => 'text'],
    [result, () => Object.defineProperty({ code: 'B0000' }, 'resultCode', { get: throwing })],
    // It decides nothing, but is kept.
    [result, () => Object.defineProperty({ code: 'B0000' }, 'orderId', { get: throwing })],
    [result, approving, knowing({ approvedCodes: { has: throwing } as never })],
    [sign, approving, { isSignGood: throwing }],
    [sign, approving, { isSignGood: rejecting }],
    [sign, approving, { isSignGood: () => 'yes' as never }],
    [sign, approving, { isSignGood: () => undefined as never }],
  ])('what fails in %s is unreadable, and the log is told (%#)', (...row) => {
    const [part, given, over] = row;
    const failed: string[] = [];
    const answer = giving(given, { ...over, onThrow: (where, error) => failed.push(`${where}: ${String(error)}`) });
    expect(answer).toMatchObject({ facts: { reply: 'unreadable' }, result: null, shown: null });
    expect(failed.map((it) => it.replace('Type', '').slice(0, part.length + 9))).toEqual([`${part}: Error: `]);
  });
});
