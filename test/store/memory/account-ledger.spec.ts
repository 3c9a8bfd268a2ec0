import { inspect } from 'node:util';
import { AccountLedger, PurgedKeys } from '../../../lib/store/memory/account-ledger.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

const NOW = new Date('2026-03-02T10:00:00Z');
const MAX_REMEMBERED = 100_000;
const at = (ms: number) => new Date(ms);

test('only the reference and the hash of the key of a deleted payment are kept', () => {
  const ledger = new AccountLedger();
  const keys = { conversationId: 'Conversation', tokenHash: 'Token', idempotencyKey: 'Key', reference: 'Order' };
  ledger.write(aPaymentRecord({ ...keys, dueAt: NOW }));
  ledger.delete('Conversation', NOW);
  expect(ledger.takenKey(aPaymentRecord({ reference: 'Order' }))).toBe('referenceLock');
  expect(ledger.findByIdempotencyKey('Key')).toBe('purged');
  const held = inspect(ledger, { depth: 9, showHidden: true });
  expect(Object.values(keys).filter((key) => held.includes(`'${key}'`))).toEqual(['Order']);
});

test('nothing is kept of a deleted payment without keys, with or without a reference', () => {
  const ledger = new AccountLedger();
  const none = { idempotencyKey: null, tokenHash: null, referenceLock: null, hostIdNonce: null };
  ledger.write(aPaymentRecord({ ...none, conversationId: 'Without', reference: null }));
  ledger.write(aPaymentRecord({ ...none, conversationId: 'With', reference: 'Order' }));
  for (const conversationId of ['Without', 'With']) ledger.delete(conversationId, NOW);
  expect(inspect(ledger, { depth: 9, showHidden: true })).not.toMatch(/'With|'Order/);
});

test('a payment is kept until it was settled longer ago than that', () => {
  const ledger = new AccountLedger();
  ledger.write(aPaymentRecord({ conversationId: 'C', state: 'failed', finalizedAt: NOW }));
  expect(ledger.finalizedBefore(NOW)).toEqual([]);
  expect(ledger.finalizedBefore(new Date(NOW.getTime() + 1))).toEqual(['C']);
});

test('the time at which a payment is due is a copy', () => {
  const ledger = new AccountLedger();
  ledger.write(aPaymentRecord({ conversationId: 'C', dueAt: null }));
  const dueAt = new Date(NOW);
  ledger.setDueAt('C', dueAt);
  dueAt.setTime(0);
  expect(ledger.find('C')?.dueAt).toEqual(NOW);
  expect(ledger.leaseDue(NOW, NOW, 1)).toHaveLength(1);
});

test('a payment that is not there has no time at which it is due', () => {
  const ledger = new AccountLedger();
  ledger.setDueAt('C', NOW);
  expect(ledger.leaseDue(NOW, NOW, 1)).toEqual([]);
});

test('counts hold copies of dates', () => {
  const ledger = new AccountLedger();
  ledger.write(aPaymentRecord({ state: 'unknown', updatedAt: NOW }));
  ledger.stateCounts().unknown.oldest?.setTime(0);
  expect(ledger.stateCounts().unknown).toEqual({ count: 1, oldest: NOW });
});

describe('the keys of purged payments', () => {
  test('are the last 100,000: the oldest is forgotten first', () => {
    const keys = new PurgedKeys();
    for (let number = 0; number < MAX_REMEMBERED; number += 1) keys.add('idempotencyKey', `key-${number}`, at(number));
    expect([keys.has('idempotencyKey', 'key-0'), keys.has('idempotencyKey', `key-${MAX_REMEMBERED - 1}`)]).toEqual([
      true,
      true,
    ]);
    keys.add('idempotencyKey', 'one more', at(MAX_REMEMBERED));
    expect(['key-0', 'key-1', 'one more'].map((key) => keys.has('idempotencyKey', key))).toEqual([false, true, true]);
  });

  test('are forgotten by when their payments were purged', () => {
    const keys = new PurgedKeys();
    keys.add('idempotencyKey', 'first', at(10));
    keys.add('idempotencyKey', 'second', at(20));
    keys.forgetBefore(at(20));
    expect([keys.has('idempotencyKey', 'first'), keys.has('idempotencyKey', 'second')]).toEqual([false, true]);
  });

  test('are held as hashes only', () => {
    const keys = new PurgedKeys();
    keys.add('idempotencyKey', 'order-4711', at(0));
    expect(inspect(keys, { depth: 9, showHidden: true })).not.toContain('order-4711');
  });
});
