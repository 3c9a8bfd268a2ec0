import { setImmediate } from 'node:timers/promises';
import type { PaymentClock } from '../../../lib/payment/clock.js';
import { merchantAccountOf, refundsAccountOf } from '../../../lib/payment/account.js';
import type { LedgerEvent, LedgerEventType } from '../../../lib/payment/ledger-event.js';
import { PaymentEvent } from '../../../lib/payment/payment-event.js';
import { EVENT_STATES, isKnownState, REFUND_EVENT_STATES, rowOf } from '../../../lib/payment/payment-state.js';
import { isRefund, type PaymentRecord } from '../../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../../lib/store/memory/memory-payment-store.js';
import type { ReplaceOutcome, UniqueKey } from '../../../lib/store/payment-ledger.js';
import type {
  Delivery,
  DeliveryLeaseRequest,
  HandlerPair,
  LeasedDelivery,
  Postponement,
} from '../../../lib/store/payment-outbox.js';
import type { PurgeCounts, Retention, StoreCounts } from '../../../lib/store/payment-store.js';

const ALL_TYPES: readonly LedgerEventType[] = [
  ...EVENT_STATES.map((state) => `payment.${state}` as const),
  ...REFUND_EVENT_STATES.map((state) => `refund.${state}` as const),
];

/** Reads the version, and writes a moment later, although the version may have changed. */
export class ReadThenWriteStore extends MemoryPaymentStore {
  override async replace(record: PaymentRecord, expectedVersion: number, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const version = async () => (await this.find(record.account, record.conversationId))?.version;
    if ((await version()) !== expectedVersion) return 'stale';
    await setImmediate();
    return super.replace(record, (await version()) ?? expectedVersion, event);
  }
}

/** Writes `unknown` without its event. */
export class LostOutboxRowStore extends MemoryPaymentStore {
  override async replace(record: PaymentRecord, expectedVersion: number, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const isKept = event?.type !== 'payment.unknown';
    return super.replace(record, expectedVersion, isKept ? event : undefined);
  }
}

/** Reads who holds the reference, and takes it a moment later, although another payment may have it by then. */
export class UnlockedReferenceStore extends MemoryPaymentStore {
  private readonly holders = new Map<string, string>();

  override async insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    if (await this.isTaken(record)) return 'referenceLock';
    return super.insert({ ...record, referenceLock: null }, event);
  }

  override async replace(record: PaymentRecord, expectedVersion: number, event?: LedgerEvent): Promise<ReplaceOutcome> {
    if (await this.isTaken(record)) return 'locked';
    return super.replace({ ...record, referenceLock: null }, expectedVersion, event);
  }

  private async isTaken({ account, conversationId, referenceLock }: PaymentRecord): Promise<boolean> {
    for (const [key, holder] of this.holders) if (holder === conversationId) this.holders.delete(key);
    if (referenceLock === null) return false;
    const key = `${account} ${referenceLock}`;
    const holder = this.holders.get(key);
    await setImmediate();
    this.holders.set(key, conversationId);
    return holder !== undefined && holder !== conversationId;
  }
}

/** Knows no pins: a payment is written without the reference that another one holds, and that is all. */
export class UnpinnedStore extends MemoryPaymentStore {
  override replace(record: PaymentRecord, expectedVersion: number, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const { pinsReference: _pinsReference, ...unpinned } = record;
    return super.replace(unpinned, expectedVersion, event);
  }
}

/** Looks whether the reference that is to be pinned is taken, and takes it if not: its holder may release it then. */
export class LooksBeforeItPinsStore extends MemoryPaymentStore {
  override async replace(record: PaymentRecord, expectedVersion: number, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const { pinsReference, ...unpinned } = record;
    if (!pinsReference) return super.replace(record, expectedVersion, event);
    const others = await this.findByReference(record.account, record.reference ?? '');
    const isHeld = others.some((other) => other.referenceLock !== null);
    await setImmediate();
    return super.replace(isHeld ? unpinned : record, expectedVersion, event);
  }
}

/** Forgets the conversationIds that hosts chose with their payments. */
export class ForgetsIdsStore extends MemoryPaymentStore {
  override insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    return super.insert({ ...record, hostIdNonce: null }, event);
  }
}

/** Looks whether a conversationId was a purged payment's, and writes the new payment a moment later. */
export class LooksForPurgedIdsStore extends MemoryPaymentStore {
  private readonly purged = new Set<string>();

  override async insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    if (this.purged.has(record.conversationId)) return 'conversationId';
    await setImmediate();
    return super.insert({ ...record, hostIdNonce: null }, event);
  }

  override async purge(account: string, retention: Retention): Promise<PurgeCounts> {
    const settled = await this.listByState(account, ['failed'], 100);
    const counts = await super.purge(account, retention);
    for (const { conversationId } of settled) {
      if (!(await this.find(account, conversationId))) this.purged.add(conversationId);
    }
    return counts;
  }
}

/** Goes by a clock of its own, whatever it is given; `now()` alone is right. */
export class OwnClockStore extends MemoryPaymentStore {
  constructor({ clock }: { readonly clock: PaymentClock }) {
    super();
    this.now = () => Promise.resolve(clock.now());
  }
}

/** Knows that a delivery is leased, but not by whom. */
export class AnyHolderStore extends MemoryPaymentStore {
  private readonly leases = new Map<string, string>();

  override async leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    const deliveries = await super.leaseDeliveries(request);
    for (const { handlerId, event } of deliveries) this.leases.set(`${handlerId} ${event.eventId}`, request.lease);
    return deliveries;
  }

  protected withItsLease(delivery: LeasedDelivery): LeasedDelivery {
    return { ...delivery, lease: this.leases.get(`${delivery.handlerId} ${delivery.eventId}`) ?? '' };
  }
}

/** Lets anyone renew a lease. */
export class AnyoneRenewsStore extends AnyHolderStore {
  override renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean> {
    return super.renewLease(this.withItsLease(delivery), leaseMs);
  }
}

/** Lets anyone postpone a delivery. */
export class AnyonePostponesStore extends AnyHolderStore {
  override postpone(delivery: LeasedDelivery, to: Postponement): Promise<void> {
    return super.postpone(this.withItsLease(delivery), to);
  }
}

/** Takes what a handler id announces as all that it takes from now on. */
export class ReplacingAnnouncementStore extends MemoryPaymentStore {
  private readonly announced = new Map<string, readonly HandlerPair[]>();

  override async announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    await super.announce(account, pairs);
    for (const { handlerId } of pairs) {
      const ofThis = pairs.filter((pair) => pair.handlerId === handlerId);
      this.announced.set(`${account} ${handlerId}`, ofThis);
    }
  }

  override leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    const known = this.announced.get(`${request.account} ${request.handlerId}`) ?? [];
    const types = request.types.filter((asked) => known.some(({ type }) => type === asked));
    return super.leaseDeliveries({ ...request, types });
  }
}

/** Fans out by a cursor over a sequence, and so skips what takes its number early and is written late. */
export class CursorFanOutStore extends MemoryPaymentStore {
  private numbers = 0;
  private written = 0;
  private cursor = 0;

  override async replace(record: PaymentRecord, expectedVersion: number, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const number = (this.numbers += 1);
    if (number % 2 === 1) await setImmediate();
    this.written = Math.max(this.written, number);
    return super.replace(record, expectedVersion, number > this.cursor ? event : undefined);
  }

  override fanOut(account: string, limit: number): Promise<number> {
    this.cursor = this.written;
    return super.fanOut(account, limit);
  }
}

/** Gives a handler whatever is due to its id. */
export class TypeBlindStore extends MemoryPaymentStore {
  override leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    return super.leaseDeliveries({ ...request, types: ALL_TYPES });
  }
}

/** Knows of pairs only once it fans out to them: until then, a purge deletes payments whose events wait for them. */
export class HastyPurgeStore extends MemoryPaymentStore {
  private readonly announcements: (() => Promise<void>)[] = [];

  override announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    this.announcements.push(() => super.announce(account, pairs));
    return Promise.resolve();
  }

  override async fanOut(account: string, limit: number): Promise<number> {
    for (const announce of this.announcements.splice(0)) await announce();
    return super.fanOut(account, limit);
  }
}

/** Forgets idempotency keys with their payments. */
export class ForgetfulStore extends MemoryPaymentStore {
  override async purge(account: string, retention: Retention): Promise<PurgeCounts> {
    const counts = await super.purge(account, retention);
    for (const one of [account, refundsAccountOf(account)]) {
      await super.purge(one, { ...retention, paymentsMs: null, keysMs: -1 });
    }
    return counts;
  }
}

/** Keeps a payment's events in order for each type of a handler by itself. */
export class OrderByPairStore extends MemoryPaymentStore {
  override announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    return super.announce(
      account,
      pairs.map(({ handlerId, type }) => ({ handlerId: `${handlerId} ${type}`, type })),
    );
  }

  override async leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    const { handlerId, types } = request;
    const leases = types.map((type) => super.leaseDeliveries({ ...request, handlerId: `${handlerId} ${type}` }));
    return (await Promise.all(leases)).flat().map((delivery) => ({ ...delivery, handlerId }));
  }

  override async acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    for (const type of ALL_TYPES) await super.acknowledge(account, `${handlerId} ${type}`, eventId);
  }
}

/** Lets a pair that is no longer announced delay later versions for ever. */
export class EverWaitingStore extends MemoryPaymentStore {
  private readonly announced: (() => Promise<void>)[] = [];

  override async announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    this.announced.push(() => super.announce(account, pairs));
    await super.announce(account, pairs);
  }

  override async leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    for (const announce of this.announced) await announce();
    return super.leaseDeliveries(request);
  }
}

/** Keeps refunds among the payments. */
export class OneAccountStore extends MemoryPaymentStore {
  constructor(options: { readonly clock: PaymentClock }) {
    super(options);
    const dataOf = this['dataOf'].bind(this);
    this['dataOf'] = (account) => dataOf(merchantAccountOf(account));
  }
}

/** Changes the records that it is given before it writes them. */
abstract class ChangingStore extends MemoryPaymentStore {
  protected abstract changed(record: PaymentRecord): PaymentRecord;

  override insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    return super.insert(this.changed(record), event);
  }

  override replace(record: PaymentRecord, expectedVersion: number, event?: LedgerEvent): Promise<ReplaceOutcome> {
    return super.replace(this.changed(record), expectedVersion, event);
  }
}

/** Writes the fields that a payment has, and so not the payment of a refund. */
export class WithoutSaleStore extends ChangingStore {
  protected override changed({ sale: _sale, ...record }: PaymentRecord): PaymentRecord {
    return record;
  }
}

/** Has room for the first 255 characters of a page's address. */
export class ShortAddressStore extends ChangingStore {
  protected override changed(record: PaymentRecord): PaymentRecord {
    return record.redirectUrl === undefined ? record : { ...record, redirectUrl: record.redirectUrl.slice(0, 255) };
  }
}

/** Takes what has ended for what is never due again. */
export class NeverDueAgainStore extends ChangingStore {
  protected override changed(record: PaymentRecord): PaymentRecord {
    return record.finalizedAt === null ? record : { ...record, dueAt: null };
  }
}

/** Locks a refund's payment in the states in which a payment locks its reference: `refunding` is none of them. */
export class SaleLocksStore extends ChangingStore {
  protected override changed(record: PaymentRecord): PaymentRecord {
    return isRefund(record) && !rowOf(record.state).holdsReference ? { ...record, referenceLock: null } : record;
  }
}

/** Never releases the lock of a refund's payment. */
export class EverLockedStore extends ChangingStore {
  protected override changed(record: PaymentRecord): PaymentRecord {
    return isRefund(record) ? { ...record, referenceLock: record.reference } : record;
  }
}

/** Takes a record in a state of a newer release for a settled one. */
export class OnlyItsStatesStore extends ChangingStore {
  protected override changed(record: PaymentRecord): PaymentRecord {
    return isKnownState(record.state) ? record : { ...record, finalizedAt: record.updatedAt };
  }
}

/** Gives the records of a reference in an order of its own. */
export class NewestFirstStore extends MemoryPaymentStore {
  override async findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return (await super.findByReference(account, reference)).reverse();
  }
}

/** Keeps of an event what a payment's event has, and takes it for one of that payment. */
export class WithoutRefundStore extends MemoryPaymentStore {
  override insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    return super.insert(record, event && paymentPartOf(event));
  }

  override replace(record: PaymentRecord, expectedVersion: number, event?: LedgerEvent): Promise<ReplaceOutcome> {
    return super.replace(record, expectedVersion, event && paymentPartOf(event));
  }
}

function paymentPartOf({ eventId, type, payment, occurredAt }: LedgerEvent): LedgerEvent {
  return new PaymentEvent({ eventId, type, payment, occurredAt } as PaymentEvent);
}

/** Gives a handler one event of a payment at a time, even where they are of several refunds. */
export class OrderByPaymentStore extends MemoryPaymentStore {
  override async leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    const leased = await super.leaseDeliveries(request);
    const payments = leased.map(({ event }) => event.payment.conversationId);
    return leased.filter((_delivery, index) => payments.indexOf(payments[index]!) === index);
  }
}

/** Counts the waiting events of payments alone. */
export class PaymentCountsStore extends MemoryPaymentStore {
  override async counts(account: string): Promise<StoreCounts> {
    const counts = await super.counts(account);
    return merchantAccountOf(account) === account ? counts : { ...counts, waitingEvents: 0 };
  }
}

/** Purges payments without looking for refunds, which stay. */
export class RefundBlindStore extends MemoryPaymentStore {
  override async purge(account: string, retention: Retention): Promise<PurgeCounts> {
    const name = refundsAccountOf(account);
    const refunds = this['accounts'].get(name);
    this['accounts'].delete(name);
    const purged = super.purge(account, retention);
    if (refunds) this['accounts'].set(name, refunds);
    return purged;
  }
}

/** Purges refunds that are old enough, whether their payment is purged or not. */
export class PurgesRefundsByAgeStore extends MemoryPaymentStore {
  override async purge(account: string, retention: Retention): Promise<PurgeCounts> {
    const counts = await super.purge(account, retention);
    const { ledger } = this['dataOf'](refundsAccountOf(merchantAccountOf(account)));
    const now = await this.now();
    const before = new Date(now.getTime() - (retention.paymentsMs ?? Infinity));
    for (const id of ledger.finalizedBefore(before)) ledger.delete(id, now);
    return counts;
  }
}

/** Deletes all refunds of a purged payment a moment later, even one that was stored meanwhile. */
export class PurgesRefundsLaterStore extends MemoryPaymentStore {
  override async purge(account: string, retention: Retention): Promise<PurgeCounts> {
    const paid = this['dataOf'](account).ledger.inStates(['succeeded'], 100);
    const counts = super.purge(account, retention);
    await setImmediate();
    const { ledger } = this['dataOf'](refundsAccountOf(account));
    for (const { conversationId } of paid) {
      if (await this.find(account, conversationId)) continue;
      for (const refundId of ledger.idsOf(conversationId)) ledger.delete(refundId, await this.now());
    }
    return counts;
  }
}
