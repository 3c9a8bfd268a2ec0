import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import { type BinOutcome, unknownCard } from '../../../lib/gateway/readings/card-answer.js';
import { ReplyFields } from '../../../lib/gateway/readings/reply-fields.js';
import { sampleSale } from '../sample-sale.js';
import { replied, stubClient } from '../stub-client.js';
import { cpuMs } from '../../rigs/cpu-time.js';

// What else is read of an answer is in expected/answers.txt.

const { conversationId } = sampleSale();
const QUESTION = { conversationId, language: 'tr', bin: '45080345', amount: null, currencyCode: null };
const ROWS = Array.from({ length: 5_000 }, () => ({ installmentCount: 3, installmentTotalAmount: 100 }));

test('five thousand rows take no longer than a hundred', async () => {
  const began = cpuMs();
  const { client } = stubClient(replied({ installmentList: ROWS }), morposDialect());
  const answer = await client.checkBin(QUESTION, 2_000, 'fixed');
  expect(answer).toMatchObject({ outcome: { installments: [{ count: 3, total: '100' }] } });
  expect(cpuMs() - began).toBeLessThan(500);
  const read = morposDialect().operations.checkBin!.read(ReplyFields.parse(JSON.stringify({ installmentList: ROWS }))!);
  expect(read.installments).toHaveLength(100);
});

const rows = (count: unknown, times: number): unknown[] => Array<unknown>(times).fill({ count, total: '100' });
const totals = (...all: string[]) => ({ installments: all.map((total) => ({ count: '3', total })) });
const three = (total: string | null) => ({ installments: [{ count: 3, total }] });

test.each<[gives: object, card: Partial<BinOutcome>]>([
  [{ bank: 7, type: 'charge', brand: {}, commercial: 'yes', installments: 'all' }, unknownCard('unreadable')],
  [{ bank: 'A', installments: [...rows('4', 100), ...rows('5', 1)] }, { installments: [{ count: 4, total: '100' }] }],
  [{ installments: [{ count: '3', total: 100 }] }, three(null)],
  [totals('100', '100'), three('100')],
  [totals('100', '100', '101'), three(null)],
  [
    { bank: 'A', installments: {} },
    { bank: 'A', installments: null },
  ],
])('of what a dialect of the host’s gives, %j, what has its form is told', async (gives, card) => {
  const { operations, ...dialect } = morposDialect();
  const checkBin = { ...operations.checkBin!, read: () => gives as never };
  const { client } = stubClient(replied({}), { ...dialect, operations: { ...operations, checkBin } });
  expect(await client.checkBin(QUESTION, 2_000, 'fixed')).toMatchObject({ outcome: card });
});
