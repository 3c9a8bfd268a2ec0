import { newConversationId } from '../../lib/runtime/randomness.js';

it('an id is 20 characters of Crockford’s Base32, of which each is as likely as any other', () => {
  const ids = Array.from({ length: 1_000 }, newConversationId);
  expect(new Set(ids).size).toBe(1_000);
  expect(ids.filter((id) => !/^[0-9A-HJKMNP-TV-Z]{20}$/.test(id))).toEqual([]);
  const counts = new Map<string, number>();
  for (const character of ids.join('')) counts.set(character, (counts.get(character) ?? 0) + 1);
  // 20,000 characters: about 625 each, with a standard deviation of 25.
  expect(counts.size).toBe(32);
  expect(Math.min(...counts.values())).toBeGreaterThan(450);
  expect(Math.max(...counts.values())).toBeLessThan(800);
});
