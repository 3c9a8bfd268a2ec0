import { morposDialect } from '../../../lib/gateway/dialects/morpos.dialect.js';
import { type BinOutcome, unknownCard } from '../../../lib/gateway/readings/card-answer.js';
import { sampleSale } from '../sample-sale.js';
import { replied, stubClient } from '../stub-client.js';

// What else is read of an answer is in expected/answers.txt.

const { conversationId } = sampleSale();
const QUESTION = { conversationId, language: 'tr', bin: '45080345', amount: null, currencyCode: null };
const rows = (count: unknown, times: number): unknown[] => Array<unknown>(times).fill({ count, total: '100' });
const totals = (...all: string[]) => ({ installments: all.map((total) => ({ count: '3', total })) });
const three = (total: string | null) => ({ installments: [{ count: 3, total }] });

test.each<[gives: object, card: Partial<BinOutcome>]>([
  [{ bank: 7, type: 'charge', brand: {}, commercial: 'yes', installments: 'all' }, unknownCard('unreadable')],
  [{ bank: 'A', installments: [...rows('4', 100), ...rows('5', 1)] }, { installments: [{ count: 4, total: '100' }] }],
  [{ installments: [{ count: '3', total: 100 }] }, three(null)],
  [totals('100', '100'), three('100')],
  [totals('100', '100', '101'), three(null)],
])('of what a dialect of the host’s gives, %j, what has its form is told', async (gives, card) => {
  const { operations, ...dialect } = morposDialect();
  const checkBin = { ...operations.checkBin!, read: () => gives as never };
  const { client } = stubClient(replied({}), { ...dialect, operations: { ...operations, checkBin } });
  expect(await client.checkBin(QUESTION, 2_000, 'fixed')).toMatchObject({ outcome: card });
});
