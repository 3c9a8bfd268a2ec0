import type { DoPaymentDto, PaymentOptions } from 'nestjs-card-payment';
import { PaymentValidationError } from '../../lib/errors/payment-errors.js';
import { hashCallbackToken, newConversationIdOf } from '../../lib/operations/opening.js';
import { AMOUNT_TEXTS } from '../../lib/payment/amount.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { assembleFlows } from './assembled-flows.js';
import { sale, TestShop } from './test-shop.js';

const NOW = new Date('2026-03-01T09:00:00Z');

function openingWith(options?: PaymentOptions, name?: string) {
  const { store, clock, gateway } = new TestShop();
  return assembleFlows({ store, clock, transport: gateway.transport, options, name }).opening;
}

describe('the request of a sale', () => {
  const request = (input: DoPaymentDto, options?: PaymentOptions) => openingWith(options).saleRequest(input);
  const costing = (amount: unknown) => sale({ transactionDetails: { amount, currencyCode: 949 } as never });

  it('has every default', () => {
    const input = sale();
    const { conversationId, ...rest } = request(input);
    expect(conversationId).toMatch(/^[A-Z0-9]{20}$/);
    expect(rest).toEqual({
      returnUrl: 'https://shop.example/payments/direct/return',
      failUrl: 'https://shop.example/payments/direct/fail',
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
    const own = { conversationId: 'ABC00000000000000009', paymentMethod: 'OTHER', paymentInstrumentType: 'TOKEN' };
    const transaction = {
      amount: '10',
      currencyCode: 392,
      installmentCount: 3,
      transactionType: 'SALE',
      vftFlag: true,
    };
    const extraParameter = { pfSubMerchantId: 'sub-1' };
    const given = sale({ ...own, language: 'de', transactionDetails: transaction, extraParameter });
    const sent = { ...own, language: 'de', ...transaction, ...extraParameter };
    expect(request(given, { language: 'en' })).toMatchObject(sent);
  });

  it('has a new conversationId each time, and the configured language and amount format', () => {
    const ids = Array.from({ length: 100 }, () => request(sale()).conversationId);
    expect(new Set(ids).size).toBe(100);
    expect(request(sale(), { language: 'en' }).language).toBe('en');
    expect(request(costing(149.9)).amount).toBe('149.90');
    expect(request(costing(149.9), { amountFormat: 'shortest' }).amount).toBe('149.9');
  });

  it.each([
    ['1e3', 'amountFormat'],
    [0, 'amountPositive'],
    [0.1 + 0.2, 'amountDecimals'],
    ['1234567890123456', 'amountDigits'],
  ] as const)('with the amount %p is refused by the rule %s, in English whatever its language', (amount, rule) => {
    const path = 'transactionDetails.amount';
    for (const language of ['tr', 'en']) {
      const call = (): unknown => request({ ...costing(amount), language });
      expect(call).toThrow(PaymentValidationError);
      const issue: unknown = expect.objectContaining({ path, rule, message: AMOUNT_TEXTS[rule].en });
      expect(call).toThrow(expect.objectContaining({ issues: [issue] }) as Error);
    }
  });
});

// That it keeps nothing of the card but its mask is in test/leaks.
describe('the first record of a payment', () => {
  interface More {
    readonly options?: PaymentOptions;
    readonly token?: string;
    readonly account?: string;
  }

  function record(kind: 'direct' | '3d', input = sale(), { options, token, account }: More = {}): PaymentRecord {
    const opening = openingWith(options, account);
    return opening.newPayment(kind, opening.saleRequest(input, token), { input, now: NOW }, token);
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
      maskedCardNumber: '450803******4509',
      tokenHash: null,
      expiresAt: null,
      // The deadline of a minute, and half a minute to spare.
      dueAt: new Date('2026-03-01T09:01:30Z'),
      createdAt: NOW,
      updatedAt: NOW,
      finalizedAt: null,
    });
    const { dueAt } = record('direct', sale(), { options: { timeoutMs: 1_000 } });
    expect(dueAt).toEqual(new Date('2026-03-01T09:00:31Z'));
  });

  it('of kind 3d is initiating, does not hold the order, and is due when its claim ends', () => {
    expect(record('3d', sale({ reference: 'order' }), { token: 'abc' })).toMatchObject({
      kind: '3d',
      state: 'initiating',
      reference: 'order',
      referenceLock: null,
      // `printf abc | sha256sum`
      tokenHash: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      expiresAt: new Date('2026-03-01T10:00:00Z'),
      dueAt: new Date('2026-03-01T09:01:30Z'),
    });
    const expiresAt = new Date('2026-03-01T09:02:30Z');
    expect(record('3d', sale(), { options: { sessionTtlMs: 150_000 } })).toMatchObject({ expiresAt });
  });

  it.each<[string, Partial<DoPaymentDto>, hasHash: boolean]>([
    ['neither of its URLs holds it', { returnUrl: 'https://shop.example/', failUrl: 'https://shop.example/' }, false],
    ['only its failUrl holds it', { returnUrl: 'https://shop.example/' }, true],
    ['only its returnUrl holds it', { failUrl: 'https://shop.example/' }, true],
  ])('keeps the hash of its token if a URL of it holds that: %s', (_where, urls, hasHash) => {
    expect(record('3d', sale(urls), { token: 'abc' }).tokenHash !== null).toBe(hasHash);
  });

  it.each<[string, Partial<DoPaymentDto>, account: string | undefined, expected: object]>([
    ['does not hold the order with allowRepeat', { allowRepeat: true }, undefined, { referenceLock: null }],
    ['holds no order without a reference', { reference: undefined }, undefined, { referenceLock: null }],
    ['belongs to its account', {}, 'eu', { account: 'eu' }],
  ])('%s', (_what, more, account, expected) => {
    const input = sale(more);
    const { allowRepeat = false, reference = null } = input;
    expect(record('direct', input, { account })).toMatchObject({ allowRepeat, reference, ...expected });
  });

  it('has an attempt id of 128 bits, and a nonce only if the host chose its conversationId', () => {
    const opening = openingWith();
    const all = [undefined, 'order-17'].flatMap((conversationId) => {
      const input = sale({ conversationId });
      const request = opening.saleRequest(input);
      return Array.from({ length: 1_000 }, () => opening.newPayment('direct', request, { input, now: NOW }));
    });
    expect(new Set(all.map(({ attemptId }) => attemptId)).size).toBe(2_000);
    for (const { attemptId } of all) expect(Buffer.from(attemptId, 'base64url')).toHaveLength(16);
    const nonces = all.map(({ hostIdNonce }) => hostIdNonce);
    expect(new Set(nonces.slice(0, 1_000))).toEqual(new Set([null]));
    expect(new Set(nonces.slice(1_000)).size).toBe(1_000);
    for (const nonce of nonces.slice(1_000)) expect(nonce).toMatch(/^[0-9a-f]{12}$/);
  });
});

describe('a callback token', () => {
  const opening = openingWith();
  const tokens = Array.from({ length: 1_000 }, () => opening.newToken());

  it('is unique, safe in a URL, and has 256 bits, all of them random', () => {
    expect(new Set(tokens).size).toBe(1_000);
    for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const bytes = tokens.map((token) => Buffer.from(token, 'base64url'));
    for (const token of bytes) expect(token).toHaveLength(32);
    for (let bit = 0; bit < 256; bit += 1) {
      const set = bytes.filter((token) => (token[bit >> 3]! >> (bit & 7)) & 1).length;
      // Ten standard deviations, which random bits do not reach.
      expect(Math.abs(set - 500)).toBeLessThan(160);
    }
  });

  it('is hashed with SHA-256, as UTF-8', () => {
    // `printf ö | sha256sum`
    expect(hashCallbackToken('ö')).toBe('6dbd11fd012e225b28a5d94a9b432bc491344f3e92158661be2ae5ae2b8b1ad8');
  });
});

describe('an id of a dialect', () => {
  it.each<[() => unknown]>([
    [() => Promise.reject(new Error('no id'))],
    [() => Promise.resolve('ABC1')],
    ...[undefined, null, 7, '', '  ', 'A\0B', 'A\r\nB', 'x'.repeat(10_000), {}].map((id): [() => unknown] => [
      () => id,
    ]),
  ])('that is no fitting text is an error (%#)', (newConversationId) => {
    const dialect = { name: 'own', newConversationId: newConversationId as () => string };
    expect(() => newConversationIdOf(dialect)).toThrow(/newConversationId\(\) of the dialect "own"/);
  });

  it('that fits is taken as it is', () => {
    expect(newConversationIdOf({ name: 'own', newConversationId: () => 'ABC1' })).toBe('ABC1');
  });
});
