import type { DoPaymentDto } from '../../lib/dto/sale.dto.js';
import { PaymentValidationError } from '../../lib/errors/payment-errors.js';
import { saleRequest } from '../../lib/operations/opening.js';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { AMOUNT_TEXTS } from '../../lib/payment/amount.js';
import { sampleInput } from '../dto/sample-input.js';

const URLS = { returnUrl: 'https://shop.example/return', failUrl: 'https://shop.example/fail' };
const SETTINGS = { dialect: morposDialect(), language: 'tr', amountFormat: 'fixed' } as PaymentSettings;

function inputOf(amount: unknown): DoPaymentDto {
  return { ...sampleInput(), transactionDetails: { amount, currencyCode: 949 } } as unknown as DoPaymentDto;
}

describe('a sale', () => {
  it.each([
    ['fixed', '149.90'],
    ['shortest', '149.9'],
  ] as const)('is sent with its amount in the format %s', (amountFormat, text) => {
    expect(saleRequest(inputOf(149.9), { ...SETTINGS, amountFormat }, URLS).amount).toBe(text);
  });

  it.each([
    ['1e3', 'amountFormat'],
    [0, 'amountPositive'],
    [0.1 + 0.2, 'amountDecimals'],
    ['1234567890123456', 'amountDigits'],
  ])('with the amount %p is refused by the rule %s', (amount, rule) => {
    const path = 'transactionDetails.amount';
    const call = (): unknown => saleRequest(inputOf(amount), SETTINGS, URLS);
    expect(call).toThrow(PaymentValidationError);
    expect(call).toThrow(expect.objectContaining({ issues: [expect.objectContaining({ path, rule })] }) as Error);
  });

  it.each(['tr', 'en'] as const)('is refused in English, whatever the language of the payment (%s)', (language) => {
    expect(() => saleRequest({ ...inputOf(0), language }, SETTINGS, URLS)).toThrow(
      expect.objectContaining({
        issues: [expect.objectContaining({ message: AMOUNT_TEXTS.amountPositive.en })],
      }) as Error,
    );
  });
});
