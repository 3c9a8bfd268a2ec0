import { PaymentCallbackError } from '../errors/payment-callback.error.js';
import type { CallbackFields } from '../gateway/gateway-dialect.js';
import { withInstrumentDetail } from '../gateway/dialects/instrument-detail.js';
import type { PaymentRecord } from '../payment/payment.js';
import { callbackField, hasCallbackField } from './callback-fields.js';

/**
 * Whether what the bank sent can be about this payment. It decides nothing about the outcome: the Auth3d reply does.
 * @throws PaymentCallbackError when it cannot
 */
export function checkCallback(fields: CallbackFields, payment: PaymentRecord, required: readonly string[]): void {
  const gathered = withInstrumentDetail(fields);
  const isComplete = required.every((name) => hasCallbackField(gathered, name)) && Object.keys(gathered).length > 0;
  if (!isComplete) throw new PaymentCallbackError('missing_field');
  const conversationId = callbackField(fields, 'conversationId');
  if (conversationId !== null && conversationId !== payment.conversationId) {
    throw new PaymentCallbackError('foreign_payment');
  }
}
