import { standardDialect } from '../../../lib/gateway/dialects/standard.dialect.js';
import { sampleSale } from '../sample-sale.js';

// What it sends is shown by test/wire; what a signer throws, in test/e2e/expected/log.txt.

const CONTEXT = { operation: 'doPayment', apiKey: 'k' } as const;

test('the signer is given the fields without sign, the amount as its text, and nothing that a caller put beside them', async () => {
  const sale = sampleSale();
  const { cardDetails, cardHolderInfo } = sale;
  const laden = {
    ...sale,
    cardDetails: { ...cardDetails, pin: '1' },
    cardHolderInfo: { ...cardHolderInfo, note: '2' },
  };
  const given: unknown[] = [];
  const dialect = standardDialect({ signer: (...all) => (given.push(...all), Promise.resolve('S')) });
  expect(await dialect.sign(dialect.operations.doPayment.body(laden, 'M-1'), CONTEXT)).toBe('S');
  expect(given).toEqual([expect.objectContaining({ cardDetails, cardHolderInfo, merchantId: 'M-1' }), CONTEXT]);
  expect(given[0]).toMatchObject({ transactionDetails: { amount: '60.00' } });
});
