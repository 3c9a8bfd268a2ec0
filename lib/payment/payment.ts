import { isKnownState, type LedgerState, type PaymentState, factsOf } from './states.js';

/**
 * Why a payment is in its state.
 *
 * - `declined`: the issuer or the gateway declined; `code` and `message` say why.
 * - `refused`: the gateway refused the request itself (wrong credentials, bad field, rate limit).
 * - `not_sent`: it is certain that nothing was sent; safe to try again.
 * - `no_answer`: the request may have been sent, and no answer came that can be read.
 * - `unreadable`: an answer came, but could not be read.
 * - `server_error`: the gateway answered with an HTTP status that does not say whether money moved.
 * - `indeterminate_code`: a code that does not say whether money moved.
 * - `unrecognised_code`: a code that is in none of the dialect's sets.
 * - `approval_variant`: a partial or conditional approval.
 * - `codes_disagree`, `conversation_mismatch`, `amount_mismatch`, `currency_mismatch`, `sign_mismatch`: an approval
 *   that contradicts the request or itself.
 * - `unbound`: Auth3d was approved, but the answer does not name this payment (its conversationId and amount). It may
 *   be about another payment, and so may what this payment shows of the answer. The gateway is asked, if it has
 *   CheckPayment.
 * - `reference_taken`: when the buyer came back from the bank, another payment held the order; nothing was sent.
 * - `vetoed`: `beforeAuth3d` refused; nothing was sent.
 * - `interrupted`: the process ended during the request; the gateway will be asked.
 * - `moved_after_all`: recorded as failed or expired, but the gateway showed that money moved.
 * - `not_found`: the gateway said twice that it does not know this payment.
 * - `abandoned`: `abandon` was called, and the gateway said that nothing was paid at its page.
 * - `operator`: settled by `resolve` or `resolveRefund`.
 * - `recorded`: a refund made at the gateway's own panel, written down by `recordRefund`.
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
  | 'abandoned'
  | 'operator'
  | 'recorded';

export const PAYMENT_KINDS = ['direct', '3d', 'hosted'] as const;
const REFUND_KINDS = ['refund', 'void'] as const;

/** `direct`: one DoPayment. `3d`: Init3d, the issuer's page, Auth3d. `hosted`: at the gateway's own page. */
export type PaymentKind = (typeof PAYMENT_KINDS)[number];

/** `refund`: money given back, wholly or in part. `void`: the whole sale called off, before it is settled. */
export type RefundKind = (typeof REFUND_KINDS)[number];

/** What the module shows of a payment. It never holds a full card number, an expiry, a security code or a page. */
export class Payment {
  /** The gateway's id for this attempt. Each attempt has its own, which is never used again. */
  readonly conversationId!: string;
  /** The merchant account: `default`, or the `name` given to `PaymentModule.forRoot`. */
  readonly account!: string;
  /** The merchant's own id, such as an order number. At most one attempt with it can succeed. */
  readonly reference!: string | null;
  /** Whether the merchant said that this reference may be charged more than once: it then holds no order. */
  readonly allowRepeat!: boolean;
  readonly kind!: PaymentKind;
  readonly state!: PaymentState;
  /** True for `succeeded`, `failed` and `expired`: an outcome that can be acted upon. */
  readonly settled!: boolean;
  /** False if the outcome is known but could not be written to the store yet. The module keeps trying. */
  readonly stored!: boolean;
  /** Why it is in this state, if the state alone does not say. */
  readonly reason!: PaymentReason | null;
  /** What was requested, in major units as canonical decimal text: `149.90`. */
  readonly amount!: string;
  /** ISO 4217 numeric code: 949 is the Turkish lira. */
  readonly currencyCode!: number;
  readonly installmentCount!: number;
  /** What the gateway says that it took, in major units as decimal text; null if it took nothing or does not say. */
  readonly chargedAmount!: string | null;
  /** The gateway's result code (`B0000` is an approval); null if there is none. */
  readonly code!: string | null;
  /** The gateway's result text, its digits masked. For people only: never make a decision based on it. */
  readonly message!: string | null;
  readonly orderId!: string | null;
  readonly paymentId!: string | null;
  readonly bankUniqueReferenceNumber!: string | null;
  readonly authCode!: string | null;
  /** The gateway's date and time, text as received. */
  readonly transactionDate!: string | null;
  /** `transactionDate`, read by the option `dateOrder` as Turkish time (unverified); null if it cannot be read. */
  readonly transactionAt!: Date | null;
  /** At most the first six and the last four digits of the card that was sent; null if it was typed at the gateway. */
  readonly maskedCardNumber!: string | null;
  /** Commission rate of the payment facilitator, decimal text. */
  readonly commissionRate!: string | null;
  /** Commission in major units, decimal text. */
  readonly commissionAmount!: string | null;
  readonly createdAt!: Date;
  readonly updatedAt!: Date;
  /** When it was settled; null until then. */
  readonly finalizedAt!: Date | null;
  /** Grows by one with every change. */
  readonly version!: number;

  constructor(fields: Payment) {
    Object.assign(this, fields);
  }
}

/** A payment in one of these states, for the type checker. */
export type PaymentIn<S extends PaymentState> = S extends unknown ? Payment & { readonly state: S } : never;

/**
 * A record of the ledger: what a `Payment` shows, and what only the module itself needs.
 *
 * A refund is a record, too, which is told by its `parentId`. Its `conversationId` is the refundId, and its `reference`
 * that of its payment.
 */
export interface PaymentRecord extends Omit<Payment, 'settled' | 'stored' | 'kind' | 'state'> {
  readonly kind: PaymentKind | RefundKind;
  readonly state: LedgerState;
  /** Of a refund: the conversationId of its payment. Absent in payments. */
  readonly parentId?: string;
  /** SHA-256 of the callback token, in lowercase hex; null for direct payments and return URLs without `{token}`. */
  readonly tokenHash: string | null;
  readonly idempotencyKey: string | null;
  /**
   * The `reference` while this payment holds it: at most one payment of an account can. Of a refund: the `parentId`
   * while it locks its payment, which at most one refund can.
   */
  readonly referenceLock: string | null;
  /**
   * True once it is certain that this payment was charged while another one held the `reference`. The reference then
   * stays taken, with no owner, and is never released. Every later change keeps this; absent otherwise.
   */
  readonly pinsReference?: boolean;
  /**
   * Random text if the host chose the conversationId, null if the module made it. A host may use its conversationId
   * again, some time after the payment was purged. This text is part of the event ids, so that they differ even then.
   */
  readonly hostIdNonce: string | null;
  /**
   * The gateway at which it was made, by {@link gatewayIdOf}: only that one is asked about it. Null or absent in
   * records of older releases. A refund has that of its payment.
   */
  readonly gateway?: string | null;
  /** When the 3D session or the gateway's own page ends; null for direct payments, and before there is a page. */
  readonly expiresAt: Date | null;
  /** When the background work looks at it next; null for never. A lease moves this ahead. */
  readonly dueAt: Date | null;
  /**
   * Random id of the attempt that opened the payment or, later, claimed it. A process whose write was not confirmed
   * finds out by this whether the stored record is its own, and leaves another's alone.
   */
  readonly attemptId: string;
  /**
   * Where the gateway's own page is, until the payment is settled, so that starting again leads to the same page. It
   * lets its holder pay: it is shown nowhere else. Absent for other kinds and for an embedded form.
   */
  readonly redirectUrl?: string;
  /** How often the gateway was asked for the outcome (CheckPayment). */
  readonly inquiries: number;
  /**
   * When the gateway first said that it does not know this payment or, of a page whose time is over, that it was not
   * paid; null while it has not.
   */
  readonly notFoundAt: Date | null;
  /** The operator's note, as given to `resolve`. */
  readonly note: string | null;
  /** The person who made the last change, if one did and gave a name; null otherwise. */
  readonly by: string | null;
  /**
   * True while the ids or the amount that it shows may be another payment's: the answer that they come from named
   * another payment, contradicted this one, or had to name this one and did not. Absent or false otherwise.
   */
  readonly isUnproven?: boolean;
  /**
   * Of a refund: its payment as it was when the refund was asked for, as JSON. Absent in payments.
   */
  readonly sale?: string;
  /**
   * W3C trace context of the start of a 3D payment, to which the trace of the bank's callback links. Absent without
   * tracing; a store may leave it out.
   */
  readonly traceparent?: string;
}

/** What a record shows of the gateway's answer before there is one. */
export const UNANSWERED = {
  chargedAmount: null,
  code: null,
  message: null,
  orderId: null,
  paymentId: null,
  bankUniqueReferenceNumber: null,
  authCode: null,
  transactionDate: null,
  transactionAt: null,
  commissionRate: null,
  commissionAmount: null,
} as const satisfies Partial<PaymentRecord>;

/** One version in a payment's history: its state since `at`, and why. */
export interface PaymentHistoryEntry {
  readonly version: number;
  readonly state: LedgerState;
  readonly reason: PaymentReason | null;
  readonly code: string | null;
  readonly note: string | null;
  /** Who resolved it, as given to `resolve`; null if nobody did, or gave no name. */
  readonly by: string | null;
  readonly at: Date;
}

/**
 * The public view of a payment's record. It copies each field by name, so that a field added by a store is not shown.
 */
export function toPayment(record: PaymentRecord, stored = true): Payment {
  return new Payment({
    conversationId: record.conversationId,
    account: record.account,
    reference: record.reference,
    allowRepeat: record.allowRepeat,
    kind: record.kind as PaymentKind,
    state: record.state as PaymentState,
    settled: isKnown(record) && factsOf(record.state).settled,
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
 * Whether this release knows the state and the kind of a record. A newer release that runs at the same time may write
 * others. A payment with one of those is shown as waiting, and left to that release.
 */
export function isKnown({ state, kind }: Pick<PaymentRecord, 'state' | 'kind'>): boolean {
  return isKnownState(state) && [...PAYMENT_KINDS, ...REFUND_KINDS].includes(kind);
}

/** Whether a record is a refund or a void. */
export function isRefund({ parentId }: Pick<PaymentRecord, 'parentId'>): boolean {
  return parentId !== undefined;
}
