/** The attributes of a span or a measurement: never a card, a token, a secret or the merchant's reference. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** The fields of a payment or refund that spans and metrics show. */
export interface SeenPayment {
  readonly conversationId: string;
  /** Of a refund. */
  readonly refundId?: string;
  readonly account: string;
  readonly kind: string;
  readonly state: string;
  readonly reason: string | null;
  readonly code: string | null;
}

/** For spans only: with these attributes, metrics would have a series for each payment. */
export function paymentAttributes(payment: SeenPayment): Attributes {
  const { conversationId, refundId, account, kind, state, reason, code } = payment;
  return {
    'card_payment.conversation_id': conversationId,
    ...(refundId !== undefined && { 'card_payment.refund_id': refundId }),
    'card_payment.account': account,
    'card_payment.kind': kind,
    'card_payment.state': state,
    ...(reason !== null && { 'card_payment.reason': reason }),
    ...(code !== null && { 'card_payment.code': code }),
  };
}

/** The stable code of an error of this module; `other` for any other error. */
export function errorType(error: unknown): string {
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^PAYMENT_[A-Z0-9_]{1,40}$/.test(code) ? code : 'other';
}
