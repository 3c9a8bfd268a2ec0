/**
 * For your own tests: payments and refunds to pass to handlers, with their events, and a clock to set.
 *
 * @packageDocumentation
 */

export { aPayment, aPaymentEvent, aRefund, aRefundEvent } from './a-payment.js';
export { TestClock } from './test-clock.js';
