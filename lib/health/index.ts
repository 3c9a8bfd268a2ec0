/**
 * A health indicator for `@nestjs/terminus`.
 *
 * @packageDocumentation
 */

export {
  type PaymentHealthDetails,
  PaymentHealthIndicator,
  type PaymentHealthLimits,
  type PaymentHealthResult,
  type RefundHealthDetails,
} from './payment-health.indicator.js';
