import { eventOfVersion } from '../../lib/payment/payment-event.js';
import type { PaymentState } from '../../lib/payment/states.js';
import { versionOf } from '../../lib/store/record-json.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

// What this release writes comes back as it was, which the contract shows.
test('a version of a newer release still has an event to show', () => {
  const newer = aPaymentRecord({ state: 'unknown', conversationId: 'one', version: 3 });
  const event = eventOfVersion({ ...newer, state: 'preauthorized' as PaymentState });
  expect(event).toMatchObject({ eventId: 'one:3', type: 'payment.preauthorized', payment: { settled: false } });
});

test('a version keeps neither the address of its page, which goes with the last one, nor when it is due', () => {
  const record = aPaymentRecord({ state: 'pending', kind: 'hosted', dueAt: new Date(0) });
  const version = versionOf({ ...record, redirectUrl: 'https://gateway.example/the-page' });
  expect(version).toEqual({ ...record, dueAt: null });
});
