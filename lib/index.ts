/**
 * The module, `PaymentService`, what it takes and returns, its errors, and what a dialect of your own needs.
 *
 * @packageDocumentation
 */

export { PaymentModule } from './payment.module.js';
export { PaymentService } from './payment.service.js';
export { PaymentSimulator } from './payment.simulator.js';
export {
  type DeliveryListQuery,
  type OperationsCounts,
  type OperationsDelivery,
  type OperationsHistoryEntry,
  type PaymentListQuery,
  PaymentOperations,
  type RefundListQuery,
  type StaffMember,
  type StaffPage,
  type StaffResolveOptions,
} from './flows/staff.js';
export {
  InjectPayment,
  InjectPaymentOperations,
  PAYMENT_HTTP,
  paymentHealthToken,
  paymentHttpToken,
  paymentOperationsToken,
  paymentSimulatorToken,
  paymentToken,
} from './payment.tokens.js';

export type {
  CallbackStructure,
  PaymentOptions,
  PaymentOptionsFactory,
  PaymentStructure,
} from './options/payment-options.js';
export type { ResultUrl } from './options/option-kinds.js';

export {
  Payment,
  type PaymentHistoryEntry,
  type PaymentIn,
  type PaymentKind,
  type RefundKind,
} from './payment/payment.js';
export { CardBin, CardInstallment, type CardType } from './payment/card-bin.js';
export { Refund, type RefundIn } from './payment/refund.js';
export { RefundTotals } from './payment/refund-totals.js';
export { RefundEvent, type RefundEventType } from './payment/refund-event.js';
export { PaymentClock, SystemClock } from './payment/clock.js';
export type { TextLanguage, Translations } from './payment/text-language.js';
export type { PaymentReason } from './payment/payment.js';
export type { ReconcileCounts } from './flows/background/reconciler.js';
export { EUR, GBP, TRY, USD } from './payment/currency.js';
export {
  EVENT_STATES,
  type LedgerState,
  type Mover,
  PAYMENT_STATES,
  type PaymentEventState,
  type PaymentState,
  REFUND_EVENT_STATES,
  type RefundEventState,
  type RefundState,
  type StateRow,
  UNSETTLED_STATES,
  type UnsettledState,
} from './payment/payment-state.js';
export { PaymentHealth, type PaymentHealthReport } from './health/payment-health.js';
export type { LongRun } from './outbox/handler-worker.js';
export type { Init3dStart } from './flows/three-d-flow.js';
export type { HostedStart } from './flows/hosted-flow.js';
export type { ResolveOptions } from './flows/operator-flow.js';

export type { BinSale } from './dto/check-bin.dto.js';
export * from './dto/index.js';
export * from './errors/index.js';

export { PaymentEvent, type PaymentEventType } from './payment/payment-event.js';
export {
  OnPayment,
  type OnPaymentDecorator,
  type OnPaymentOptions,
  OnRefund,
  type OnRefundDecorator,
} from './outbox/on-payment.decorator.js';

export { PaymentCallback, PaymentCallbackGuard } from './callback/payment-callback.guard.js';
export { BANK_PAGE_HEADERS } from './payment/bank-page-headers.js';
export { BankPage } from './callback/bank-page.decorator.js';
export { ReceivedCallback } from './callback/callback-receiver.js';

export { type MorposDialectOptions, morposDialect } from './gateway/dialects/morpos.dialect.js';
export { type StandardDialectOptions, standardDialect } from './gateway/dialects/standard.dialect.js';
export { newConversationId } from './payment/randomness.js';
export type {
  Auth3dRequest,
  BinRequest,
  BinResult,
  CallbackFields,
  DecidingField,
  DialectOperation,
  DialectOperations,
  GatewayCredentials,
  GatewayDialect,
  GatewayOperation,
  GatewayResult,
  HostedRequest,
  HostedResult,
  Init3dResult,
  InquiryResult,
  InstallmentRow,
  RefundRequest,
  SaleRequest,
  SignContext,
  Signer,
} from './gateway/gateway-dialect.js';
export { ReplyFields } from './gateway/readings/reply-fields.js';
export type { AmountCheck } from './gateway/gateway-dialect.js';
export type { ResultCodeSets } from './gateway/gateway-dialect.js';
export { type CodeExplanation, DEFAULT_CODE_SETS, explainCode, type RetryAdvice } from './gateway/result-codes.js';
export { type SignedFields, WireDecimal, type WireObject, type WireValue } from './gateway/wire-body.js';

export { MemoryPaymentStore } from './store/memory/memory-payment-store.js';
export type { StateCount, StoreCounts } from './store/payment-store.js';
