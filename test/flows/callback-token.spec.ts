import { hashCallbackToken, newCallbackToken, NO_TOKEN } from '../../lib/flows/callback-token.js';

describe('a callback token', () => {
  it('is 256 bits that no other token has, fit for a URL', () => {
    const tokens = Array.from({ length: 1_000 }, newCallbackToken);
    expect(new Set(tokens).size).toBe(1_000);
    for (const token of tokens) {
      expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    }
  });

  it('has every bit by chance', () => {
    const bytes = Array.from({ length: 1_000 }, () => Buffer.from(newCallbackToken(), 'base64url'));
    for (let bit = 0; bit < 256; bit += 1) {
      const set = bytes.filter((token) => (token[bit >> 3]! >> (bit & 7)) & 1).length;
      // Ten standard deviations: chance alone does not get there.
      expect(Math.abs(set - 500)).toBeLessThan(160);
    }
  });

  it('is known by its SHA-256 alone', () => {
    // `printf abc | sha256sum`
    expect(hashCallbackToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hashCallbackToken('ö')).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is never what stands in the URLs of a direct payment', () => {
    expect(newCallbackToken()).not.toBe(NO_TOKEN);
    expect(NO_TOKEN).not.toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});
