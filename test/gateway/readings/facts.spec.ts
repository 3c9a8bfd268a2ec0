import { DEFAULT_CODE_SETS } from '../../../lib/gateway/result-codes.js';
import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import type { GatewayResult, ResultCodeSets } from '../../../lib/gateway/gateway-dialect.js';
import { type AnswerFacts, type Expectation, type Question, readAnswer } from '../../../lib/gateway/readings/facts.js';
import type { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import { Masker } from '../../../lib/payment/kept-text.js';
import { CARD_DECLINES, PUBLIC_CODES } from '../public-codes.js';
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
const INQUIRY = { about: 'sale', ...knowing({ notFoundCodes: new Set(['B7777']) }) } as const;
const SUCCESSFUL: Partial<Question> = { about: 'sale', ...knowing({ approvedTexts: new Set(['BAŞARILI']) }) };
const PAGE: Partial<Question> = { about: 'page' };
const THREE = expecting({ installmentCount: 3 });
const IN_36 = expecting({ currencyCode: 36 });
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

/** An answer for each value of the field. */
const each = (field: string, ...values: unknown[]): object[] => values.map((value) => ({ [field]: value }));

type Row = readonly [facts: Partial<AnswerFacts>, shown: readonly unknown[], over?: Partial<Question>];

const CHARGES: readonly Row[] = [
  [{ code: 'unheard' }, each('code', 'b0000', ' B0000', 'B0000 ', 'B00000', '00', 'B0000\0', 'Ｂ0000', 'Approved')],
  [{ code: 'unheard' }, each('code', 0, 51, '51', 'rvv1', 'XRVV1', 'B0RVV', 'constructor', '__proto__', 'B4711')],
  [{ code: 'approved' }, [{ CODE: 'B0000' }, '{"code":"B0000","Code":"B0000"}', `\r\n {"code":"B0000","x":${DEEP}}\n`]],
  [{ code: 'approved' }, [{ code: '00' }], knowing({ approvedCodes: new Set(['00']) })],
  [{ code: 'declined' }, each('code', 'RVV0000999999', 'RVV')],
  [{ code: 'declined' }, [{ code: 'B9912' }], knowing({ declinedPrefixes: ['B99'] })],
  [{ code: 'unheard' }, [{ code: 'RVV1' }], knowing({ declinedPrefixes: ['B99'] })],
  // A code in several sets of a host is the least certain, but for an approval.
  [{ code: 'indeterminate' }, [{ code: 'B9999' }], knowing({ declinedPrefixes: ['B99'] })],
  [{ code: 'indeterminate' }, [{ code: 'RVV1' }], knowing({ declinedCodes: RVV1, indeterminateCodes: RVV1 })],
  [{ code: 'variant' }, [{ code: 'RVV1' }], knowing({ indeterminateCodes: RVV1, approvalVariantCodes: RVV1 })],
  [{ code: 'approved' }, [{ code: 'RVV1' }], knowing({ approvedCodes: RVV1, approvalVariantCodes: RVV1 })],
  [{ code: 'none' }, [{}, { code: null }, { code: '' }, { message: 'Approved' }, { data: { code: 'B0000' } }]],
  [{ code: 'none' }, ['{"__proto__":{"code":"B0000"}}', '{"constructor":{"prototype":{"code":"B0000"}}}']],
  [{ code: 'none' }, ['', ' ', 'null', '[]', '[{"code":"B0000"}]', '"B0000"', 'B0000', 'true', '42', '\0', DEEP]],
  [{ code: 'none' }, ['<html>Approved B0000</html>', '{"code":"B0000"', '{"code":"B0000"}}']],
  [{ code: 'unreadable' }, each('code', true, false, [], ['B0000'], {}, { code: 'B0000' })],
  [{ code: 'unreadable' }, ['{"code":"B0000","Code":"B0051"}', `{"code":${DEEP}}`]],
  [{ code: 'unreadable' }, ['{"code":"B0000","code":"B0051"}', '{"code":"B0051","code":"B0000"}']],
  [{ code: 'unreadable' }, [...each('resultCode', 'B0000', 'B0010', 'B0096', true), { code: 'B0051', resultCode: [] }]],
  [{ code: 'none' }, each('resultCode', 'B0051', 'X')],
  [{ code: 'disagree' }, each('resultCode', true, [], ['B0000'], {}, 0).map((it) => ({ ...it, code: 'B0000' }))],
  [{ code: 'disagree' }, ['{"code":"B0000","resultCode":"B0000","ResultCode":"B0051"}']],
  [{ code: 'disagree' }, ['{"code":"B0000","resultCode":"B0051","ResultCode":null}']],

  [{ id: 'absent' }, [{}, ...each('conversationId', null, '')]],
  [{ id: 'ours' }, [{ ConversationID: 'ABC1' }]],
  [{ id: 'foreign' }, each('conversationId', 'ABC2', 'abc1', ' ABC1', true, ['ABC1'], { id: 'ABC1' }, 0)],
  [{ id: 'foreign' }, ['"ABC1"', 'null'].map((other) => `{"conversationId":"ABC2","ConversationId":${other}}`)],

  [{ currency: 'fits' }, [{}, ...each('currency', null, '', '949', 949), { Currency: 949 }, { currencyCode: 949 }]],
  [{ currency: 'other' }, each('currency', '840', 840, 'TRY', 'TL', '0949', '949.0', 9490, true, {}, ['949'])],
  [{ currency: 'other' }, each('currencyCode', '840', ['949']).flatMap((it) => [it, { ...it, currency: 949 }])],
  [{ currency: 'other' }, [{ paymentInfo: { currency: 840 } }, { currency: 949, paymentInfo: { CurrencyCode: 840 } }]],
  [{ currency: 'fits' }, [...each('currency', '036', '36', 36), { currency: '036', currencyCode: 36 }], IN_36],
  [{ currency: 'other' }, each('currency', '0036', '6', '360', '36.0', '949'), IN_36],

  [{ amount: 'fits' }, [{}, ...each('amount', null, '')], { verifyAmount: 'exact' }],
  [{ amount: 'fits', names: 'one' }, [{ Amount: '60.00' }, { amount: 60, paymentInfo: { Amount: '60.0' } }]],
  [{ amount: 'fits', names: 'one' }, each('amount', 60, '60.0', '60.0000', '060.00'), { verifyAmount: 'exact' }],
  [{ amount: 'other' }, [{ amount: [60] }, { amount: 60, paymentInfo: { amount: 1 } }, '{"amount":60,"Amount":1}']],
  [{ amount: 'other' }, each('paymentInfo', [], [{ amount: 60 }], '60', true)],
  [{ amount: 'other' }, ['{"paymentInfo":{"amount":60},"PaymentInfo":{"amount":1}}', { amount: 60, paymentInfo: [] }]],
  [{ amount: 'fits' }, [...each('paymentInfo', [], true), { amount: 1 }, { amount: 'x' }], { verifyAmount: 'off' }],
  // With instalments, more may be charged, and then names the payment, too.
  [{ amount: 'other', names: 'neither' }, each('amount', '60.01', '60.000000000000000001', '6000')],
  [{ amount: 'fits', names: 'one' }, each('amount', '60.01', '60.000000000000000001', '6000'), THREE],
  [{ amount: 'other' }, [{ amount: '60.01' }], { ...THREE, verifyAmount: 'exact' }],
  [{ amount: 'other', names: 'neither' }, each('amount', '59.99', '59.999999999999999999', '0', '6e1', '-60'), THREE],
  [{ amount: 'other' }, each('amount', '60,00', '61.50 TL', ' 60.00', 'sixty'), THREE],
  [{ amount: 'other' }, ['{"amount":9007199254740993.01}'], expecting({ amount: '9007199254740993.02' })],
  // Whether the answer to a refund shows the sale's amount is not known.
  [{ amount: 'fits', names: 'one' }, each('amount', 60, 149.9, 1), expecting({ otherAmounts: ['149.90', '1'] })],

  [{ names: 'neither' }, [{}, { currency: 949 }, { amount: 1 }, { conversationId: 'ABC2' }]],
  [{ names: 'one' }, [{ conversationId: 'ABC1' }, { conversationId: 'ABC2', amount: 60 }]],
  [{ names: 'both' }, [{ conversationId: 'ABC1', amount: 60 }]],
  // What the merchant does not compare names the payment only where it is exactly ours.
  [{ names: 'neither' }, each('amount', 61.5, 1), { ...THREE, verifyAmount: 'off' }],
  [{ names: 'one' }, [{ amount: 60 }], { verifyAmount: 'off' }],
  [{ names: 'both' }, [{ conversationId: 'ABC1' }], { verifyAmount: 'off' }],

  [{ sign: 'fits' }, [{ code: 'B0000' }], { isSignGood: (fields) => fields.text('code') === 'B0000' }],
  [{ sign: 'bad' }, [{ code: 'B0000' }], { isSignGood: () => false }],
  [{ sign: 'fits' }, [{ code: 'B0051' }], { isSignGood: () => false }],
];

const UNPAID =
  'PENDING WAITING NEW CREATED INITIATED FAILED FAIL DECLINED REJECTED CANCELLED CANCELED EXPIRED NOT_FOUND';

const INQUIRIES: readonly Row[] = [
  [{ code: 'unheard' }, each('responseCode', 'E5000', 'W0001', 'b0000', 0)],
  [{ code: 'not_found' }, [{ responseCode: 'B7777' }]],
  [{ code: 'disagree' }, each('code', 'B0051', 'B0010', 'X').map((it) => ({ ...it, responseCode: 'B0000' }))],
  [{ code: 'indeterminate' }, [{ responseCode: 'B0000', resultCode: 'B0096' }]],
  [
    { code: 'unreadable' },
    [{ code: 'B0000' }, ...each('code', true, {}).map((it) => ({ ...it, responseCode: 'B0000' }))],
  ],
  [{ code: 'card' }, [{ responseCode: 'B0051', code: 'B0005' }]],
  [{ code: 'declined' }, [{ responseCode: 'B0051', code: 'RVV1' }]],
  [{ code: 'unheard' }, [{ responseCode: 'B0051', code: 'X' }]],
  [{ code: 'unpaid' }, [{ responseCode: 'B0051', code: 'B7777' }]],

  [{ type: 'absent', status: 'none', text: 'none' }, [{}, { transactionType: null, transactionStatus: null }]],
  [{ type: 'sale' }, each('transactionType', 'SALE', 'sale')],
  [{ type: 'refund' }, each('transactionType', 'REFUND', 'Void')],
  [{ type: 'other' }, each('transactionType', ['SALE'], false, 'PREAUTH')],
  [
    { status: 'success' },
    each('TransactionStatus', ' Success ', ...'SUCCESSFUL SUCCEEDED APPROVED COMPLETED PAID'.split(' ')),
  ],
  [{ status: 'unpaid' }, each('transactionStatus', ...UNPAID.split(' '))],
  [{ status: 'unreadable' }, each('transactionStatus', 'VOIDED', 'CAPTURED', 'BAŞARILI', ['SUCCESS'], true)],
  [{ status: 'unreadable' }, ['{"transactionStatus":"SUCCESS","TransactionStatus":"FAILED"}']],
  [{ text: 'approved' }, each('responseDescription', 'Approved', ' APPROVED ', 'Onaylandı', 'ONAYLANDI', 'onaylandi')],
  [{ text: 'approved' }, each('message', 'ONAYLANDİ', 'OnaylandÄ±', 'ONAYLANDÄ±', 'Onaylandý')],
  [
    { text: 'other' },
    each('message', 'Awaiting 3D verification', 'Onaylanmadı', 'Disapproved', 'Approved for review', 'OK'),
  ],
  [{ text: 'other' }, [{ responseDescription: 'Declined', message: 'Approved' }]],
  [{ text: 'none' }, ['{"responseDescription":"Approved","ResponseDescription":"No","message":"Approved"}']],
  [{ text: 'approved' }, each('message', 'Başarılı', 'başarili', 'BAÅ\u009eARILI'), SUCCESSFUL],
  [{ text: 'other' }, [{ message: 'Approved' }], SUCCESSFUL],

  // The buyer at a page may have chosen instalments.
  [{ amount: 'fits', names: 'one' }, [{ amount: 63, paymentInfo: { amount: 63, installmentCount: 3 } }], PAGE],
  [
    { amount: 'other' },
    each('installmentCount', 1, 0, '3.0', '-3', 1000, ['3']).map((it) => ({ ...it, amount: 63 })),
    PAGE,
  ],
  [{ amount: 'other' }, [{ amount: 63, installmentCount: 3 }]],
];

const ALL = [...CHARGES, ...INQUIRIES.map(([facts, shown, over = INQUIRY]): Row => [facts, shown, over])];

it.each(ALL.map(([facts, shown, over]) => ({ facts, shown, over })))('$facts', ({ facts, shown, over }) => {
  for (const body of shown) expect([body, factsOf(body, over)]).toMatchObject([body, { reply: 'read', ...facts }]);
});

test('every code of the public list is of its kind, in a charge and in an inquiry', () => {
  for (const [code = '', , , listed] of PUBLIC_CODES) {
    const kind = CARD_DECLINES.includes(code) ? 'card' : listed;
    const unpaid = ['B0017', 'B0025', 'B0029'].includes(code) ? 'unpaid' : kind;
    expect([code, factsOf({ code }).code]).toEqual([code, kind]);
    expect([code, factsOf({ responseCode: code }, INQUIRY).code]).toEqual([code, unpaid]);
  }
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
    [{ isSuccessful: 'yes', message: {} }, { status: 'other', text: 'other' }, INQUIRY],
    [{ unreadable: ['transactionType', 'transactionStatus'] }, { type: 'other', status: 'unreadable' }, INQUIRY],
    [{}, { code: 'none', id: 'absent', names: 'neither' }],
    [{ code: 0, resultCode: null }, { code: 'none' }],
    [{ code: 51 }, { code: 'unreadable' }],
    [{ code: 'B0000', unreadable: ['code'] }, { code: 'disagree' }],
    [{ code: 'B0000', unreadable: ['resultCode'] }, { code: 'disagree' }],
    [
      { code: 'B0000', unreadable: ['amount'] },
      { code: 'approved', amount: 'other' },
    ],
    [{ unreadable: ['currency', 'conversationId'] }, { currency: 'other', id: 'foreign' }],
    [
      { amount: {}, currency: {} },
      { amount: 'other', currency: 'other' },
    ],
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
    ...[undefined, null, 0, '', false, 'text', Symbol('text'), () => ({})].map((given): [string, () => unknown] => {
      return [read, () => given];
    }),
    [read, () => Object.defineProperty({}, 'then', { get: throwing })],
    [result, () => Object.defineProperty({ code: 'B0000' }, 'resultCode', { get: throwing })],
    // It decides nothing, but is kept.
    [result, () => Object.defineProperty({ code: 'B0000' }, 'orderId', { get: throwing })],
    [result, approving, { codes: undefined }],
    [result, approving, knowing({ approvedCodes: { has: throwing } as never })],
    [sign, approving, { isSignGood: throwing }],
    [sign, approving, { isSignGood: rejecting }],
    ...[1, 'yes', undefined, null, {}].map((given): [string, () => unknown, Partial<Question>] => {
      return [sign, approving, { isSignGood: () => given as never }];
    }),
  ])('what fails in %s is unreadable, and the log is told (%#)', (...row) => {
    const [part, given, over] = row;
    const failed: string[] = [];
    const answer = giving(given, { ...over, onThrow: (where, error) => failed.push(`${where}: ${String(error)}`) });
    expect(answer).toMatchObject({ facts: { reply: 'unreadable' }, result: null, shown: null });
    expect(failed.map((it) => it.replace('Type', '').slice(0, part.length + 9))).toEqual([`${part}: Error: `]);
  });
});
