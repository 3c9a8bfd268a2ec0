import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Payment } from '../payment/payment.js';
import { ALL_STATES } from '../payment/payment-state.js';

const text = (description: string, example?: string): ApiPropertyOptions => ({ type: String, description, example });
const textOrNull = (description: string, example?: string): ApiPropertyOptions => ({
  ...text(description, example),
  nullable: true,
});
const date = (description: string): ApiPropertyOptions => ({ type: String, format: 'date-time', description });

/** A missing or an extra field does not compile. */
const FIELDS: Readonly<Record<keyof Payment, ApiPropertyOptions>> = {
  conversationId: text('The id of this attempt at the gateway.'),
  account: text('The merchant account.', 'default'),
  reference: textOrNull('The merchant’s own id.', 'order-1'),
  kind: { enum: ['direct', '3d'], description: '`direct`: one request. `3d`: by 3D Secure.' },
  state: { enum: [...ALL_STATES], description: '`unknown` is not a failure: do not pay again.' },
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

export function describePayment(): void {
  for (const [field, options] of Object.entries(FIELDS)) ApiProperty(options)(Payment.prototype, field);
}
