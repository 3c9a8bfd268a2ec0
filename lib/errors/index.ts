export {
  type CallbackRefusal,
  type ConfigurationProblem,
  PaymentCallbackError,
  PaymentConfigurationError,
  PaymentDuplicateError,
  PaymentError,
  PaymentHostedError,
  PaymentInit3dError,
  PaymentNotFoundError,
  PaymentNotSentError,
  PaymentOverloadError,
  PaymentRefundError,
  PaymentShutdownError,
  PaymentStateError,
  PaymentStoreError,
  PaymentUnsupportedError,
  type RefundRefusal,
} from './payment-errors.js';
export * from './payment-validation.error.js';
export type { PaymentErrorBody } from './error-answer.js';
export * from './payment-exception.filter.js';
export { escapeHtml } from './buyer-page.js';
