import { isKnownState, type PaymentState, rowOf } from './payment-state.js';

/**
 * Why a payment is in its state.
 *
 * - `declined`: the issuer or the gateway declined; `code` and `message` say how.
 * - `refused`: the gateway refused the request itself (wrong credentials, bad field, rate limit).
 * - `not_sent`: proven that nothing left; safe to try again.
 * - `no_answer`: sent, but no readable answer came.
 * - `unreadable`: an answer came that could not be read as one.
 * - `server_error`: the gateway answered with an HTTP status that does not say whether money moved.
 * - `indeterminate_code`: a code that does not say whether money moved.
 * - `unrecognised_code`: a code that no list knows.
 * - `approval_variant`: a partial or conditional approval.
 * - `codes_disagree`, `conversation_mismatch`, `amount_mismatch`, `currency_mismatch`, `sign_mismatch`: an approval
 *   that contradicts the request or itself.
 * - `unbound`: Auth3d was approved, but the answer does not name this payment (its conversationId and amount), so that it
 *   may be about another one; what the payment shows of the answer may be another's, too. The gateway is asked where it
 *   can be.
 * - `reference_taken`: another payment of the same reference holds it; nothing was sent. The order may well be paid by
 *   that one: look before cancelling it.
 * - `vetoed`: `beforeAuth3d` said no; nothing was sent.
 * - `interrupted`: the process that was charging died; the gateway will be asked.
 * - `moved_after_all`: recorded as failed or expired, but the gateway showed that money moved.
 * - `not_found`: the gateway said twice that it does not know this payment.
 * - `operator`: settled by `resolve`.
 */
export type PaymentReason =
  | 'declined'
  | 'refused'
  | 'not_sent'
  | 'no_answer'
  | 'unreadable'
  | 'server_error'
  | 'indeterminate_code'
  | 'unrecognised_code'
  | 'approval_variant'
  | 'codes_disagree'
  | 'conversation_mismatch'
  | 'amount_mismatch'
  | 'currency_mismatch'
  | 'sign_mismatch'
  | 'unbound'
  | 'reference_taken'
  | 'vetoed'
  | 'interrupted'
  | 'moved_after_all'
  | 'not_found'
  | 'operator';

const PAYMENT_KINDS = ['direct', '3d'] as const;

/** `direct`: one DoPayment. `3d`: Init3d, the issuer's page, Auth3d. */
export type PaymentKind = (typeof PAYMENT_KINDS)[number];

/** What the module reports of a payment. It never holds a full card number, an expiry, a security code or a page. */
export class Payment {
  /** The id this attempt has at the gateway. One per attempt, never used again. */
  readonly conversationId!: string;
  /** The merchant account it belongs to: `default`, or the `name` given to `PaymentModule.forRoot`. */
  readonly account!: string;
  /** The merchant's own id, an order number for example. At most one attempt of it can succeed. */
  readonly reference!: string | null;
  readonly kind!: PaymentKind;
  readonly state!: PaymentState;
  /** True for `succeeded`, `failed` and `expired`: an outcome that can be acted upon. */
  readonly settled!: boolean;
  /** False when the outcome is known but could not be written to the store yet; the module keeps trying. */
  readonly stored!: boolean;
  /** Why it is in this state, where the state alone does not say. */
  readonly reason!: PaymentReason | null;
  /** What was asked, in major units as canonical decimal text: `149.90`. */
  readonly amount!: string;
  /** ISO 4217 numeric code: 949 is the Turkish lira. */
  readonly currencyCode!: number;
  readonly installmentCount!: number;
  /** What the gateway says it took, in major units as decimal text; null where it took nothing or does not say. */
  readonly chargedAmount!: string | null;
  /** The gateway's result code (`B0000` is an approval), null while there is none. */
  readonly code!: string | null;
  /** The gateway's result text without long numbers. For people; never decide on it. */
  readonly message!: string | null;
  readonly orderId!: string | null;
  readonly paymentId!: string | null;
  readonly bankUniqueReferenceNumber!: string | null;
  readonly authCode!: string | null;
  /** The gateway's date and time, text as received. */
  readonly transactionDate!: string | null;
  /**
   * `transactionDate` read by the option `dateOrder`, in Turkish time (UTC+3, unverified); null where it cannot be
   * read.
   */
  readonly transactionAt!: Date | null;
  /** First six and last four digits at most, of the card that was sent. */
  readonly maskedCardNumber!: string | null;
  /** Commission rate of the payment facilitator, decimal text. */
  readonly commissionRate!: string | null;
  /** Commission in major units, decimal text. */
  readonly commissionAmount!: string | null;
  readonly createdAt!: Date;
  readonly updatedAt!: Date;
  /** When it was settled; null while it is not. */
  readonly finalizedAt!: Date | null;
  /** Grows by one with every change. */
  readonly version!: number;

  constructor(fields: Payment) {
    Object.assign(this, fields);
  }
}

/** A payment that is known to be in one of these states. */
export type PaymentIn<S extends PaymentState> = S extends unknown ? Payment & { readonly state: S } : never;

/** A payment as it is stored: what a `Payment` shows, and what only the store and the background work need. */
export interface PaymentRecord extends Omit<Payment, 'settled' | 'stored'> {
  /**
   * SHA-256 of the callback token, lowercase hex; null for direct payments and for own return URLs without `{token}`.
   */
  readonly tokenHash: string | null;
  readonly idempotencyKey: string | null;
  /** The `reference` while this payment holds it: at most one payment of an account can. */
  readonly referenceLock: string | null;
  /**
   * True once it is proven that this payment was charged while another one held the `reference`. The lock of the
   * reference then has no owner, and is never released. Kept by every later change; absent otherwise.
   */
  readonly pinsReference?: boolean;
  /**
   * Random text where the host chose the conversationId, null where the module made it; absent in records of
   * releases that did not write it. A conversationId that the module did not make stays taken for a while after a purge,
   * and could be used again after that: this text ends the payment's event ids, so that those differ even then.
   */
  readonly hostIdNonce?: string | null;
  /** Whether the merchant said that this reference may be charged more than once. */
  readonly allowRepeat: boolean;
  /** When the 3D session ends; null for direct payments. */
  readonly expiresAt: Date | null;
  /** When the background work next looks at it; null for never. A lease moves this ahead. */
  readonly dueAt: Date | null;
  /**
   * Random: which attempt wrote the opening, or later the claim. Whoever lost the store's word on its own write knows
   * it again by this, and leaves another's alone.
   */
  readonly attemptId: string;
  /** How often the gateway was asked for the outcome (CheckPayment). */
  readonly inquiries: number;
  /** When the gateway first said that it does not know this payment; null while it has not. */
  readonly notFoundAt: Date | null;
  /** What the operator said when resolving it. */
  readonly note: string | null;
  /** Who made the last change, where a person did and said who; null otherwise. Absent from records of older releases. */
  readonly by?: string | null;
  /**
   * W3C trace context of what began a 3D payment, so that the trace of the bank's callback links to it. Absent where
   * nothing was traced; a store may leave it out.
   */
  readonly traceparent?: string;
}

/** One line of a payment's history: what it was from `at` on, and why. */
export interface PaymentHistoryEntry {
  readonly version: number;
  readonly state: PaymentState;
  readonly reason: PaymentReason | null;
  readonly code: string | null;
  readonly note: string | null;
  /** Who resolved it, as given to `resolve`; null where nobody did, or did not say. */
  readonly by: string | null;
  readonly at: Date;
}

/** The public view of a record: named field by field, so that nothing a store adds ever gets out. */
export function toPayment(record: PaymentRecord, stored = true): Payment {
  return new Payment({
    conversationId: record.conversationId,
    account: record.account,
    reference: record.reference,
    kind: record.kind,
    state: record.state,
    settled: isKnown(record) && rowOf(record.state).settled,
    stored,
    reason: record.reason,
    amount: record.amount,
    currencyCode: record.currencyCode,
    installmentCount: record.installmentCount,
    chargedAmount: record.chargedAmount,
    code: record.code,
    message: record.message,
    orderId: record.orderId,
    paymentId: record.paymentId,
    bankUniqueReferenceNumber: record.bankUniqueReferenceNumber,
    authCode: record.authCode,
    transactionDate: record.transactionDate,
    transactionAt: record.transactionAt,
    maskedCardNumber: record.maskedCardNumber,
    commissionRate: record.commissionRate,
    commissionAmount: record.commissionAmount,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    finalizedAt: record.finalizedAt,
    version: record.version,
  });
}

/**
 * Whether this release knows its state and kind. One that a newer release wrote, which runs beside this one, is shown as
 * waiting and left to that release.
 */
export function isKnown({ state, kind }: Pick<PaymentRecord, 'state' | 'kind'>): boolean {
  return isKnownState(state) && PAYMENT_KINDS.includes(kind);
}
