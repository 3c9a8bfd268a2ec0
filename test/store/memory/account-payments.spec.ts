import { inspect } from 'node:util';
import { AccountPayments } from '../../../lib/store/memory/account-payments.js';
import { aPaymentRecord } from '../../../lib/testing/index.js';

const NOW = new Date('2026-03-02T10:00:00Z');

test('of a deleted payment only its reference and the hash of its key are held', () => {
  const payments = new AccountPayments();
  const keys = { conversationId: 'Conversation', tokenHash: 'Token', idempotencyKey: 'Key', reference: 'Order' };
  payments.write(aPaymentRecord({ ...keys, dueAt: NOW }));
  payments.delete('Conversation', NOW);
  expect(payments.takenKey(aPaymentRecord({ reference: 'Order' }))).toBe('referenceLock');
  expect(payments.findByIdempotencyKey('Key')).toBe('purged');
  const held = inspect(payments, { depth: 9, showHidden: true });
  expect(Object.values(keys).filter((key) => held.includes(`'${key}'`))).toEqual(['Order']);
});

test('of a deleted payment without keys nothing is held, be it with a reference or without', () => {
  const payments = new AccountPayments();
  const none = { idempotencyKey: null, tokenHash: null, referenceLock: null, hostIdNonce: null };
  payments.write(aPaymentRecord({ ...none, conversationId: 'Without', reference: null }));
  payments.write(aPaymentRecord({ ...none, conversationId: 'With', reference: 'Order' }));
  for (const conversationId of ['Without', 'With']) payments.delete(conversationId, NOW);
  expect(inspect(payments, { depth: 9, showHidden: true })).not.toMatch(/'With|'Order/);
});

test('a payment is kept until it was settled longer ago than that', () => {
  const payments = new AccountPayments();
  payments.write(aPaymentRecord({ conversationId: 'C', state: 'failed', finalizedAt: NOW }));
  expect(payments.finalizedBefore(NOW)).toEqual([]);
  expect(payments.finalizedBefore(new Date(NOW.getTime() + 1))).toEqual(['C']);
});

test('the time at which a payment is due is a copy', () => {
  const payments = new AccountPayments();
  payments.write(aPaymentRecord({ conversationId: 'C', dueAt: null }));
  const dueAt = new Date(NOW);
  payments.setDueAt('C', dueAt);
  dueAt.setTime(0);
  expect(payments.find('C')?.dueAt).toEqual(NOW);
  expect(payments.leaseDue(NOW, NOW, 1)).toHaveLength(1);
});

test('a payment that is not there has no time at which it is due', () => {
  const payments = new AccountPayments();
  payments.setDueAt('C', NOW);
  expect(payments.leaseDue(NOW, NOW, 1)).toEqual([]);
});

test('counts hold copies of dates', () => {
  const payments = new AccountPayments();
  payments.write(aPaymentRecord({ state: 'unknown', updatedAt: NOW }));
  payments.stateCounts().unknown.oldest?.setTime(0);
  expect(payments.stateCounts().unknown).toEqual({ count: 1, oldest: NOW });
});
