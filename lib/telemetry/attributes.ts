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
