/**
 * The module, `PaymentService`, what it takes and returns, its errors, and what a dialect of your own needs.
 *
 * @packageDocumentation
 */

import './runtime/node-version.js';

export { PaymentModule } from './payment.module.js';
export { PaymentService } from './payment.service.js';
export { PaymentSimulator } from './module/payment-simulator.js';
export {
  type DeliveryListQuery,
  type OperationsCounts,
  type OperationsDelivery,
  type OperationsHistoryEntry,
  type PaymentListQuery,
  PaymentOperations,
  type RefundListQuery,
  type StaffMember,
  type StaffResolveOptions,
} from './operations/staff.js';
export type { StaffPage } from './operations/pages.js';
export type { PaymentAct, PaymentDetails, RefundAct, RefundDetails } from './operations/payment-details.js';
export {
  InjectPayment,
  InjectPaymentOperations,
  PAYMENT_HTTP,
  paymentHealthToken,
  paymentHttpToken,
  paymentOperationsToken,
  paymentSimulatorToken,
  paymentToken,
} from './module/tokens.js';

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
export { Refund, type RefundIn, RefundTotals } from './payment/refund.js';
export { RefundEvent, type RefundEventType } from './payment/payment-event.js';
export { PaymentClock, SystemClock } from './runtime/clock.js';
export type { TextLanguage, Translations } from './runtime/text-language.js';
export type { PaymentReason } from './payment/payment.js';
export type { ReconcileCounts } from './reconciler/reconciler.js';
export { EUR, fromMinorUnits, GBP, toMinorUnits, TRY, USD } from './payment/amount.js';
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
} from './payment/states.js';
export { PaymentHealth, type PaymentHealthReport } from './health/payment-health.js';
export type { LongRun } from './events/handler-worker.js';
export type { Init3dStart } from './operations/three-d.js';
export type { HostedStart } from './operations/hosted.js';
export type { ResolveOptions } from './operations/resolution.js';

export type { BinSale } from './dto/card.dto.js';
export * from './dto/index.js';
export * from './errors/index.js';

export { PaymentEvent, type PaymentEventType } from './payment/payment-event.js';
export {
  type HandlerDecorator,
  OnPayment,
  type OnPaymentDecorator,
  type OnPaymentOptions,
  OnRefund,
  type OnRefundDecorator,
} from './events/on-payment.decorator.js';

export { PaymentCallback, PaymentCallbackGuard } from './http/callback.controller.js';
export { BANK_PAGE_HEADERS, BankPage, type BankPageDecorator } from './http/bank-page.js';
export { ReceivedCallback } from './http/callback-receiver.js';
export { escapeHtml } from './runtime/html.js';
export * from './http/payment-exception.filter.js';
export { paymentValidationPipe, type PaymentValidationPipeOptions } from './http/payment-validation.pipe.js';

export { type MorposDialectOptions, morposDialect } from './gateway/dialects/morpos.dialect.js';
export { type StandardDialectOptions, standardDialect } from './gateway/dialects/standard.dialect.js';
export { newConversationId } from './runtime/randomness.js';
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
