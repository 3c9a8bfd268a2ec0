import { createHash } from 'node:crypto';
import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import { type LedgerState, ALL_STATES } from '../../payment/payment-state.js';
import { pinnedReferenceOf } from '../../payment/transitions.js';
import type {
  ListPage,
  ListPlace,
  SettledPage,
  SettledPlace,
  StateCount,
  StoreCounts,
  UniqueKey,
} from '../payment-store.js';
import { copyRecord, historyEntryOf } from '../record-json.js';
import { byDate, DueQueue } from './due-queue.js';

interface StoredPayment {
  record: PaymentRecord;
  readonly history: PaymentHistoryEntry[];
}

type SettledRecord = PaymentRecord & SettledPlace;

type PurgedKey = 'idempotencyKey' | 'conversationId';

const NULLABLE_KEYS = ['idempotencyKey', 'tokenHash', 'referenceLock'] as const satisfies UniqueKey[];

const NO_PAYMENTS: StateCount = { count: 0, oldest: null };

/** When there are more, the oldest is forgotten, so that memory use has a limit. */
const MAX_PURGED_KEYS = 100_000;

/** The ledger of one account: its payments and the keys they hold. It takes and returns copies. */
export class AccountLedger {
  private readonly payments = new Map<string, StoredPayment>();
  /** The conversationId that holds each value of a key; '' if the lock has no owner and is never released. */
  private readonly holders = {
    idempotencyKey: new Map<string, string>(),
    tokenHash: new Map<string, string>(),
    referenceLock: new Map<string, string>(),
  };
  private readonly purgedKeys = new PurgedKeys();
  private readonly byReference = new Map<string, Set<string>>();
  private readonly due = new DueQueue();

  find(conversationId: string): PaymentRecord | null {
    const payment = this.payments.get(conversationId);
    return payment ? copyRecord(payment.record) : null;
  }

  findByTokenHash(tokenHash: string): PaymentRecord | null {
    return this.find(this.holders.tokenHash.get(tokenHash) ?? '');
  }

  findByIdempotencyKey(key: string): PaymentRecord | 'purged' | null {
    return this.purgedKeys.has('idempotencyKey', key)
      ? 'purged'
      : this.find(this.holders.idempotencyKey.get(key) ?? '');
  }

  ofReference(reference: string): PaymentRecord[] {
    const found = this.records(this.byReference.get(reference) ?? []);
    return found.sort(byDate((record) => record.createdAt)).map(copyRecord);
  }

  /** The conversationIds of a reference, which for refunds is their payment. */
  idsOf(reference: string): readonly string[] {
    return [...(this.byReference.get(reference) ?? [])];
  }

  isSettled(conversationId: string): boolean {
    return (this.payments.get(conversationId)?.record.finalizedAt ?? null) !== null;
  }

  inStates(states: readonly LedgerState[], limit: number): PaymentRecord[] {
    const found = this.records(this.payments.keys()).filter((record) => states.includes(record.state));
    return found
      .sort(byDate((record) => record.createdAt))
      .slice(0, limit)
      .map(copyRecord);
  }

  list({ states, reference, after, limit }: ListPage): PaymentRecord[] {
    const found = this.records(reference === undefined ? this.payments.keys() : this.idsOf(reference)).filter(
      (record) => (states?.includes(record.state) ?? true) && (after === null || compareNewest(record, after) > 0),
    );
    return found.sort(compareNewest).slice(0, limit).map(copyRecord);
  }

  settled({ from, to, after, limit }: SettledPage): PaymentRecord[] {
    const found = this.records(this.payments.keys()).filter(
      (record): record is SettledRecord =>
        record.finalizedAt !== null &&
        record.finalizedAt >= from &&
        record.finalizedAt < to &&
        (after === null || comparePlaces(record as SettledRecord, after) > 0),
    );
    return found.sort(comparePlaces).slice(0, limit).map(copyRecord);
  }

  history(conversationId: string): PaymentHistoryEntry[] {
    const history = this.payments.get(conversationId)?.history ?? [];
    return history.map((entry) => ({ ...entry, at: new Date(entry.at) }));
  }

  /** Whether a payment has the conversationId of this new one, or had it and was purged. */
  isIdTaken({ conversationId, hostIdNonce }: PaymentRecord): boolean {
    const isHostId = typeof hostIdNonce === 'string';
    return this.payments.has(conversationId) || (isHostId && this.purgedKeys.has('conversationId', conversationId));
  }

  version(conversationId: string): number | undefined {
    return this.payments.get(conversationId)?.record.version;
  }

  /** The first key of the record that another payment holds. */
  takenKey(record: PaymentRecord): Exclude<UniqueKey, 'conversationId'> | undefined {
    const { idempotencyKey } = record;
    if (idempotencyKey !== null && this.purgedKeys.has('idempotencyKey', idempotencyKey)) return 'idempotencyKey';
    return NULLABLE_KEYS.find((key) => {
      const holder = record[key] === null ? undefined : this.holders[key].get(record[key]);
      return holder !== undefined && holder !== record.conversationId;
    });
  }

  /** Writes a new or changed record with its line of history. */
  write(record: PaymentRecord): void {
    const { conversationId, reference } = record;
    const payment = this.payments.get(conversationId) ?? { record, history: [] };
    this.releaseKeys(payment.record, record);
    for (const key of NULLABLE_KEYS) if (record[key] !== null) this.holders[key].set(record[key], conversationId);
    const pinned = pinnedReferenceOf(record);
    if (pinned !== null) this.holders.referenceLock.set(pinned, '');
    this.removeFromReference(payment.record);
    if (reference !== null) {
      this.byReference.set(reference, (this.byReference.get(reference) ?? new Set()).add(conversationId));
    }
    payment.record = copyRecord(record);
    payment.history.push(historyEntryOf(payment.record));
    this.payments.set(conversationId, payment);
    this.schedule(conversationId, record.dueAt);
  }

  /** Takes the payments that are due, the longest due first, and makes them due again at `until`. */
  leaseDue(now: Date, until: Date, limit: number): PaymentRecord[] {
    const due: string[] = [];
    while (due.length < limit) {
      const next = this.due.take(now);
      if (next === undefined) break;
      due.push(next);
    }
    for (const conversationId of due) this.setDueAt(conversationId, until);
    return this.records(due).map(copyRecord);
  }

  setDueAt(conversationId: string, dueAt: Date | null): void {
    const payment = this.payments.get(conversationId);
    if (!payment) return;
    payment.record = { ...payment.record, dueAt: dueAt && new Date(dueAt) };
    this.schedule(conversationId, dueAt);
  }

  /** The settled payments of before that are not due, now or later. */
  finalizedBefore(before: Date): string[] {
    return this.records(this.payments.keys())
      .filter(({ finalizedAt, dueAt }) => finalizedAt !== null && finalizedAt < before && dueAt === null)
      .map((record) => record.conversationId);
  }

  forgetKeysBefore(before: Date): void {
    this.purgedKeys.forgetBefore(before);
  }

  stateCounts(): StoreCounts['states'] {
    const counts = new Map<LedgerState, StateCount>();
    for (const { record } of this.payments.values()) {
      const { count, oldest } = counts.get(record.state) ?? NO_PAYMENTS;
      const isOlder = oldest === null || record.updatedAt < oldest;
      counts.set(record.state, { count: count + 1, oldest: isOlder ? new Date(record.updatedAt) : oldest });
    }
    const shown = ALL_STATES.map((state) => [state, counts.get(state) ?? NO_PAYMENTS]);
    return Object.fromEntries(shown) as StoreCounts['states'];
  }

  /** Deletes a payment. Its referenceLock stays taken, with no owner; its keys are remembered as hashes. */
  delete(conversationId: string, now: Date): void {
    const payment = this.payments.get(conversationId);
    if (!payment) return;
    const { record } = payment;
    this.releaseKeys(record, { idempotencyKey: null, tokenHash: null, referenceLock: record.referenceLock });
    if (record.idempotencyKey !== null) this.purgedKeys.add('idempotencyKey', record.idempotencyKey, now);
    if (record.hostIdNonce !== null) this.purgedKeys.add('conversationId', conversationId, now);
    if (record.referenceLock !== null) this.holders.referenceLock.set(record.referenceLock, '');
    this.removeFromReference(record);
    this.due.delete(conversationId);
    this.payments.delete(conversationId);
  }

  private schedule(conversationId: string, dueAt: Date | null): void {
    if (dueAt) this.due.set(conversationId, dueAt);
    else this.due.delete(conversationId);
  }

  private records(ids: Iterable<string>): PaymentRecord[] {
    return [...ids].flatMap((id) => this.payments.get(id)?.record ?? []);
  }

  /** Releases the keys that the record had and no longer has. */
  private releaseKeys(old: PaymentRecord, now: Pick<PaymentRecord, (typeof NULLABLE_KEYS)[number]>): void {
    for (const key of NULLABLE_KEYS) {
      const value = old[key];
      if (value === null || value === now[key]) continue;
      if (this.holders[key].get(value) === old.conversationId) this.holders[key].delete(value);
    }
  }

  private removeFromReference({ reference, conversationId }: PaymentRecord): void {
    if (reference === null) return;
    const payments = this.byReference.get(reference);
    payments?.delete(conversationId);
    if (payments?.size === 0) this.byReference.delete(reference);
  }
}

/** Hashes of the idempotency keys and conversationIds of purged payments, the oldest first. */
export class PurgedKeys {
  private readonly purgedAt = new Map<string, Date>();

  has(name: PurgedKey, value: string): boolean {
    return this.purgedAt.has(hashOf(name, value));
  }

  add(name: PurgedKey, value: string, now: Date): void {
    this.purgedAt.set(hashOf(name, value), now);
    const [oldest] = this.purgedAt.keys();
    if (this.purgedAt.size > MAX_PURGED_KEYS && oldest !== undefined) this.purgedAt.delete(oldest);
  }

  forgetBefore(before: Date): void {
    for (const [hash, purgedAt] of this.purgedAt) if (purgedAt < before) this.purgedAt.delete(hash);
  }
}

function comparePlaces(one: SettledPlace, other: SettledPlace): number {
  const difference = one.finalizedAt.getTime() - other.finalizedAt.getTime();
  return difference || Buffer.compare(Buffer.from(one.conversationId), Buffer.from(other.conversationId));
}

function compareNewest(one: ListPlace, other: ListPlace): number {
  const difference = other.createdAt.getTime() - one.createdAt.getTime();
  return difference || Buffer.compare(Buffer.from(other.conversationId), Buffer.from(one.conversationId));
}

function hashOf(name: PurgedKey, value: string): string {
  return `${name}:${createHash('sha256').update(value, 'utf8').digest('base64url')}`;
}
