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
} from './payment-health.indicator.js';
