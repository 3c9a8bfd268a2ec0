import type { DoPaymentDto, PaymentOptions } from 'nestjs-card-payment';
import { PaymentValidationError } from '../../lib/errors/payment-errors.js';
import { hashCallbackToken, newConversationIdOf } from '../../lib/operations/opening.js';
import { AMOUNT_TEXTS } from '../../lib/payment/amount.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { assembleFlows } from './assembled-flows.js';
import { sale, TestShop } from './test-shop.js';

const NOW = new Date('2026-03-01T09:00:00Z');

function openingWith(options?: PaymentOptions) {
  const { store, clock, gateway } = new TestShop();
  return assembleFlows({ store, clock, transport: gateway.transport, options }).opening;
}

// What a sale's request is by default, and as it is asked for, is in test/wire/expected.
describe('the request of a sale', () => {
  it.each([
    ['1e3', 'amountFormat'],
    [0, 'amountPositive'],
    [0.1 + 0.2, 'amountDecimals'],
    ['1234567890123456', 'amountDigits'],
  ] as const)('with the amount %p is refused by the rule %s, in English whatever its language', (amount, rule) => {
    const path = 'transactionDetails.amount';
    for (const language of ['tr', 'en']) {
      const transactionDetails = { amount, currencyCode: 949 } as DoPaymentDto['transactionDetails'];
      const call = (): unknown => openingWith().saleRequest(sale({ transactionDetails, language }));
      expect(call).toThrow(PaymentValidationError);
      const issue: unknown = expect.objectContaining({ path, rule, message: AMOUNT_TEXTS[rule].en });
      expect(call).toThrow(expect.objectContaining({ issues: [issue] }) as Error);
    }
  });
});

// What else it holds is in test/scripts/expected; that it keeps nothing of the card but its mask, in test/leaks.
describe('the first record of a payment', () => {
  function record(kind: 'direct' | '3d', input = sale(), options?: PaymentOptions, token?: string): PaymentRecord {
    const opening = openingWith(options);
    return opening.newPayment(kind, opening.saleRequest(input, token), { input, now: NOW }, token);
  }

  it('keeps the mask of its card, and holds its order only as it is charging, unless it is a repeat', () => {
    const records = [record('direct'), record('direct', sale({ allowRepeat: true })), record('3d')];
    const locks = records.map(({ reference, referenceLock }) => referenceLock === reference);
    expect(locks).toEqual([true, false, false]);
    expect(records.map(({ maskedCardNumber }) => maskedCardNumber)).toEqual(Array(3).fill('450803******4509'));
  });

  it('is due when its claim expires: at the deadline, with half a minute to spare; if it is direct, it never expires', () => {
    expect(record('direct').expiresAt).toBeNull();
    expect(record('direct').dueAt).toEqual(new Date('2026-03-01T09:01:30Z'));
    expect(record('3d', sale(), { timeoutMs: 1_000 }, 'abc').dueAt).toEqual(new Date('2026-03-01T09:00:31Z'));
  });

  it.each<[string, Partial<DoPaymentDto>, hasHash: boolean]>([
    ['neither of its URLs holds it', { returnUrl: 'https://shop.example/', failUrl: 'https://shop.example/' }, false],
    ['only its failUrl holds it', { returnUrl: 'https://shop.example/' }, true],
    ['only its returnUrl holds it', { failUrl: 'https://shop.example/' }, true],
  ])('keeps the hash of its token if a URL of it holds that: %s', (_where, urls, hasHash) => {
    // `printf abc | sha256sum`: releases that run side by side have to agree on it.
    const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(record('3d', sale(urls), {}, 'abc').tokenHash).toBe(hasHash ? hash : null);
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
