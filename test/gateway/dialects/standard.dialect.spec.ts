import { jest } from '@jest/globals';
import { standardDialect } from '../../../lib/gateway/dialects/standard.dialect.js';
import type { Signer } from '../../../lib/gateway/gateway-dialect.js';
import { wireText } from '../../../lib/gateway/wire-body.js';
import { sampleSale } from '../sample-sale.js';

const dialect = standardDialect({ signer: () => 'S' });

/** DoPayment's fields as in docs/interface.md, without sign. */
const BODY =
  '{"merchantId":"M-1",' +
  '"returnUrl":"https://shop.example/payments/direct/return",' +
  '"failUrl":"https://shop.example/payments/direct/fail",' +
  '"paymentMethod":"CARDPAYMENT",' +
  '"language":"tr",' +
  '"conversationId":"ABC00000000000000001",' +
  '"paymentInstrumentType":"CARD",' +
  '"cardDetails":{"cardNo":"4508034508034509","expDate":"1236","cvv":"000"},' +
  '"transactionDetails":{"transactionType":"SALE","installmentCount":1,"amount":60.00,"currencyCode":949},' +
  '"cardHolderInfo":{"cardHolderName":"ADA YILMAZ","buyerGsm":"905551112233"}}';

describe('the standard dialect', () => {
  it('takes nothing along that a caller put beside the named fields', () => {
    const sale = sampleSale();
    const laden = {
      ...sale,
      cardDetails: { ...sale.cardDetails, pin: '1' },
      cardHolderInfo: { ...sale.cardHolderInfo, note: '2' },
    };
    expect(wireText(dialect.operations.doPayment.body(laden, 'M-1'))).toBe(BODY);
  });

  it('gives the signer the fields without sign, the amount as its text', async () => {
    const signer = jest.fn<Signer>(() => Promise.resolve('S'));
    const context = { operation: 'doPayment', apiKey: 'k' } as const;
    const signing = standardDialect({ signer });
    expect(await signing.sign(signing.operations.doPayment.body(sampleSale(), 'M-1'), context)).toBe('S');
    expect(signer).toHaveBeenCalledTimes(1);
    const [fields, given] = signer.mock.calls[0]!;
    expect(JSON.stringify(fields)).toBe(BODY.replace('60.00', '"60.00"'));
    expect(given).toEqual(context);
  });

  it('rejects with what a signer throws, at once or later', async () => {
    const context = { operation: 'doPayment', apiKey: null } as const;
    const throwing = standardDialect({
      signer: () => {
        throw new Error('no key');
      },
    });
    await expect(throwing.sign({}, context)).rejects.toThrow('no key');
    await expect(standardDialect({ signer: () => Promise.reject(new Error('x')) }).sign({}, context)).rejects.toThrow();
  });

  it('makes ids of 20 characters, each time others', () => {
    const ids = new Set(Array.from({ length: 1_000 }, () => dialect.newConversationId()));
    expect(ids.size).toBe(1_000);
    for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{20}$/);
  });
});
