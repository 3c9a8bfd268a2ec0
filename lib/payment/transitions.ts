import { isKnown, isRefund, type PaymentRecord, type PaymentReason } from './payment.js';
import { isBeforeMoney, type LedgerState, factsOf } from './states.js';

/**
 * The fields that may change along with the state. A field that is left out stays as it is, except `reason`, `dueAt`
 * and, for a payment, `by`, which become null. A refund keeps who asked for it.
 */
export type PaymentChange = Partial<
  Omit<
    PaymentRecord,
    | 'state'
    | 'version'
    | 'account'
    | 'conversationId'
    | 'kind'
    | 'parentId'
    | 'sale'
    | 'createdAt'
    | 'updatedAt'
    | 'finalizedAt'
    | 'referenceLock'
    | 'pinsReference'
    | 'hostIdNonce'
    | 'idempotencyKey'
  >
>;

/**
 * The next version of a record, in its new state. That may be the same state, unless it is `succeeded`: then only the
 * other fields change. The idempotencyKey is released if no money can move ({@link freesKey}).
 */
export function advance(record: PaymentRecord, state: LedgerState, change: PaymentChange, now: Date): PaymentRecord {
  const isSame = state === record.state && state !== 'succeeded';
  if (!isKnown(record) || (!isSame && !(state in factsOf(record.state).to))) {
    throw new Error(`A payment cannot go from ${record.state} to ${state}.`);
  }
  return {
    ...record,
    reason: null,
    dueAt: null,
    by: isRefund(record) ? record.by : null,
    ...change,
    state,
    ...(record.redirectUrl !== undefined && factsOf(state).settled && { redirectUrl: undefined }),
    idempotencyKey: freesKey(record.state, state, change.reason ?? null) ? null : record.idempotencyKey,
    referenceLock: referenceLockIn(state, record),
    finalizedAt: factsOf(state).settled ? (isSame ? record.finalizedAt : now) : null,
    updatedAt: now,
    version: record.version + 1,
  };
}

/**
 * Withdraws a claim that the store did not confirm, and under which nothing was sent: the payment is `awaiting` again.
 * This is the only way back, and no transition. The version grows nevertheless, so that the unconfirmed write, should
 * the store apply it later, fails.
 */
export function withdrawClaim(record: PaymentRecord, now: Date): PaymentRecord {
  if (record.state !== 'authorizing') throw new Error(`A payment that is ${record.state} has no claim to withdraw.`);
  return advance({ ...record, state: 'awaiting' }, 'awaiting', { dueAt: record.expiresAt }, now);
}

/**
 * What a record in this state locks: a payment its reference, a refund its payment; null if it locks nothing. A pinned
 * reference has no owner.
 */
export function referenceLockIn(
  state: LedgerState,
  {
    kind,
    parentId,
    reference,
    allowRepeat,
    pinsReference = false,
  }: Pick<PaymentRecord, 'kind' | 'parentId' | 'reference' | 'allowRepeat' | 'pinsReference'>,
): string | null {
  const { holdsReference, holdsReferenceIf, holdsPayment } = factsOf(state);
  const isLocking = isRefund({ parentId }) ? holdsPayment : holdsReference || holdsReferenceIf === kind;
  return isLocking && !allowRepeat && !pinsReference ? (parentId ?? reference) : null;
}

/**
 * Whether a payment is in a state that holds its order, with or without the lock: one that has none may have paid the
 * order all the same.
 */
export function holdsOrder({ state, kind }: Pick<PaymentRecord, 'state' | 'kind'>): boolean {
  return referenceLockIn(state, { kind, reference: '', allowRepeat: false }) !== null;
}

/**
 * Marks a payment that was charged although another payment holds its reference. Both may have been charged, so the
 * reference stays taken, whatever the outcome of either.
 */
export function pinReference(record: PaymentRecord): PaymentRecord {
  return { ...record, referenceLock: null, pinsReference: true };
}

/**
 * A refund that turns out to have moved money while another one holds its payment. It goes on without the lock: it
 * counts as open by its state, and the payment must not stay locked for good.
 */
export function withoutLock(record: PaymentRecord): PaymentRecord {
  return { ...record, referenceLock: null, allowRepeat: true };
}

/** The reference that this payment has pinned, so that it has no owner any more; null if there is none. */
export function pinnedReferenceOf({
  reference,
  pinsReference = false,
}: Pick<PaymentRecord, 'reference' | 'pinsReference'>): string | null {
  return pinsReference ? reference : null;
}

/** With these reasons, no request was sent that can move money. */
const NOTHING_SENT: ReadonlySet<PaymentReason> = new Set(['not_sent', 'reference_taken', 'vetoed']);

/**
 * Whether a payment releases its idempotencyKey when it ends. It does if no money can move: trying again with the same
 * key is then a new payment. Once DoPayment or Auth3d was called, it keeps its key.
 */
function freesKey(from: LedgerState, to: LedgerState, reason: PaymentReason | null): boolean {
  if (to !== 'failed' && to !== 'expired') return false;
  return isBeforeMoney(from) || (reason !== null && NOTHING_SENT.has(reason));
}
