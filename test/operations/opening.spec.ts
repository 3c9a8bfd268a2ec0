import type { DoPaymentDto, PaymentOptions } from 'nestjs-card-payment';
import { newPaymentRecord, saleRequest } from '../../lib/operations/opening.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { sale } from './test-shop.js';

const NOW = new Date('2026-03-01T09:00:00Z');
const URLS = { returnUrl: 'https://shop.example/return', failUrl: 'https://shop.example/fail' };

function settings(options: PaymentOptions = {}, name?: string): PaymentSettings {
  const given = { baseUrl: 'https://gateway.example', publicUrl: 'https://shop.example', ...options };
  const credentials = { merchantId: 'm', clientId: 'c', clientSecret: 's', apiKey: 'k', dialect: 'morpos' as const };
  return resolveSettings({ ...given, ...credentials }, { name }, {});
}

describe('the request of a sale', () => {
  const request = (input: DoPaymentDto, options?: PaymentOptions) => saleRequest(input, settings(options), URLS);

  it('has every default', () => {
    const input = sale();
    const { conversationId, ...rest } = request(input);
    expect(conversationId).toMatch(/^[A-Z0-9]{20}$/);
    expect(rest).toEqual({
      ...URLS,
      paymentMethod: 'CARDPAYMENT',
      paymentInstrumentType: 'CARD',
      transactionType: 'SALE',
      language: 'tr',
      cardDetails: input.cardDetails,
      cardHolderInfo: input.cardHolderInfo,
      installmentCount: 1,
      amount: '149.90',
      currencyCode: 949,
    });
  });

  it('has the values that the caller gave instead of the defaults', () => {
    const given = sale({
      conversationId: 'ABC00000000000000009',
      paymentMethod: 'OTHER',
      paymentInstrumentType: 'TOKEN',
      language: 'de',
      transactionDetails: {
        amount: '10',
        currencyCode: 392,
        installmentCount: 3,
        transactionType: 'SALE',
        vftFlag: true,
      },
      extraParameter: { pfSubMerchantId: 'sub-1' },
    });
    expect(request(given, { language: 'en' })).toMatchObject({
      conversationId: 'ABC00000000000000009',
      paymentMethod: 'OTHER',
      paymentInstrumentType: 'TOKEN',
      language: 'de',
      transactionType: 'SALE',
      installmentCount: 3,
      amount: '10',
      vftFlag: true,
      pfSubMerchantId: 'sub-1',
    });
  });

  it('has a new conversationId each time, and the configured language and amount format', () => {
    const ids = Array.from({ length: 100 }, () => request(sale()).conversationId);
    expect(new Set(ids).size).toBe(100);
    expect(request(sale(), { language: 'en' }).language).toBe('en');
    expect(request(sale(), { amountFormat: 'shortest' }).amount).toBe('149.9');
  });
});

describe('the first record of a payment', () => {
  function record(
    kind: 'direct' | '3d',
    input: DoPaymentDto = sale(),
    options: PaymentOptions = {},
    token: string | null = null,
    account?: string,
  ) {
    const given = settings(options, account);
    return newPaymentRecord(kind, saleRequest(input, given, URLS), input, given, NOW, {
      tokenHash: token,
      attemptId: 'attempt',
      hostIdNonce: null,
    });
  }

  it('of kind direct is charging, holds the order, and is due when its claim expires', () => {
    expect(record('direct', sale({ reference: 'order', idempotencyKey: 'key' }))).toMatchObject({
      kind: 'direct',
      state: 'charging',
      version: 1,
      account: 'default',
      reference: 'order',
      referenceLock: 'order',
      allowRepeat: false,
      idempotencyKey: 'key',
      amount: '149.90',
      currencyCode: 949,
      tokenHash: null,
      expiresAt: null,
      // The deadline of a minute, and half a minute to spare.
      dueAt: new Date('2026-03-01T09:01:30Z'),
      createdAt: NOW,
      updatedAt: NOW,
      finalizedAt: null,
    });
    expect(record('direct', sale(), { timeoutMs: 1_000 }).dueAt).toEqual(new Date('2026-03-01T09:00:31Z'));
  });

  it('of kind 3d is initiating, does not hold the order, and is due when its claim ends', () => {
    expect(record('3d', sale({ reference: 'order' }), {}, 'hash')).toMatchObject({
      kind: '3d',
      state: 'initiating',
      reference: 'order',
      referenceLock: null,
      tokenHash: 'hash',
      expiresAt: new Date('2026-03-01T10:00:00Z'),
      dueAt: new Date('2026-03-01T09:01:30Z'),
    });
    const soon = new Date('2026-03-01T09:02:30Z');
    expect(record('3d', sale(), { sessionTtlMs: 150_000 })).toMatchObject({ expiresAt: soon });
  });

  it('does not hold the order with allowRepeat or without a reference', () => {
    expect(record('direct', sale({ allowRepeat: true }))).toMatchObject({ allowRepeat: true, referenceLock: null });
    expect(record('direct', sale({ reference: undefined }))).toMatchObject({ reference: null, referenceLock: null });
  });

  it('belongs to its account', () => {
    expect(record('direct', sale(), {}, null, 'eu').account).toBe('eu');
  });

  it('keeps the first six and last four digits of the card, and nothing about its holder', () => {
    const kept = record('direct');
    expect(kept.maskedCardNumber).toBe('450803******4509');
    const text = JSON.stringify(kept);
    for (const secret of ['4508034508034509', '1236', 'ADA', '905551112233']) expect(text).not.toContain(secret);
    expect(Object.values(kept)).not.toContain('000');
  });
});
