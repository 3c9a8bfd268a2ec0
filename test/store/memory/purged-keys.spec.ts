import { inspect } from 'node:util';
import { PurgedKeys } from '../../../lib/store/memory/purged-keys.js';

const MAX_REMEMBERED = 100_000;
const at = (ms: number) => new Date(ms);

test('remembers the last 100,000 keys, and forgets the oldest first', () => {
  const keys = new PurgedKeys();
  for (let number = 0; number < MAX_REMEMBERED; number += 1) keys.add('idempotencyKey', `key-${number}`, at(number));
  expect([keys.has('idempotencyKey', 'key-0'), keys.has('idempotencyKey', `key-${MAX_REMEMBERED - 1}`)]).toEqual([
    true,
    true,
  ]);
  keys.add('idempotencyKey', 'one more', at(MAX_REMEMBERED));
  expect(['key-0', 'key-1', 'one more'].map((key) => keys.has('idempotencyKey', key))).toEqual([false, true, true]);
});

test('forgets the keys of payments that were purged before then', () => {
  const keys = new PurgedKeys();
  keys.add('idempotencyKey', 'first', at(10));
  keys.add('idempotencyKey', 'second', at(20));
  keys.forgetBefore(at(20));
  expect([keys.has('idempotencyKey', 'first'), keys.has('idempotencyKey', 'second')]).toEqual([false, true]);
});

test('holds no key itself', () => {
  const keys = new PurgedKeys();
  keys.add('idempotencyKey', 'order-4711', at(0));
  expect(inspect(keys, { depth: 9, showHidden: true })).not.toContain('order-4711');
});
