import { PaymentCallbackError } from '../errors/payment-errors.js';
import { gatherObjects } from '../gateway/dialects/callback-objects.js';
import type { CallbackFields, GatewayDialect } from '../gateway/gateway-dialect.js';
import type { PaymentRecord } from '../payment/payment.js';
import { callbackField, hasCallbackValue } from './callback-fields.js';

/** What a dialect says of callbacks. */
export type CallbackRules = Pick<GatewayDialect, 'callbackIdField' | 'callbackObjectFields' | 'requiredCallbackFields'>;

/**
 * Whether what the bank sent can be about this payment. It decides nothing about the outcome: the Auth3d reply does.
 *
 * @throws PaymentCallbackError when it cannot
 */
export function checkCallback(fields: CallbackFields, payment: PaymentRecord, rules: CallbackRules): void {
  const gathered = gatherObjects(fields, rules.callbackObjectFields);
  const { requiredCallbackFields: required } = rules;
  const isComplete = required.every((name) => hasCallbackValue(gathered, name)) && Object.keys(gathered).length > 0;
  if (!isComplete) throw new PaymentCallbackError('missing_field');
  const conversationId = callbackField(fields, rules.callbackIdField);
  if (conversationId !== null && conversationId !== payment.conversationId) {
    throw new PaymentCallbackError('foreign_payment');
  }
}
