export { aPayment, aPaymentEvent, aPaymentRecord, aRefund, aRefundEvent } from './a-payment.js';
export {
  describePaymentStore,
  paymentStoreContract,
  type PaymentStoreCheck,
  type PaymentStoreSource,
  type TestRunner,
} from './payment-store-contract.js';
export { TestClock } from './test-clock.js';
