import { setImmediate } from 'node:timers/promises';
import type { PaymentClock } from '../../../lib/payment/clock.js';
import { merchantAccountOf, refundsAccountOf } from '../../../lib/payment/account.js';
import type { LedgerEvent } from '../../../lib/payment/ledger-event.js';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../../lib/store/memory/memory-payment-store.js';
import type {
  Delivery,
  DeliveryLeaseRequest,
  HandlerPair,
  LeasedDelivery,
  Postponement,
  PurgeCounts,
  ReplaceOutcome,
  Retention,
  UniqueKey,
} from '../../../lib/store/payment-store.js';

/** Reads the version, and writes a moment later, although the version may have changed. */
export class ReadThenWriteStore extends MemoryPaymentStore {
  override async replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const version = async () => (await this.find(record.account, record.conversationId))?.version;
    const { account, conversationId } = record;
    if ((await version()) !== previous.version) return 'stale';
    await setImmediate();
    return super.replace(record, (await this.find(account, conversationId)) ?? previous, event);
  }
}

/** Writes `unknown` without its event. */
export class LostOutboxRowStore extends MemoryPaymentStore {
  override async replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const isKept = event?.type !== 'payment.unknown';
    return super.replace(record, previous, isKept ? event : undefined);
  }
}

/** Reads who holds the reference, and takes it a moment later, although another payment may have it by then. */
export class UnlockedReferenceStore extends MemoryPaymentStore {
  private readonly holders = new Map<string, string>();

  override async insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    if (await this.isTaken(record)) return 'referenceLock';
    return super.insert({ ...record, referenceLock: null }, event);
  }

  override async replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    if (await this.isTaken(record)) return 'locked';
    return super.replace({ ...record, referenceLock: null }, previous, event);
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

/** Looks whether the reference that is to be pinned is taken, and takes it if not: its holder may release it then. */
export class LooksBeforeItPinsStore extends MemoryPaymentStore {
  override async replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const { pinsReference, ...unpinned } = record;
    if (!pinsReference) return super.replace(record, previous, event);
    const others = await this.findByReference(record.account, record.reference ?? '');
    const isHeld = others.some((other) => other.referenceLock !== null);
    await setImmediate();
    return super.replace(isHeld ? unpinned : record, previous, event);
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

/** Fans out by a cursor over a sequence, and so skips what takes its number early and is written late. */
export class CursorFanOutStore extends MemoryPaymentStore {
  private numbers = 0;
  private written = 0;
  private cursor = 0;

  override async replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const number = (this.numbers += 1);
    if (number % 2 === 1) await setImmediate();
    this.written = Math.max(this.written, number);
    return super.replace(record, previous, number > this.cursor ? event : undefined);
  }

  override fanOut(account: string, limit: number): Promise<number> {
    this.cursor = this.written;
    return super.fanOut(account, limit);
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

/** Keeps refunds among the payments. */
export class OneAccountStore extends MemoryPaymentStore {
  constructor(options: { readonly clock: PaymentClock }) {
    super(options);
    const of = this['of'].bind(this);
    this['of'] = (account) => of(merchantAccountOf(account));
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

/** Deletes all refunds of a purged payment a moment later, even one that was stored meanwhile. */
export class PurgesRefundsLaterStore extends MemoryPaymentStore {
  override async purge(account: string, retention: Retention): Promise<PurgeCounts> {
    const paid = await this.listByState(account, ['succeeded'], 100);
    const counts = super.purge(account, retention);
    await setImmediate();
    const refunds = refundsAccountOf(account);
    for (const { conversationId } of paid) {
      if (await this.find(account, conversationId)) continue;
      for (const refund of await this.findByReference(refunds, conversationId)) {
        this['delete'](this['of'](refunds), refund.conversationId);
      }
    }
    return counts;
  }
}
