import { toPayment } from '../../lib/payment/payment.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

describe('toPayment', () => {
  it('shows nothing that only the store needs, nor what a store has added', () => {
    const record = { ...aPaymentRecord({ state: 'unknown', tokenHash: 'f00d', note: 'seen' }), added: 'secret' };
    const hidden = ['tokenHash', 'idempotencyKey', 'referenceLock', 'expiresAt', 'dueAt', 'inquiries'];
    const payment = toPayment(record);
    for (const field of [...hidden, 'notFoundAt', 'note', 'added']) expect(payment).not.toHaveProperty(field);
    expect(payment).toMatchObject({ conversationId: record.conversationId, state: 'unknown', amount: '149.90' });
  });

  it.each([
    ['succeeded', true],
    ['failed', true],
    ['expired', true],
    ['unknown', false],
    ['review', false],
    ['awaiting', false],
  ] as const)('a payment that is %s is settled: %p', (state, settled) => {
    expect(toPayment(aPaymentRecord({ state })).settled).toBe(settled);
  });

  it('is stored unless said otherwise', () => {
    expect(toPayment(aPaymentRecord({ state: 'succeeded' })).stored).toBe(true);
    expect(toPayment(aPaymentRecord({ state: 'succeeded' }), false).stored).toBe(false);
  });
});
