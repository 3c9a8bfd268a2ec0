import { isKnown, type PaymentRecord, type PaymentReason } from './payment.js';
import { type PaymentState, rowOf, isBeforeMoney } from './payment-state.js';

/**
 * What may change along with the state; what is left out stays, but for `reason`, `dueAt` and `by`, which are null unless
 * given, and the idempotencyKey, which is given back where no money can move ({@link freesKey}).
 */
export type PaymentChange = Partial<
  Omit<
    PaymentRecord,
    | 'state'
    | 'version'
    | 'account'
    | 'conversationId'
    | 'kind'
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
 * The record one version on, in its new state. The same state is allowed, but for `succeeded`: something about it
 * became known.
 */
export function advance(record: PaymentRecord, state: PaymentState, change: PaymentChange, now: Date): PaymentRecord {
  const isSame = state === record.state && state !== 'succeeded';
  if (!isKnown(record) || (!isSame && !(state in rowOf(record.state).to))) {
    throw new Error(`A payment cannot go from ${record.state} to ${state}.`);
  }
  return {
    ...record,
    reason: null,
    dueAt: null,
    by: null,
    ...change,
    state,
    idempotencyKey: freesKey(record.state, state, change.reason ?? null) ? null : record.idempotencyKey,
    referenceLock: referenceLockIn(state, record),
    finalizedAt: rowOf(state).settled ? (isSame ? record.finalizedAt : now) : null,
    updatedAt: now,
    version: record.version + 1,
  };
}

/**
 * The one way back, which is no transition: a claim that the store did not confirm, and under which nothing was sent,
 * is withdrawn as if it had never been granted. The version goes up all the same, so that a claim which still lands
 * comes too late.
 */
export function withdrawClaim(record: PaymentRecord, now: Date): PaymentRecord {
  if (record.state !== 'authorizing') throw new Error(`A payment that is ${record.state} has no claim to withdraw.`);
  return advance({ ...record, state: 'awaiting' }, 'awaiting', { dueAt: record.expiresAt }, now);
}

/** The reference that a payment in this state holds, if it holds one. What it has pinned has no owner. */
export function referenceLockIn(
  state: PaymentState,
  { reference, allowRepeat, pinsReference = false }: Pick<PaymentRecord, 'reference' | 'allowRepeat' | 'pinsReference'>,
): string | null {
  return rowOf(state).holdsReference && !allowRepeat && !pinsReference ? reference : null;
}

/**
 * The record of a payment that was charged although another payment holds its reference. Both may have been charged, so
 * neither may release the reference when it ends: it stays taken, whatever becomes of them.
 */
export function pinReference(record: PaymentRecord): PaymentRecord {
  return { ...record, referenceLock: null, pinsReference: true };
}

/** The reference whose lock has no owner any more because of this payment, if there is one. */
export function pinnedReferenceOf({
  reference,
  pinsReference = false,
}: Pick<PaymentRecord, 'reference' | 'pinsReference'>): string | null {
  return pinsReference ? reference : null;
}

/** Why nothing was sent that can move money, whatever the state. */
const NOTHING_SENT: ReadonlySet<PaymentReason> = new Set(['not_sent', 'reference_taken', 'vetoed']);

/**
 * Whether a payment that ends so gives its idempotencyKey back: no money can move, so that "try again" under the same key
 * is a new payment. One that DoPayment or Auth3d was called for keeps its key.
 */
export function freesKey(from: PaymentState, to: PaymentState, reason: PaymentReason | null): boolean {
  if (to !== 'failed' && to !== 'expired') return false;
  return isBeforeMoney(from) || (reason !== null && NOTHING_SENT.has(reason));
}
