import {
  hashCallbackToken,
  newAttemptId,
  newHostIdNonce,
  newCallbackToken,
  NO_TOKEN,
} from '../../lib/operations/ids.js';
import { SystemRandomness } from '../../lib/runtime/randomness.js';

const random = new SystemRandomness();
const newToken = (): string => newCallbackToken(random);

describe('a callback token', () => {
  it('has 256 bits, is unique, and is safe in a URL', () => {
    const tokens = Array.from({ length: 1_000 }, newToken);
    expect(new Set(tokens).size).toBe(1_000);
    for (const token of tokens) {
      expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    }
  });

  it('has only random bits', () => {
    const bytes = Array.from({ length: 1_000 }, () => Buffer.from(newToken(), 'base64url'));
    for (let bit = 0; bit < 256; bit += 1) {
      const set = bytes.filter((token) => (token[bit >> 3]! >> (bit & 7)) & 1).length;
      // Ten standard deviations, which random bits do not reach.
      expect(Math.abs(set - 500)).toBeLessThan(160);
    }
  });

  it('is hashed with SHA-256', () => {
    // `printf abc | sha256sum`
    expect(hashCallbackToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hashCallbackToken('ö')).toMatch(/^[0-9a-f]{64}$/);
  });

  it('never equals the placeholder in the URLs of a direct payment', () => {
    expect(newToken()).not.toBe(NO_TOKEN);
    expect(NO_TOKEN).toMatch(/^[a-z]{1,42}$/);
  });
});

it('a payment has a random nonce only if the host chose its conversationId', () => {
  const nonces = Array.from({ length: 1_000 }, () => newHostIdNonce(random, { conversationId: 'order-17' }));
  expect(new Set(nonces).size).toBe(1_000);
  for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{12}$/);
  expect(newHostIdNonce(random, {})).toBeNull();
});

it('an attempt has a unique id of 128 bits', () => {
  const ids = Array.from({ length: 1_000 }, () => newAttemptId(random));
  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) expect(Buffer.from(id, 'base64url')).toHaveLength(16);
});
