import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import { type BinOutcome, unknownCard } from '../../../lib/gateway/readings/card-answer.js';
import { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import { sampleSale } from '../sample-sale.js';
import { replied, stubClient } from '../stub-client.js';
import { cpuMs } from '../../rigs/cpu-time.js';

const BIN = '45080345';
const QUESTION = { conversationId: sampleSale().conversationId, language: 'tr', bin: BIN };
const NO_SALE = { amount: null, currencyCode: null };
const SALE = { amount: '100.00', currencyCode: 949 };
const APPROVED = { responseCode: 'B0000', responseDescription: 'Approved' };
const NOTHING = { bank: null, type: null, brand: null, commercial: null, installments: null };
const CARD = { bankName: 'Örnek Bankası', cardType: 'CREDIT', cardBrand: 'VISA', isCommercial: false };

/** What a shop is told of an answer, and whether it counts as one. */
async function told(
  answer: unknown,
  {
    status = 200,
    ...asked
  }: { status?: number; bin?: string; amount?: string | null; currencyCode?: number | null } = {},
): Promise<[BinOutcome, isAnswered: boolean]> {
  const { client } = stubClient(replied(answer, status), morposDialect());
  const answered = await client.checkBin({ ...QUESTION, ...NO_SALE, ...asked }, 2_000, 'fixed');
  if (!answered?.sent) throw new Error('not sent');
  return [answered.outcome, answered.isAnswered];
}

test.each<[given: object, card: Partial<BinOutcome>]>([
  [CARD, { bank: 'Örnek Bankası', type: 'credit', brand: 'VISA', commercial: false }],
  [
    { BANKNAME: 'A', cardtype: 'Debit' },
    { bank: 'A', type: 'debit' },
  ],
  [
    { CardType: 'prepaid', IsCommercial: true },
    { type: 'prepaid', commercial: true },
  ],
  // One name a field, beside the code.
  [{ bank: 'A', type: 'credit', brand: 'VISA', commercial: true, installments: [], data: CARD }, {}],
  [{ cardType: 'CHARGE', isCommercial: 'x', bankName: ['A'], cardBrand: 7 }, { brand: '*' }],
  [{ bankName: '4508034508034509', cardType: { name: 'credit' } }, {}],
  [{ bankName: `Bank ${BIN}`, bin: BIN }, { bank: 'Bank ********' }],
  [{ bin: BIN.slice(0, 6), bankName: 'A' }, { bank: 'A' }],
  [{ bin: `${BIN}0`, bankName: 'A' }, { bank: 'A' }],
  [{ bin: '450', bankName: 'A' }, { bank: 'A' }],
  [{ bankName: 'A'.repeat(81) }, { bank: 'A'.repeat(80) }],
])('%j tells %j', async (given, card) => {
  const expected = { ...NOTHING, ...card, code: 'B0000', message: 'Approved' };
  expect(await told({ ...APPROVED, ...given })).toEqual([expected, true]);
});

test('a card is told with 00, or without any code; a code with the digits that were asked about is none', async () => {
  for (const code of [{ code: '00' }, {}]) {
    expect(await told({ ...code, bankName: 'A' })).toMatchObject([{ bank: 'A' }, true]);
  }
  const bin = BIN.slice(0, 6);
  expect(await told({ responseCode: `X${bin}`, bankName: 'A' }, { bin })).toEqual([unknownCard('refused'), false]);
});

test.each<[answer: unknown, status: number, outcome: Partial<BinOutcome>, isAnswered: boolean]>([
  [{ responseCode: 'B0014', responseDescription: 'No', ...CARD }, 200, { code: 'B0014', message: 'No' }, true],
  [{ ...APPROVED, code: 'B0051', ...CARD }, 200, { code: 'B0000' }, true],
  [{ Message: 'Unauthorized', Code: 'RVV0000000401' }, 401, { code: 'RVV0000000401', message: 'Unauthorized' }, true],
  [{ ...APPROVED, responseCode: `X${BIN}`, ...CARD }, 200, unknownCard('refused'), false],
  [{ code: ['B0000'], ...CARD }, 200, unknownCard('refused'), false],
  [{ ...APPROVED, ...CARD }, 500, { code: 'B0000' }, false],
  [{}, 404, unknownCard('refused'), false],
  ['<h1>500</h1>', 500, unknownCard('server_error'), false],
  ['', 302, unknownCard('refused'), false],
  ...['<h1>Maintenance</h1>', '{}', '[]', 'null', '{"__proto__":{"bankName":"A"}}'].map(
    (answer): [string, number, BinOutcome, boolean] => [answer, 200, unknownCard('unreadable'), false],
  ),
  [{ ...APPROVED, conversationId: 'X', ...CARD }, 200, unknownCard('conversation_mismatch'), false],
  ...['524677', '4509', '5246776356903508'].map((bin): [unknown, number, BinOutcome, boolean] => {
    return [{ ...APPROVED, bin, ...CARD }, 200, unknownCard('conversation_mismatch'), false];
  }),
])('%j with %d tells nothing: %j', async (answer, status, outcome, isAnswered) => {
  expect(await told(answer, { status })).toMatchObject([{ ...NOTHING, ...outcome }, isAnswered]);
});

test.each<[list: unknown, installments: unknown, sale?: typeof SALE]>([
  [[{ installmentId: 9, installmentCount: 3, installmentTotalAmount: 1250.5 }], [[3, '1250.5']]],
  [[{ InstallmentCount: '3', InstallmentTotalAmount: '1250.50' }], [[3, '1250.50']]],
  [[], []],
  [null, null],
  ['3', null],
  [[1, '2', null, { id: 1 }], null],
  [
    [{ installmentCount: 6 }, { installmentCount: 2 }, { installmentCount: 12 }],
    [
      [2, null],
      [6, null],
      [12, null],
    ],
  ],
  ...[0, -3, 2.5, 37, 'three', '３', ' 3', '003'].map((count): [unknown, unknown] => {
    return [[{ installmentCount: 2, installmentTotalAmount: 100 }, { installmentCount: count }], [[2, '100']]];
  }),
  ...[0, '0.00', -100, '1,250', '1.250.000', '1e3', 'free', ['100'], 1e12].map((total): [unknown, unknown] => {
    return [[{ installmentCount: 3, installmentTotalAmount: total }], [[3, null]]];
  }),
  [[100, 100, 101].map((total) => ({ installmentCount: 3, installmentTotalAmount: total })), [[3, null]]],
  [[100, 100].map((total) => ({ installmentCount: 3, installmentTotalAmount: total })), [[3, '100']]],
  [[{ installmentCount: 3, installmentTotalAmount: 102.5 }], [[3, '102.50']], SALE],
  [[{ installmentCount: 3, installmentTotalAmount: '105.125' }], [[3, null]], SALE],
])('instalments %j: %j', async (...row) => {
  const [list, expected, sale] = row;
  const [{ installments: found }] = await told({ ...APPROVED, installmentList: list }, sale);
  expect(found?.map(({ count, total }) => [count, total]) ?? null).toEqual(expected);
});

const ROWS = Array.from({ length: 5_000 }, () => ({ installmentCount: 3, installmentTotalAmount: 100 }));

test('five thousand rows take no longer than a hundred', async () => {
  const began = cpuMs();
  expect((await told({ ...APPROVED, installmentList: ROWS }))[0].installments).toHaveLength(1);
  expect(cpuMs() - began).toBeLessThan(500);
  const read = morposDialect().operations.checkBin!.read(ReplyFields.parse(JSON.stringify({ installmentList: ROWS }))!);
  expect(read.installments).toHaveLength(100);
});

const rows = (count: unknown, times: number): unknown[] => Array<unknown>(times).fill({ count, total: '100' });

test.each<[gives: object, card: Partial<BinOutcome>]>([
  [{ bank: 7, type: 'charge', brand: {}, commercial: 'yes', installments: 'all' }, unknownCard('unreadable')],
  [{ bank: 'A', installments: [...rows('4', 100), ...rows('5', 1)] }, { installments: [{ count: 4, total: '100' }] }],
  [{ installments: [{ count: '3', total: 100 }] }, { installments: [{ count: 3, total: null }] }],
  [
    { bank: 'A', installments: {} },
    { bank: 'A', installments: null },
  ],
])('of what a dialect of the host’s gives, %j, what has its form is told', async (gives, card) => {
  const { operations, ...dialect } = morposDialect();
  const checkBin = { ...operations.checkBin!, read: () => gives as never };
  const { client } = stubClient(replied({}), { ...dialect, operations: { ...operations, checkBin } });
  expect(await client.checkBin({ ...QUESTION, ...NO_SALE }, 2_000, 'fixed')).toMatchObject({ outcome: card });
});
