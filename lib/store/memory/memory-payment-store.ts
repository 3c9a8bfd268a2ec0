import { type PaymentClock, SystemClock } from '../../runtime/clock.js';
import { Hidden } from '../../runtime/hidden.js';
import { eventOfVersion, type LedgerEvent, type LedgerEventType } from '../../payment/payment-event.js';
import { ALL_STATES, type LedgerState, factsOf, UNSETTLED_STATES } from '../../payment/states.js';
import { isRefund, type PaymentHistoryEntry, type PaymentRecord } from '../../payment/payment.js';
import {
  type Delivery,
  type DeliveryLeaseRequest,
  type DeliveryPage,
  type DeliveryPlace,
  type HandlerPair,
  type LeasedDelivery,
  type LeaseRequest,
  type ListPage,
  MAX_SETTLED_COUNT,
  MAX_WAIT_MS,
  PAIR_ALIVE_MS,
  type PaymentStore,
  type Postponement,
  type PurgeCounts,
  type RecordType,
  type ReplaceOutcome,
  type ReplayOutcome,
  type Retention,
  type SettledPage,
  type StateCount,
  STORE_MARK,
  type StoreCounts,
  type RefusedKey,
} from '../payment-store.js';
import { copyRecord, historyEntryOf, versionOf } from '../record-json.js';
import { byBytes, byCreation, byTime, takeInTurns } from '../order.js';
import { keyName, nameChange, namesOf, plainName } from '../unique-names.js';

/** When there are more purged names, the oldest are forgotten, so that memory use has a limit. */
const MAX_PURGED_NAMES = 100_000;

interface StoredRecord {
  record: PaymentRecord;
  readonly versions: { readonly record: PaymentRecord; readonly type: LedgerEventType | null }[];
  readonly refunds: StoredRecord[];
  /** With what waits to be fanned out. */
  readonly deliveries: Set<StoredDelivery>;
}

/** Who has a name: null for a lock that nobody releases, or when the record was purged. */
interface Owner {
  readonly conversationId: string | null;
  readonly purgedAt: Date | null;
}

interface StoredPair extends HandlerPair {
  readonly announcedAt: Date;
}

interface StoredDelivery extends HandlerPair {
  /** Empty while the event waits to be fanned out. */
  readonly handlerId: string;
  readonly eventId: string;
  /** The record that the event is of, and its version. */
  readonly of: StoredRecord;
  readonly version: PaymentRecord;
  attempts: number;
  parked: boolean;
  error: string | null;
  lease: string | null;
  dueAt: Date;
}

/** What is kept of one account. */
class Account {
  readonly records = new Map<string, StoredRecord>();
  readonly names = new Map<string, Owner>();
  readonly byReference = new Map<string | null, Set<StoredRecord>>();
  /** Those that have a `dueAt`. */
  readonly due = new Set<StoredRecord>();
  readonly pairs = new Map<string, StoredPair>();
  readonly deliveries = new Map<string, StoredDelivery>();
  /** Those of each handler and type, parked ones, too, in the order in which they came. */
  private readonly byPair = new Map<string, Set<StoredDelivery>>();

  /** Sets what a record is now; null for one that is purged. */
  set(stored: StoredRecord, next: PaymentRecord | null): void {
    const { conversationId, reference } = stored.record;
    if (next) this.records.set(conversationId, stored);
    else this.records.delete(conversationId);
    if (next?.dueAt) this.due.add(stored);
    else this.due.delete(stored);
    if (next?.reference !== reference) this.forgetReference(stored);
    if (!next) return;
    stored.record = next;
    const others = this.byReference.get(next.reference) ?? new Set();
    this.byReference.set(next.reference, others.add(stored));
  }

  /** A reference without any record is not kept: there may be one for each record that ever was. */
  private forgetReference(stored: StoredRecord): void {
    const { reference } = stored.record;
    const others = this.byReference.get(reference);
    if (others?.delete(stored) && others.size === 0) this.byReference.delete(reference);
  }

  add(one: StoredDelivery): void {
    this.deliveries.set(deliveryId(one.handlerId, one.eventId), one);
    one.of.deliveries.add(one);
    const others = this.byPair.get(keyOf(one)) ?? new Set();
    this.byPair.set(keyOf(one), others.add(one));
  }

  remove(one: StoredDelivery): void {
    this.deliveries.delete(deliveryId(one.handlerId, one.eventId));
    one.of.deliveries.delete(one);
    this.byPair.get(keyOf(one))?.delete(one);
  }

  deliveriesOf(pair: HandlerPair): Iterable<StoredDelivery> {
    return this.byPair.get(keyOf(pair)) ?? [];
  }

  handlersOf(type: LedgerEventType): string[] {
    return [...this.pairs.values()].filter((pair) => pair.type === type).map(({ handlerId }) => handlerId);
  }

  isAlive(pair: HandlerPair, now: Date): boolean {
    const { announcedAt } = this.pairs.get(keyOf(pair)) ?? {};
    return announcedAt !== undefined && announcedAt.getTime() > now.getTime() - PAIR_ALIVE_MS;
  }
}

export interface MemoryStoreOptions {
  /** Where the store's time comes from: this process's clock, unless a test gives its own. */
  readonly clock?: PaymentClock;
}

/**
 * Keeps payments in the memory of this process: they are gone when it ends, and no other process sees them. For tests
 * and first steps; give it to the option `store`. It remembers the last 100,000 idempotency keys and conversationIds of
 * purged payments.
 */
export class MemoryPaymentStore implements PaymentStore {
  readonly [STORE_MARK] = true;
  /** The record of a page holds its address, so `inspect` must not show it. */
  private readonly accounts = new Hidden(new Map<string, Account>());
  private readonly clock: PaymentClock;

  constructor({ clock = new SystemClock() }: MemoryStoreOptions = {}) {
    this.clock = clock;
  }

  open(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  now(): Promise<Date> {
    return Promise.resolve(this.clock.now());
  }

  insert(record: PaymentRecord, event?: LedgerEvent): Promise<RefusedKey | null> {
    const account = this.of(record.account);
    const parent = record.parentId === undefined ? null : account.records.get(record.parentId);
    if (parent === undefined || (parent && isRefund(parent.record))) return Promise.resolve('parentId');
    if (account.records.has(record.conversationId)) return Promise.resolve('conversationId');
    const names = namesOf(record, plainName);
    for (const [name, key] of names) if (account.names.has(name)) return Promise.resolve(key);
    for (const name of names.keys()) setOwner(account, name, record.conversationId);
    const stored: StoredRecord = { record, versions: [], refunds: [], deliveries: new Set() };
    parent?.refunds.push(stored);
    this.write(account, stored, record, event);
    return Promise.resolve(null);
  }

  replace(next: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const account = this.of(next.account);
    const { conversationId: id } = next;
    const stored = account.records.get(id);
    if (stored?.record.version !== previous.version) return Promise.resolve('stale');
    const { released, taken, pinned } = nameChange(next, previous, plainName);
    const other = taken.find((name) => account.names.has(name));
    if (other !== undefined) {
      const key = namesOf(next, plainName).get(other);
      if (key === 'referenceLock') return Promise.resolve('locked');
      return Promise.reject(new Error(`Another payment has this ${key}.`));
    }
    for (const name of released) if (account.names.get(name)?.conversationId === id) account.names.delete(name);
    for (const name of taken) setOwner(account, name, id);
    if (pinned !== null) setOwner(account, pinned, null);
    this.write(account, stored, next, event);
    return Promise.resolve('replaced');
  }

  find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    const record = this.of(account).records.get(conversationId)?.record;
    return Promise.resolve(record ? copyRecord(record) : null);
  }

  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return this.find(account, this.owner(account, plainName('token', tokenHash))?.conversationId ?? '');
  }

  findByIdempotencyKey(
    account: string,
    type: RecordType,
    idempotencyKey: string,
  ): Promise<PaymentRecord | 'purged' | null> {
    return this.findByName(account, keyName(plainName, type, idempotencyKey));
  }

  findByReferenceLock(account: string, reference: string): Promise<PaymentRecord | 'purged' | null> {
    return this.findByName(account, plainName('lock', reference));
  }

  isHeld(account: string, reference: string, unless: readonly LedgerState[]): Promise<boolean> {
    const isLocked = this.owner(account, plainName('lock', reference)) !== undefined;
    const payments = this.records(account, 'payment', { reference });
    return Promise.resolve(isLocked || payments.some(({ state }) => !unless.includes(state)));
  }

  findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return Promise.resolve(
      this.records(account, 'payment', { reference })
        .sort((one, other) => byTime(one.createdAt, other.createdAt))
        .map(copyRecord),
    );
  }

  findRefunds(account: string, conversationId: string): Promise<PaymentRecord[]> {
    return Promise.resolve(
      this.refundsOf(this.of(account).records.get(conversationId))
        .map(({ record }) => record)
        .sort((one, other) => byTime(one.createdAt, other.createdAt))
        .map(copyRecord),
    );
  }

  list({ account, type, states, reference, after, limit }: ListPage): Promise<PaymentRecord[]> {
    const records = this.records(account, type, { states, reference });
    const found = records.filter((record) => !after || byCreation(record, after) < 0);
    return Promise.resolve(
      found
        .sort((one, other) => byCreation(other, one))
        .slice(0, limit)
        .map(copyRecord),
    );
  }

  listSettled({ account, from, to, after, limit }: SettledPage): Promise<PaymentRecord[]> {
    const compare = (one: Pick<PaymentRecord, 'finalizedAt' | 'conversationId'>, other: typeof one) =>
      byTime(one.finalizedAt, other.finalizedAt) || byBytes(one.conversationId, other.conversationId);
    const found = this.all(account).filter(
      (record) =>
        record.finalizedAt !== null &&
        record.finalizedAt >= from &&
        record.finalizedAt < to &&
        (!after || compare(record, after) > 0),
    );
    return Promise.resolve(found.sort(compare).slice(0, limit).map(copyRecord));
  }

  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    const versions = this.of(account).records.get(conversationId)?.versions ?? [];
    return Promise.resolve(versions.map(({ record }) => historyEntryOf(copyRecord(record))));
  }

  leaseDue({ account, leaseMs, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    const [{ due }, now] = [this.of(account), this.clock.now()];
    const found = [...due].filter(({ record }) => record.dueAt! <= now);
    const leased = found.sort((one, other) => byTime(one.record.dueAt, other.record.dueAt)).slice(0, limit);
    for (const stored of leased) stored.record = { ...stored.record, dueAt: this.fromNow(leaseMs) };
    return Promise.resolve(leased.map(({ record }) => copyRecord(record)));
  }

  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    const stored = this.of(account).records.get(conversationId);
    if (stored?.record.version === version) {
      this.of(account).set(stored, { ...stored.record, dueAt: new Date(dueAt) });
    }
    return Promise.resolve();
  }

  announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    const announcedAt = this.clock.now();
    for (const pair of pairs) this.of(account).pairs.set(keyOf(pair), { ...pair, announcedAt });
    return Promise.resolve();
  }

  fanOut(accountName: string, limit: number): Promise<number> {
    const account = this.of(accountName);
    const types = new Set(Array.from(account.pairs.values(), ({ type }) => type));
    const waiting = [...types].flatMap((type) => firstOf(account.deliveriesOf({ handlerId: '', type }), limit));
    const events = takeInTurns(waiting, limit);
    for (const event of events) {
      account.remove(event);
      for (const handlerId of account.handlersOf(event.type)) {
        account.add({ ...event, handlerId, dueAt: this.clock.now() });
      }
    }
    return Promise.resolve(events.length);
  }

  leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    const [account, now] = [this.of(request.account), this.clock.now()];
    const { handlerId, types, lease, leaseMs, limit } = request;
    const isDue = (one: StoredDelivery) => !one.parked && one.dueAt <= now && types.includes(one.type);
    const isBlocking = (one: StoredDelivery) =>
      !one.parked &&
      (one.handlerId === handlerId || one.handlerId === '') &&
      (account.isAlive({ handlerId, type: one.type }, now) ||
        (one.handlerId !== '' && (one.dueAt > now ? one.lease !== null : isDue(one))));
    const isFirst = ({ of, version }: StoredDelivery) =>
      ![...of.deliveries].some((one) => one.version.version < version.version && isBlocking(one));
    const open = [...new Set(types)].flatMap((type) => [...account.deliveriesOf({ handlerId, type })]);
    const due = open.filter((one) => isDue(one)).sort(byDue);
    const leased = firstOf(due, limit, isFirst);
    for (const one of leased) Object.assign(one, { lease, dueAt: this.fromNow(leaseMs) });
    return Promise.resolve(leased.map(shown));
  }

  renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean> {
    return Promise.resolve(this.changeLeased(delivery, { dueAt: this.fromNow(leaseMs) }));
  }

  acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    const acknowledged = this.of(account).deliveries.get(deliveryId(handlerId, eventId));
    if (acknowledged) this.of(account).remove(acknowledged);
    return Promise.resolve();
  }

  postpone(delivery: LeasedDelivery, { attempts, error, retryInMs, parked }: Postponement): Promise<void> {
    const dueAt = this.fromNow(retryInMs);
    this.changeLeased(delivery, { attempts, error, parked, lease: null, dueAt });
    return Promise.resolve();
  }

  listDeliveries({ account, parked, ids, after, limit }: DeliveryPage): Promise<Delivery[]> {
    const found = [...this.of(account).deliveries.values()].filter(
      (one) =>
        one.handlerId !== '' &&
        one.parked === parked &&
        (!ids || ids.includes(one.version.conversationId)) &&
        (!after || comparePlaces(placeOf(one), after) > 0),
    );
    found.sort((one, other) => comparePlaces(placeOf(one), placeOf(other)));
    return Promise.resolve(found.slice(0, limit).map(shown));
  }

  replay(accountName: string, handlerId: string, eventId: string): Promise<ReplayOutcome> {
    const account = this.of(accountName);
    const parked = account.deliveries.get(deliveryId(handlerId, eventId));
    if (!parked?.parked) return Promise.resolve('absent');
    Object.assign(parked, { parked: false, attempts: 0, error: null, dueAt: this.clock.now() });
    const { version, of } = parked;
    const pending = [...of.deliveries].filter((one) => one.handlerId === handlerId || one.handlerId === '');
    const isOvertaken = of.versions.some(
      ({ record, type }) =>
        type !== null &&
        record.version > version.version &&
        account.pairs.has(keyOf({ handlerId, type })) &&
        !pending.some((one) => one.version === record),
    );
    return Promise.resolve(isOvertaken ? 'overtaken' : 'replayed');
  }

  purge(accountName: string, { paymentsMs, pairsMs, keysMs }: Retention): Promise<PurgeCounts> {
    const account = this.of(accountName);
    this.forgetPairs(account, this.fromNow(-pairsMs));
    this.forgetNames(account, this.fromNow(-keysMs));
    const counts = { payments: 0, events: 0, unheard: 0 };
    if (paymentsMs === null) return Promise.resolve(counts);
    const [before, latest] = [this.fromNow(-paymentsMs), this.fromNow(-MAX_WAIT_MS)];
    const isOwed = ({ handlerId, type, version }: StoredDelivery) =>
      handlerId !== '' || account.handlersOf(type).length > 0 || version.updatedAt > latest;
    const isNeeded = ({ record: { finalizedAt }, deliveries }: StoredRecord) =>
      finalizedAt === null || finalizedAt >= before || [...deliveries].some(isOwed);
    for (const payment of account.records.values()) {
      const records = [payment, ...this.refundsOf(payment)];
      if (isRefund(payment.record) || payment.record.dueAt !== null || records.some(isNeeded)) continue;
      counts.payments += 1;
      for (const stored of records) {
        counts.unheard += stored.deliveries.size;
        counts.events += this.delete(account, stored);
      }
    }
    return Promise.resolve(counts);
  }

  counts(accountName: string): Promise<StoreCounts> {
    const [account, now] = [this.of(accountName), this.clock.now()];
    const all = [...account.deliveries.values()];
    const parked = all.filter((one) => one.parked);
    const open = all.filter((one) => one.handlerId !== '' && !one.parked);
    return Promise.resolve({
      states: this.countStates(accountName, 'payment'),
      refunds: this.countStates(accountName, 'refund'),
      waitingEvents: all.length - open.length - parked.length,
      openDeliveries: open.length,
      parkedDeliveries: parked.length,
      orphanedDeliveries: open.filter((one) => !account.isAlive(one, now)).length,
    });
  }

  private countStates(account: string, type: RecordType): StoreCounts['states'] {
    const all = this.records(account, type).sort(byCreation);
    const states = ALL_STATES.map((state): [LedgerState, StateCount] => {
      const found = all.filter((record) => record.state === state);
      const counted = factsOf(state).settled ? found.slice(0, MAX_SETTLED_COUNT) : found;
      const [oldest] = counted.map(({ updatedAt }) => updatedAt).sort(byTime);
      return [state, { count: counted.length, oldest: oldest ? new Date(oldest) : null }];
    });
    return Object.fromEntries(states) as StoreCounts['states'];
  }

  otherGateways(account: string, own: readonly string[]): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    const unsettled: readonly string[] = UNSETTLED_STATES;
    for (const { gateway, state } of this.all(account)) {
      if (unsettled.includes(state) && gateway && !own.includes(gateway)) counts[gateway] = (counts[gateway] ?? 0) + 1;
    }
    return Promise.resolve(counts);
  }

  /** Writes a version of a record, whose names it has, and its event. */
  private write(account: Account, stored: StoredRecord, next: PaymentRecord, event: LedgerEvent | undefined): void {
    account.set(stored, copyRecord(next));
    const version = versionOf(copyRecord(next));
    stored.versions.push({ record: version, type: event?.type ?? null });
    if (!event) return;
    const { eventId, type } = event;
    const unleased = { attempts: 0, parked: false, error: null, lease: null, dueAt: this.clock.now() };
    account.add({ handlerId: '', eventId, type, of: stored, version, ...unleased });
  }

  /** @returns how many events the record had */
  private delete(account: Account, stored: StoredRecord): number {
    for (const [name, key] of namesOf(stored.record, plainName)) {
      if (key === 'tokenHash') account.names.delete(name);
      else setOwner(account, name, null, key === 'referenceLock' ? null : this.clock.now());
    }
    for (const one of stored.deliveries) account.remove(one);
    account.set(stored, null);
    return stored.versions.filter(({ type }) => type !== null).length;
  }

  private forgetPairs(account: Account, before: Date): void {
    for (const [key, { announcedAt }] of account.pairs) {
      if (announcedAt >= before) continue;
      account.pairs.delete(key);
      for (const one of account.deliveries.values()) if (keyOf(one) === key) account.remove(one);
    }
  }

  private forgetNames({ names }: Account, before: Date): void {
    const purged = [...names].filter(([, { purgedAt }]) => purgedAt !== null);
    purged.forEach(([name, { purgedAt }], index) => {
      if (purgedAt! < before || index < purged.length - MAX_PURGED_NAMES) names.delete(name);
    });
  }

  /** @returns whether there is a delivery under this lease */
  private changeLeased({ account, handlerId, eventId, lease }: LeasedDelivery, to: Partial<StoredDelivery>): boolean {
    const stored = this.of(account).deliveries.get(deliveryId(handlerId, eventId));
    if (stored?.lease !== lease) return false;
    Object.assign(stored, to);
    return true;
  }

  private all(account: string): PaymentRecord[] {
    return Array.from(this.of(account).records.values(), ({ record }) => record);
  }

  private records(
    account: string,
    type: RecordType,
    { states, reference }: Pick<ListPage, 'states' | 'reference'> = {},
  ): PaymentRecord[] {
    const { records, byReference } = this.of(account);
    const some = reference === undefined ? records.values() : (byReference.get(reference) ?? []);
    const found = Array.from(some, ({ record }) => record);
    return found.filter((one) => isRefund(one) === (type === 'refund') && (!states || states.includes(one.state)));
  }

  private refundsOf(payment: StoredRecord | undefined): readonly StoredRecord[] {
    return payment?.refunds ?? [];
  }

  private async findByName(account: string, name: string): Promise<PaymentRecord | 'purged' | null> {
    const owner = this.owner(account, name);
    if (!owner) return null;
    return owner.conversationId === null ? 'purged' : this.find(account, owner.conversationId);
  }

  private owner(account: string, name: string): Owner | undefined {
    return this.of(account).names.get(name);
  }

  private fromNow(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }

  private of(name: string): Account {
    const accounts = this.accounts.reveal();
    const account = accounts.get(name) ?? new Account();
    accounts.set(name, account);
    return account;
  }
}

/** No type has a space in it. */
function keyOf({ handlerId, type }: HandlerPair): string {
  return `${type} ${handlerId}`;
}

/** Unambiguous, whatever texts the two are. */
function deliveryId(handlerId: string, eventId: string): string {
  return `${handlerId.length} ${handlerId}${eventId}`;
}

/** The first ones that fit, at most so many. The others are not looked at. */
function firstOf<Item>(items: Iterable<Item>, limit: number, fits: (item: Item) => boolean = () => true): Item[] {
  const found: Item[] = [];
  for (const item of items) {
    if (found.length === limit) break;
    if (fits(item)) found.push(item);
  }
  return found;
}

function byDue(one: StoredDelivery, other: StoredDelivery): number {
  return (
    byTime(one.dueAt, other.dueAt) ||
    one.version.version - other.version.version ||
    Number(one.eventId > other.eventId) - Number(one.eventId < other.eventId)
  );
}

function setOwner(account: Account, name: string, conversationId: string | null, purgedAt: Date | null = null): void {
  // The last to be purged is the last one in the map.
  if (purgedAt) account.names.delete(name);
  account.names.set(name, { conversationId, purgedAt });
}

function shown({ handlerId, version, attempts, parked, error, dueAt }: StoredDelivery): Delivery {
  const event = eventOfVersion(copyRecord(version));
  return { account: version.account, handlerId, event, attempts, parked, error, dueAt: new Date(dueAt) };
}

function placeOf({ version, eventId, handlerId }: StoredDelivery): DeliveryPlace {
  return { occurredAt: version.updatedAt, eventId, handlerId };
}

function comparePlaces(one: DeliveryPlace, other: DeliveryPlace): number {
  return (
    byTime(one.occurredAt, other.occurredAt) ||
    byBytes(one.eventId, other.eventId) ||
    byBytes(one.handlerId, other.handlerId)
  );
}
