import { eventOfVersion } from '../../lib/payment/payment-event.js';
import type { PaymentState } from '../../lib/payment/states.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

// What this release writes comes back as it was, which the contract shows.
test('a version of a newer release still has an event to show', () => {
  const newer = aPaymentRecord({ state: 'unknown', conversationId: 'one', version: 3 });
  const event = eventOfVersion({ ...newer, state: 'preauthorized' as PaymentState });
  expect(event).toMatchObject({ eventId: 'one:3', type: 'payment.preauthorized', payment: { settled: false } });
});
