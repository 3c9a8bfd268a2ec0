/**
 * For your own tests: payments and refunds to pass to handlers, a clock to set, and the contract suite that a store of
 * your own has to pass.
 *
 * @packageDocumentation
 */

export { aPayment, aPaymentEvent, aPaymentRecord, aRefund, aRefundEvent } from './a-payment.js';
export {
  describePaymentStore,
  paymentStoreContract,
  type PaymentStoreCheck,
  type PaymentStoreSource,
  type TestRunner,
} from './payment-store-contract.js';
export { TestClock } from './test-clock.js';
