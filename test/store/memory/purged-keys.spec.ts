import { inspect } from 'node:util';
import { PurgedKeys } from '../../../lib/store/memory/purged-keys.js';

const MAX_REMEMBERED = 100_000;
const at = (ms: number) => new Date(ms);

test('remembers the last 100,000 keys, and forgets the oldest first', () => {
  const keys = new PurgedKeys();
  for (let number = 0; number < MAX_REMEMBERED; number += 1) keys.add(`key-${number}`, at(number));
  expect([keys.has('key-0'), keys.has(`key-${MAX_REMEMBERED - 1}`)]).toEqual([true, true]);
  keys.add('one more', at(MAX_REMEMBERED));
  expect(['key-0', 'key-1', 'one more'].map((key) => keys.has(key))).toEqual([false, true, true]);
});

test('forgets the keys of payments that were purged before then', () => {
  const keys = new PurgedKeys();
  keys.add('first', at(10));
  keys.add('second', at(20));
  keys.forgetBefore(at(20));
  expect([keys.has('first'), keys.has('second')]).toEqual([false, true]);
});

test('holds no key itself', () => {
  const keys = new PurgedKeys();
  keys.add('order-4711', at(0));
  expect(inspect(keys, { depth: 9, showHidden: true })).not.toContain('order-4711');
});
