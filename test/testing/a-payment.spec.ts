import { ALL_STATES, type PaymentState } from '../../lib/payment/payment-state.js';
import { toPayment } from '../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { aPayment, aPaymentEvent, aPaymentRecord } from '../../lib/testing/index.js';

const STATES = ALL_STATES;
const CREATED = new Date('2026-03-01T09:00:00Z');
const after = (ms: number) => new Date(CREATED.getTime() + ms);

/** State, kind, settled, whether finalized and whether it holds its reference, and when it is due. */
const FITTING: Readonly<Record<PaymentState, readonly unknown[]>> = {
  charging: ['direct', false, false, true, after(90_000)],
  initiating: ['3d', false, false, false, after(3_600_000)],
  awaiting: ['3d', false, false, false, after(3_600_000)],
  authorizing: ['3d', false, false, true, after(90_000)],
  succeeded: ['3d', true, true, true, null],
  failed: ['3d', true, true, false, null],
  expired: ['3d', true, true, false, null],
  unknown: ['3d', false, false, true, after(15_000)],
  review: ['3d', false, false, true, null],
};

test.each(STATES)('what is not given fits a payment that is %s', (state) => {
  const record = aPaymentRecord({ state });
  const { kind, finalizedAt, referenceLock, dueAt } = record;
  const payment = aPayment({ state });
  expect([kind, payment.settled, finalizedAt !== null, referenceLock === 'order-1', dueAt]).toEqual(FITTING[state]);
  expect(payment).toEqual(toPayment(record));
});

test('given fields are kept, and the others fit them', () => {
  expect(aPaymentRecord({ reference: 'r-7', updatedAt: after(5) })).toMatchObject({
    referenceLock: 'r-7',
    finalizedAt: after(5),
  });
  expect(aPaymentRecord({ allowRepeat: true }).referenceLock).toBeNull();
  expect(aPaymentRecord({ reference: null }).referenceLock).toBeNull();
  expect(aPaymentRecord({ kind: 'direct' }).expiresAt).toBeNull();
  expect(aPaymentRecord({ state: 'awaiting', createdAt: after(1) }).dueAt).toEqual(after(3_600_001));
  expect(aPaymentRecord({ referenceLock: null, dueAt: CREATED, expiresAt: null })).toMatchObject({
    referenceLock: null,
    dueAt: CREATED,
    expiresAt: null,
  });
  expect([aPaymentRecord().attemptId, aPaymentRecord({ attemptId: 'mine' }).attemptId]).toEqual(['attempt-1', 'mine']);
  expect(aPayment({ stored: false, code: 'B0000' })).toMatchObject({ stored: false, code: 'B0000', settled: true });
});

test('two of them share nothing that can change', () => {
  const [one, other] = [aPayment(), aPayment()];
  one.createdAt.setTime(0);
  expect(other.createdAt).toEqual(CREATED);
});

test('an event has the id, type and time of its payment', () => {
  const event = aPaymentEvent({ state: 'failed', conversationId: 'C', version: 7, updatedAt: after(9) });
  expect(event).toMatchObject({ eventId: 'C:7', type: 'payment.failed', occurredAt: after(9) });
  expect(event.payment).toEqual(aPayment({ state: 'failed', conversationId: 'C', version: 7, updatedAt: after(9) }));
  expect(aPaymentEvent().type).toBe('payment.succeeded');
});

test('a state without events has none', () => {
  const state = 'awaiting' as 'failed';
  expect(() => aPaymentEvent({ state })).toThrow(
    'There are events of succeeded, failed, expired, unknown, review only',
  );
});

test('a store takes it', async () => {
  const store = new MemoryPaymentStore();
  const record = aPaymentRecord();
  await expect(store.insert(record, aPaymentEvent())).resolves.toBeNull();
  await expect(store.find(record.account, record.conversationId)).resolves.toEqual(record);
});
