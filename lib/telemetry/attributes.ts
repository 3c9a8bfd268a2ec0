/** What a span or a measurement says: never a card, a token, a secret or the merchant's reference. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** As much of a payment as spans and metrics say. */
export interface SeenPayment {
  readonly conversationId: string;
  readonly account: string;
  readonly kind: string;
  readonly state: string;
  readonly reason: string | null;
  readonly code: string | null;
}

/** For spans: metrics must not have a value of their own for each payment. */
export function paymentAttributes({ conversationId, account, kind, state, reason, code }: SeenPayment): Attributes {
  return {
    'card_payment.conversation_id': conversationId,
    'card_payment.account': account,
    'card_payment.kind': kind,
    'card_payment.state': state,
    ...(reason !== null && { 'card_payment.reason': reason }),
    ...(code !== null && { 'card_payment.code': code }),
  };
}

/** The stable code of an error of this module; of any other no more than that it was one. */
export function errorType(error: unknown): string {
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^PAYMENT_[A-Z0-9_]{1,40}$/.test(code) ? code : 'other';
}
