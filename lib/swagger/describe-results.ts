import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { CARD_TYPES, CardBin, CardInstallment } from '../payment/card-bin.js';
import { Payment, PAYMENT_KINDS } from '../payment/payment.js';
import { REFUND_EVENT_STATES, REFUND_STATES, SALE_STATES } from '../payment/payment-state.js';
import { Refund } from '../payment/refund.js';
import { RefundEvent } from '../payment/refund-event.js';
import { RefundTotals } from '../payment/refund-totals.js';

const text = (description: string, example?: string): ApiPropertyOptions => ({ type: String, description, example });
const textOrNull = (description: string, example?: string): ApiPropertyOptions => ({
  ...text(description, example),
  nullable: true,
});
const date = (description: string): ApiPropertyOptions => ({ type: String, format: 'date-time', description });

/** Describes every field of a class: a missing or an extra one does not compile. */
type FieldsOf<T> = Readonly<Record<keyof T, ApiPropertyOptions>>;

const PAYMENT_FIELDS: FieldsOf<Payment> = {
  conversationId: text('The id of this attempt at the gateway.'),
  account: text('The merchant account.', 'default'),
  reference: textOrNull('The merchant’s own id.', 'order-1'),
  kind: {
    enum: [...PAYMENT_KINDS],
    description: '`direct`: one request. `3d`: by 3D Secure. `hosted`: at the gateway’s own page.',
  },
  state: { enum: [...SALE_STATES], description: '`unknown` is not a failure: do not pay again.' },
  settled: { type: Boolean, description: 'True for `succeeded`, `failed` and `expired`.' },
  stored: { type: Boolean, description: 'False while the outcome is known but not written yet.' },
  reason: textOrNull('Why it is in this state, if the state alone does not say.', 'declined'),
  amount: text('The amount asked, in major units.', '149.90'),
  currencyCode: { type: 'integer', description: 'ISO 4217, numeric.', example: 949 },
  installmentCount: { type: 'integer', description: 'How many instalments.', example: 1 },
  chargedAmount: textOrNull('The amount that the gateway says it took, in major units.', '149.90'),
  code: textOrNull('The gateway’s result code. For the merchant, not for the buyer.', 'B0000'),
  message: textOrNull('The gateway’s text. For the merchant, not for the buyer.'),
  orderId: textOrNull('The gateway’s id.'),
  paymentId: textOrNull('The gateway’s id.'),
  bankUniqueReferenceNumber: textOrNull('The bank’s id.'),
  authCode: textOrNull('The code of the authorization.'),
  transactionDate: textOrNull('The gateway’s date and time, as received.'),
  transactionAt: { ...date('`transactionDate` as a date.'), nullable: true },
  maskedCardNumber: textOrNull('First six and last four digits at most.', '450803******4509'),
  commissionRate: textOrNull('Commission rate of the payment facilitator.'),
  commissionAmount: textOrNull('Commission in major units.'),
  createdAt: date('When it was opened.'),
  updatedAt: date('When it last changed.'),
  finalizedAt: { ...date('When it was settled.'), nullable: true },
  version: { type: 'integer', description: 'Grows by one with every change.', example: 3 },
};

const REFUND_FIELDS: FieldsOf<Refund> = {
  refundId: text('The id of this refund or void at the gateway.'),
  conversationId: text('The payment whose money is given back.'),
  account: text('The merchant account.', 'default'),
  reference: textOrNull('The merchant’s own id of the payment.', 'order-1'),
  kind: { enum: ['refund', 'void'], description: '`refund`: a part or all. `void`: the whole sale called off.' },
  state: { enum: [...REFUND_STATES], description: '`unknown` is not a failure: do not refund again.' },
  settled: { type: Boolean, description: 'True for `succeeded` and `failed`.' },
  stored: { type: Boolean, description: 'False while the outcome is known but not written yet.' },
  reason: textOrNull('Why it is in this state, if the state alone does not say.', 'declined'),
  amount: text('What is given back, in major units.', '49.90'),
  currencyCode: { type: 'integer', description: 'ISO 4217, numeric.', example: 949 },
  code: textOrNull('The gateway’s result code.', 'B0000'),
  message: textOrNull('The gateway’s text. For people only.'),
  orderId: textOrNull('The gateway’s id.'),
  paymentId: textOrNull('The gateway’s id.'),
  bankUniqueReferenceNumber: textOrNull('The bank’s id.'),
  transactionDate: textOrNull('The gateway’s date and time, as received.'),
  transactionAt: { ...date('`transactionDate` as a date.'), nullable: true },
  note: textOrNull('Why, or how the outcome was found out.'),
  by: textOrNull('Who asked for it, or resolved it since.'),
  createdAt: date('When it was asked for.'),
  updatedAt: date('When it last changed.'),
  finalizedAt: { ...date('When it was settled.'), nullable: true },
  version: { type: 'integer', description: 'Grows by one with every change.', example: 2 },
};

const TOTALS_FIELDS: FieldsOf<RefundTotals> = {
  taken: text('What was taken, in major units; 0 if that is not proven.', '149.90'),
  refunded: text('What was given back; after a void, all that was taken.', '49.90'),
  open: text('What refunds without a known outcome may be giving back.', '0.00'),
  refundable: text('What is left to give back.', '100.00'),
};

const REFUND_EVENT_FIELDS: FieldsOf<RefundEvent> = {
  eventId: text('The same for every delivery of the event.'),
  type: {
    enum: REFUND_EVENT_STATES.map((state) => `refund.${state}`),
    description: '`refund.` and the state that was reached.',
  },
  refund: { type: () => Refund, description: 'The refund as it was when this happened.' },
  payment: { type: () => Payment, description: 'Its payment as it was when the refund was asked for.' },
  occurredAt: date('When it happened.'),
};

const INSTALLMENT_FIELDS: FieldsOf<CardInstallment> = {
  count: { type: 'integer', description: 'How many instalments; 1 is payment in full.', example: 3 },
  total: textOrNull('What the buyer pays in all, in major units.', '153.65'),
  fee: textOrNull('What of it goes beyond the price, in major units.', '3.75'),
};

const BIN_FIELDS: FieldsOf<CardBin> = {
  bin: text('The digits that were asked about.', '450803'),
  bank: textOrNull('The bank that issued the card.', 'Örnek Bankası'),
  type: { enum: [...CARD_TYPES], nullable: true, description: 'What kind of account the card draws on.' },
  brand: textOrNull('Visa, Mastercard, Troy, or the bank’s own card programme.', 'VISA'),
  commercial: { type: Boolean, nullable: true, description: 'Whether it is a company’s card.' },
  installments: {
    type: () => CardInstallment,
    isArray: true,
    nullable: true,
    description: 'In how many instalments it can pay; null if that is not known.',
  },
  code: textOrNull(
    'The gateway’s result code, or why there is no answer. For the merchant, not for the buyer.',
    'B0000',
  ),
  message: textOrNull('The gateway’s text, or what happened instead. For the merchant, not for the buyer.'),
};

/** Describes what the module gives to the merchant: payments, refunds, totals, events of refunds, and cards. */
export function describeResults(): void {
  describe(CardInstallment.prototype, INSTALLMENT_FIELDS);
  describe(CardBin.prototype, BIN_FIELDS);
  describe(Payment.prototype, PAYMENT_FIELDS);
  describe(Refund.prototype, REFUND_FIELDS);
  describe(RefundTotals.prototype, TOTALS_FIELDS);
  describe(RefundEvent.prototype, REFUND_EVENT_FIELDS);
}

function describe<T extends object>(prototype: T, fields: FieldsOf<T>): void {
  for (const [field, options] of Object.entries<ApiPropertyOptions>(fields)) ApiProperty(options)(prototype, field);
}
