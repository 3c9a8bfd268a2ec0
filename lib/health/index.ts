export {
  type PaymentHealthDetails,
  PaymentHealthIndicator,
  type PaymentHealthLimits,
  type PaymentHealthResult,
  type RefundHealthDetails,
} from './payment-health.indicator.js';
