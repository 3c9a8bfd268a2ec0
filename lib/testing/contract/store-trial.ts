import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { eventIdOf, PaymentEvent, type PaymentEventType } from '../../payment/payment-event.js';
import { EVENT_STATES, type PaymentEventState } from '../../payment/payment-state.js';
import { type PaymentRecord, toPayment } from '../../payment/payment.js';
import type { Delivery, LeasedDelivery, Postponement } from '../../store/payment-outbox.js';
import type { PaymentStore, PurgeCounts, Retention } from '../../store/payment-store.js';
import { aPaymentEvent, aPaymentRecord } from '../a-payment.js';
import type { TestClock } from '../test-clock.js';

/** One thing that every store must do. */
export interface PaymentStoreCase {
  readonly name: string;
  readonly run: (trial: StoreTrial) => Promise<void>;
}

const START = Date.parse('2026-03-01T10:00:00.123Z');

const ALL_TYPES = EVENT_STATES.map((state): PaymentEventType => `payment.${state}`);

/** Long enough that nothing is forgotten by accident. */
const FOR_YEARS_MS = 10 * 365 * 86_400_000;

/** How many are written at a time where there are many. */
const CHUNK = 50;

/** How many callers a race has. */
export const RACERS = 16;

/** A moment, that many milliseconds after the start, which is where the clock of each case stands at first. */
export function at(ms: number): Date {
  return new Date(START + ms);
}

export function unique(name: string): string {
  return `${name}-${randomUUID()}`;
}

/** As a payment has it whose conversationId the host chose. */
export function hostIdNonce(): string {
  return randomBytes(6).toString('hex');
}

/** A store under trial, in accounts that nothing else uses, and ways to write into it. */
export class StoreTrial {
  readonly account = unique('account');

  constructor(
    readonly store: PaymentStore,
    /** A second connection to the same data, or the same store where there is none. */
    readonly second: PaymentStore,
    private readonly clock: TestClock,
  ) {}

  /** From now on it is that many milliseconds after the start, for both connections. */
  moveTo(ms: number): void {
    this.clock.set(at(ms));
  }

  /** The two connections in turn. */
  racer(index: number): PaymentStore {
    return index % 2 === 0 ? this.store : this.second;
  }

  /** Runs as many callers at once, over the two connections. */
  race<T>(run: (store: PaymentStore, index: number) => Promise<T>, racers = RACERS): Promise<T[]> {
    return Promise.all(Array.from({ length: racers }, (_, index) => run(this.racer(index), index)));
  }

  /** Does something to many, some at a time. */
  async inChunks<T, R>(many: readonly T[], run: (one: T) => Promise<R>): Promise<R[]> {
    const done: R[] = [];
    for (let start = 0; start < many.length; start += CHUNK) {
      done.push(...(await Promise.all(many.slice(start, start + CHUNK).map(run))));
    }
    return done;
  }

  /** A new record of this account, with as many fields null as can be. */
  record(changes: Partial<PaymentRecord> = {}): PaymentRecord {
    return aPaymentRecord({
      conversationId: unique('conversation'),
      account: this.account,
      state: 'awaiting',
      reference: null,
      maskedCardNumber: null,
      createdAt: at(0),
      updatedAt: at(0),
      finalizedAt: null,
      version: 1,
      referenceLock: null,
      expiresAt: null,
      dueAt: null,
      ...changes,
    });
  }

  /** A record whose every field holds something that a careless store would change. */
  fullRecord(changes: Partial<PaymentRecord> = {}): PaymentRecord {
    return this.record({
      reference: unique('sipariş "1" \'2\' \\ ; -- 🧾'),
      reason: 'amount_mismatch',
      amount: '999999999999999.99',
      installmentCount: 12,
      chargedAmount: '0.10',
      code: 'B0000',
      message: `İşlem “onaylandı” 🟢\t\n\\"'{}[]$1 %s \u0000 \u2028 ${'çok uzun '.repeat(20_000)}`,
      orderId: '00012345678901234567890',
      paymentId: '9007199254740993',
      bankUniqueReferenceNumber: '1e400',
      authCode: '007',
      transactionDate: '01.03.2026 13:00:00',
      transactionAt: at(1),
      maskedCardNumber: '450803******4509',
      commissionRate: '1.50',
      commissionAmount: '2.2485',
      createdAt: at(2),
      updatedAt: at(999),
      finalizedAt: at(4),
      version: 7,
      tokenHash: unique('token'),
      idempotencyKey: unique('key'),
      referenceLock: unique('kilit 🔒'),
      allowRepeat: true,
      expiresAt: at(5),
      dueAt: at(6),
      attemptId: unique('deneme №'),
      inquiries: 3,
      notFoundAt: at(7),
      note: "Aradık; banka 'çekildi' dedi.",
      pinsReference: false,
      hostIdNonce: hostIdNonce(),
      ...changes,
    });
  }

  /** Stores a new payment. */
  async insert(changes: Partial<PaymentRecord> = {}, event?: PaymentEvent): Promise<PaymentRecord> {
    const record = this.record(changes);
    assert.equal(await this.store.insert(record, event), null, 'the payment must be stored');
    return record;
  }

  /** The record one version on. */
  next(record: PaymentRecord, changes: Partial<PaymentRecord> = {}): PaymentRecord {
    return { ...record, ...changes, version: record.version + 1 };
  }

  /** Moves a stored payment on. */
  async replace(record: PaymentRecord, changes: Partial<PaymentRecord> = {}): Promise<PaymentRecord> {
    const next = this.next(record, changes);
    assert.equal(await this.store.replace(next, record.version), 'replaced', 'the payment must be replaced');
    return next;
  }

  /** Moves a stored payment to a state that has events, with its event. */
  async publish(
    record: PaymentRecord,
    state: PaymentEventState,
    updatedAt: Date,
    store = this.store,
  ): Promise<{ record: PaymentRecord; event: PaymentEvent }> {
    const next = this.next(record, { state, updatedAt });
    const event = this.event(next, state);
    assert.equal(await store.replace(next, record.version, event), 'replaced', 'the payment must be replaced');
    return { record: next, event };
  }

  /** The event of a record in that state. */
  event(record: PaymentRecord, state: PaymentEventState): PaymentEvent {
    const event = aPaymentEvent({ ...toPayment(record), state });
    return new PaymentEvent({ ...event, eventId: eventIdOf(record) });
  }

  /** Announces a handler with an id of its own. @returns the id */
  async handler(...types: PaymentEventType[]): Promise<string> {
    const handlerId = unique('Orders.handler');
    await this.announce(handlerId, ...types);
    return handlerId;
  }

  announce(handlerId: string, ...types: PaymentEventType[]): Promise<void> {
    return this.store.announce(
      this.account,
      types.map((type) => ({ handlerId, type })),
    );
  }

  fanOut({ limit = 1_000, store = this.store } = {}): Promise<number> {
    return store.fanOut(this.account, limit);
  }

  /** Leases what is due to the handler, by default of every type and for a minute. */
  lease(handlerId: string, options: LeaseOptions = {}): Promise<Delivery[]> {
    const { types = ALL_TYPES, lease = unique('lease'), leaseMs = 60_000, limit = 100, store = this.store } = options;
    return store.leaseDeliveries({ account: this.account, handlerId, types, lease, leaseMs, limit });
  }

  /** Fans out, then leases. */
  async take(handlerId: string, options: LeaseOptions = {}): Promise<Delivery[]> {
    await this.fanOut();
    return this.lease(handlerId, options);
  }

  /** Takes the next delivery, which then fails. @returns as it was leased */
  async fail(handlerId: string, to: Partial<Postponement>): Promise<Delivery> {
    const lease = unique('lease');
    const [delivery] = await this.take(handlerId, { lease, limit: 1 });
    assert.ok(delivery, 'there must be a delivery that is due');
    await this.store.postpone(leased(delivery, lease), aPostponement(to));
    return delivery;
  }

  /** Takes and acknowledges until nothing more is due. @returns the ids of the events, in the order they came */
  async drain(handlerId: string): Promise<string[]> {
    const drained: string[] = [];
    for (let ids = await this.ofOneTake(handlerId); ids.length > 0; ids = await this.ofOneTake(handlerId)) {
      drained.push(...ids);
    }
    return drained;
  }

  leaseDue({ leaseMs = 60_000, limit = 100, store = this.store } = {}): Promise<PaymentRecord[]> {
    return store.leaseDue({ account: this.account, leaseMs, limit });
  }

  /** Purges; by default every settled payment, but no pair and no key. */
  purge(retention: Partial<Retention> = {}): Promise<PurgeCounts> {
    const { paymentsMs = 0, pairsMs = FOR_YEARS_MS, keysMs = FOR_YEARS_MS } = retention;
    return this.store.purge(this.account, { paymentsMs, pairsMs, keysMs });
  }

  find(record: PaymentRecord): Promise<PaymentRecord | null> {
    return this.store.find(record.account, record.conversationId);
  }

  async versions(record: PaymentRecord): Promise<number[]> {
    const history = await this.store.history(record.account, record.conversationId);
    return history.map((entry) => entry.version);
  }

  private async ofOneTake(handlerId: string): Promise<string[]> {
    const taken = eventIds(await this.take(handlerId));
    for (const eventId of taken) await this.store.acknowledge(this.account, handlerId, eventId);
    return taken;
  }
}

interface LeaseOptions {
  readonly types?: readonly PaymentEventType[];
  readonly lease?: string;
  readonly leaseMs?: number;
  readonly limit?: number;
  readonly store?: PaymentStore;
}

/** A delivery and who holds it. */
export function leased({ account, handlerId, event }: Delivery, lease: string): LeasedDelivery {
  return { account, handlerId, eventId: event.eventId, lease };
}

/** What becomes of a delivery whose first try failed: another one in a second. */
export function aPostponement(changes: Partial<Postponement> = {}): Postponement {
  return { attempts: 1, error: 'Error: no', retryInMs: 1_000, parked: false, ...changes };
}

export function ids(records: readonly PaymentRecord[]): string[] {
  return records.map((record) => record.conversationId);
}

export function eventIds(deliveries: readonly Delivery[]): string[] {
  return deliveries.map((delivery) => delivery.event.eventId);
}

/** How often each outcome came. */
export function tally(outcomes: readonly (string | null)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[`${outcome}`] = (counts[`${outcome}`] ?? 0) + 1;
  return counts;
}
