import { inspect } from 'node:util';
import { AccountPayments } from '../../../lib/store/memory/account-payments.js';
import { aPaymentRecord } from '../../../lib/testing/index.js';

const NOW = new Date('2026-03-02T10:00:00Z');

test('nothing of a deleted payment is held but its reference and the hash of its key', () => {
  const payments = new AccountPayments();
  const record = aPaymentRecord({ conversationId: 'C', tokenHash: 'T', idempotencyKey: 'K', dueAt: NOW });
  const empty = inspect(payments, { depth: 9 });
  payments.write(record);
  payments.delete('C', NOW);
  expect(payments.takenKey(aPaymentRecord({ conversationId: 'D' }))).toBe('referenceLock');
  expect(payments.findByIdempotencyKey('K')).toBe('purged');
  const left = inspect(payments, { depth: 9 })
    .replace(/'order-1' => ''/, '')
    .replace(/'[\w-]{43}' => [\dTZ:.-]+/, '');
  expect(left.replace(/Map\(1\) \{\s*\}/g, 'Map(0) {}').replace(/\s/g, '')).toBe(empty.replace(/\s/g, ''));
});

test('the time at which a payment is due is a copy', () => {
  const payments = new AccountPayments();
  payments.write(aPaymentRecord({ conversationId: 'C', dueAt: null }));
  const dueAt = new Date(NOW);
  payments.setDueAt('C', dueAt);
  dueAt.setTime(0);
  expect(payments.find('C')?.dueAt).toEqual(NOW);
  expect(payments.dueBy(NOW, 1)).toEqual(['C']);
});

test('a payment that is not there has no time at which it is due', () => {
  const payments = new AccountPayments();
  payments.setDueAt('C', NOW);
  expect(payments.dueBy(NOW, 1)).toEqual([]);
});

test('counts hold copies of dates', () => {
  const payments = new AccountPayments();
  payments.write(aPaymentRecord({ state: 'unknown', updatedAt: NOW }));
  payments.stateCounts().unknown.oldest?.setTime(0);
  expect(payments.stateCounts().unknown).toEqual({ count: 1, oldest: NOW });
});
