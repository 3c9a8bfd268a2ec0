import type { TestClock } from 'nestjs-card-payment/testing';
import { isRefund, type PaymentRecord } from '../../lib/payment/payment.js';
import { isOpenRefund } from '../../lib/payment/refund-totals.js';
import { type HandlerPair, PAIR_ALIVE_MS, type PaymentStore } from '../../lib/store/payment-store.js';
import { interceptCalls } from '../rigs/store-calls.js';
import type { WorldGateway } from './gateway.js';
import type { Life } from './life.js';
import { type GatewayRefund, unitsOf } from './refund-ledger.js';
import type { StoreLine } from './store-line.js';
import type { Trace } from './trace.js';
import type { LedgerEvent, LedgerEventType } from '../../lib/payment/ledger-event.js';

/** What the witness knows of a host. */
export interface WatchedHost {
  readonly name: string;
  readonly isStopping: boolean;
  readonly life: Life;
  readonly line: StoreLine;
  /** What its version of the shop declares. */
  typesOf(handlerId: string): readonly LedgerEventType[];
}

/** A call of a handler, while it runs and after. */
export interface SeenCall {
  readonly host: WatchedHost;
  readonly handlerId: string;
  readonly event: LedgerEvent;
  readonly beganAt: number;
  isRunning: boolean;
}

interface SeenEvent {
  readonly event: LedgerEvent;
  /** Its position among all writes that the witness saw. */
  readonly order: number;
}

interface Announced {
  /** The position of the first announcement among all writes. */
  readonly order: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** The longest time between a lease and its arrival at a running host. */
const MAX_LEASING_MS = 10_000;
/** A host follows the store's clock to within this. */
const CLOCK_TOLERANCE_MS = 5_000;
const WRITES = ['insert', 'replace', 'announce'];

/** Sees which writes the store has done and which handlers were called, and checks each against the promises at once. */
export class Witness {
  /** Promises that were broken. */
  readonly broken: string[] = [];
  /** The last record of each payment that the store has taken, purged ones included. */
  readonly records = new Map<string, PaymentRecord>();
  /** The last record of each refund. */
  readonly refunds = new Map<string, PaymentRecord>();
  /** The first record of each refund, which has the key and the caller that it was opened with. */
  readonly opened = new Map<string, PaymentRecord>();
  /** Payments that were reported as unpaid at some time. */
  readonly saidUnpaid = new Set<string>();
  /** Payments at the gateway's own page that were charged after they had ended, and are in review for that. */
  readonly movedLate = new Set<string>();
  /** Refunds that were reported as not given back at some time. */
  readonly saidFailed = new Set<string>();
  readonly events: SeenEvent[] = [];
  /** Events that a handler has processed: `handlerId eventId`. */
  readonly handled = new Set<string>();
  /** The earliest time at which a payment may expire. */
  readonly expiresAt = new Map<string, number>();
  private readonly announcements = new Map<string, Announced>();
  private writes = 0;
  private readonly calls: SeenCall[] = [];

  constructor(
    private readonly clock: TestClock,
    private readonly gateway: WorldGateway,
    private readonly trace: Trace,
    /** After how long settled payments are purged. */
    private readonly retentionMs: number,
  ) {
    gateway.onRefund = (refund) => this.checkArrival(refund);
  }

  get now(): number {
    return this.clock.monotonic();
  }

  breaks(promise: string): void {
    this.broken.push(promise);
    this.trace.add(() => `BROKEN ${promise}`);
  }

  /** The last record that an attempt wrote. */
  recordOf(attemptId: string, id: string): PaymentRecord | undefined {
    return [this.records.get(id), this.refunds.get(id)].find((record) => record?.attemptId === attemptId);
  }

  refundsOf(conversationId: string): PaymentRecord[] {
    return [...this.refunds.values()].filter(({ reference }) => reference === conversationId);
  }

  /** Whether the money of a refund was given back, at the panel or because it was sent. */
  isGivenBack(refundId: string): boolean {
    const { refunds } = this.gateway;
    const key = this.opened.get(refundId)?.idempotencyKey ?? '';
    return refunds.isGivenBack(refundId) || refunds.atPanel.has(key);
  }

  /** The store, each of whose writes the witness sees. */
  watch(store: PaymentStore): PaymentStore {
    return interceptCalls(store, ({ method, args, proceed }) => {
      if (!WRITES.includes(method)) return proceed();
      return proceed().then((result) => {
        this.seeWrite(method, args, result);
        return result;
      });
    });
  }

  /** A handler is called. */
  begin(host: WatchedHost, handlerId: string, event: LedgerEvent): SeenCall {
    const call: SeenCall = { host, handlerId, event, beganAt: this.now, isRunning: true };
    const { eventId, type } = event;
    this.trace.add(() => `${host.name} calls ${handlerId} ${eventId} ${type}`);
    if (!host.typesOf(handlerId).includes(type)) this.breaks(`${host.name}: ${handlerId} got ${type}, undeclared`);
    for (const other of this.calls) if (isSame(other, call)) this.checkOneAtATime(other, call);
    this.checkOrder(call);
    this.calls.push(call);
    return call;
  }

  end(call: SeenCall, isHandled: boolean): void {
    call.isRunning = false;
    this.trace.add(() => `${call.host.name} ${call.handlerId} ${call.event.eventId} ${isHandled ? 'done' : 'fails'}`);
    if (isHandled) this.handled.add(keyOf(call));
  }

  /** Handlers that must get an event: those announced before it was written, or otherwise the first one after it. */
  owedTo({ event, order }: SeenEvent): string[] {
    const pairs = [...this.announcements].filter(([pair]) => pair.endsWith(` ${event.type}`));
    const first = Math.min(...pairs.map(([, announced]) => announced.order));
    return pairs
      .filter(([, announced]) => {
        const isFirst = announced.order === first && !this.mayBePurged(event, announced.firstAt);
        return announced.order < order || isFirst;
      })
      .map(([pair]) => pair.slice(0, pair.indexOf(' ')));
  }

  /** Before its type is announced, an event is purged with its payment. */
  private mayBePurged({ payment }: LedgerEvent, announcedAt: number): boolean {
    const finalizedAt = this.records.get(payment.conversationId)?.finalizedAt;
    if (this.retentionMs === 0 || !finalizedAt) return false;
    const began = this.clock.now().getTime() - this.now;
    return began + announcedAt - finalizedAt.getTime() > this.retentionMs;
  }

  private seeWrite(method: string, args: readonly unknown[], result: unknown): void {
    this.writes += 1;
    if (method === 'announce') {
      for (const { handlerId, type } of args[1] as HandlerPair[]) {
        const pair = `${handlerId} ${type}`;
        const { order, firstAt } = this.announcements.get(pair) ?? { order: this.writes, firstAt: this.now };
        this.announcements.set(pair, { order, firstAt, lastAt: this.now });
      }
    } else if (result === null || result === 'replaced') {
      this.seeRecord(args[0] as PaymentRecord, args[method === 'insert' ? 1 : 2] as LedgerEvent | undefined);
    }
  }

  private seeRecord(record: PaymentRecord, event: LedgerEvent | undefined): void {
    const { conversationId, state, reason } = record;
    this.trace.add(() => `stored ${conversationId}:${record.version} ${state} ${reason ?? ''}`);
    const before = (isRefund(record) ? this.refunds : this.records).get(conversationId)?.state;
    if (before === 'succeeded' && state !== before) this.breaks(`${conversationId} was succeeded, and is ${state}`);
    if (event) this.events.push({ event, order: this.writes });
    if (reason === 'not_sent' && record.idempotencyKey !== null)
      this.breaks(`${conversationId} keeps its idempotencyKey`);
    if (isRefund(record)) this.seeRefund(record);
    else this.seePayment(record);
  }

  private seeRefund(record: PaymentRecord): void {
    const { conversationId, state, reference } = record;
    if (!this.opened.has(conversationId)) this.opened.set(conversationId, record);
    this.refunds.set(conversationId, record);
    if (state === 'failed') this.saidFailed.add(conversationId);
    const open = this.refundsOf(reference ?? '').filter(isOpenRefund);
    if (open.length > 1) this.breaks(`${reference} has ${open.length} open refunds`);
    if (state === 'succeeded' && !this.isGivenBack(conversationId)) {
      this.breaks(`refund ${conversationId} is succeeded, and was not given back`);
    }
  }

  private seePayment(record: PaymentRecord): void {
    const { conversationId, state, kind, reason } = record;
    const before = this.records.get(conversationId);
    this.records.set(conversationId, record);
    if (kind === 'hosted') this.seePage(record, before);
    const isCharged = this.gateway.isCharged(conversationId);
    if (state === 'succeeded' && !isCharged) this.breaks(`${conversationId} is succeeded, and was not charged`);
    if (state === 'failed' || state === 'expired') this.saidUnpaid.add(conversationId);
    // Nobody has seen a page that was not opened in time. A payment that has ended may be asked about again.
    const isFirst = before?.state !== 'expired' && before?.state !== 'initiating';
    if (kind === 'hosted' && (reason === 'abandoned' || !isFirst)) return;
    const earliest = (this.expiresAt.get(conversationId) ?? 0) - CLOCK_TOLERANCE_MS;
    if (state === 'expired' && this.now < earliest) this.breaks(`${conversationId} expired before its time`);
  }

  private seePage(
    { conversationId, state, reference, allowRepeat, redirectUrl }: PaymentRecord,
    before?: PaymentRecord,
  ): void {
    if (state === 'review' && before?.state === 'expired') this.movedLate.add(conversationId);
    if (state === 'succeeded' || state === 'failed' || state === 'expired') {
      if (redirectUrl !== undefined) this.breaks(`${conversationId} is ${state}, and keeps its page's address`);
    }
    if (state !== 'pending' || reference === null || allowRepeat) return;
    const open = [...this.records.values()].filter((other) => other.reference === reference && isOpenPage(other));
    if (open.length > 1) this.breaks(`${reference} has ${open.length} open pages`);
  }

  /** What is sent is stored as open, of that payment, and no more than is left by what is known of the others. */
  private checkArrival({ refundId, conversationId, units, arrivals }: GatewayRefund): void {
    if (arrivals > 1) this.breaks(`refund ${refundId} was sent ${arrivals} times`);
    const record = this.refunds.get(refundId);
    if (!record || !isOpenRefund(record))
      this.breaks(`refund ${refundId} was sent, and is ${record?.state ?? 'not stored'}`);
    if (record?.reference !== conversationId || unitsOf(record.amount) !== units) {
      this.breaks(`refund ${refundId} was sent as another one, of ${conversationId}`);
    }
    if (this.gateway.sales.has(refundId)) this.breaks(`refund ${refundId} has the id of a payment`);
    const counted = this.refundsOf(conversationId).filter(
      (other) => other.state === 'succeeded' || isOpenRefund(other),
    );
    const sum = counted.reduce((total, { amount }) => total + unitsOf(amount), 0);
    if (sum > this.gateway.refunds.takenOf(conversationId)) {
      this.breaks(`refund ${refundId} was sent, and is more than was left`);
    }
  }

  /** A delivery is given to no second handler while one runs, unless its lease ran out for a good reason. */
  private checkOneAtATime(other: SeenCall, call: SeenCall): void {
    if (!other.isRunning || hasExcuse(other) || hasExcuse(call)) return;
    const { handlerId, event } = call;
    this.breaks(`${call.host.name} calls ${handlerId} ${event.eventId} while ${other.host.name} still does`);
  }

  /** A handler is called with a version of a payment or refund only when it has processed the versions before. */
  private checkOrder({ handlerId, event }: SeenCall): void {
    const [id, version] = subjectOf(event);
    for (const { event: earlier, order } of this.events) {
      const [earlierId, earlierVersion] = subjectOf(earlier);
      if (earlierId !== id || earlierVersion >= version) continue;
      const announced = this.announcements.get(`${handlerId} ${earlier.type}`);
      if (!announced || announced.order > order || this.now - announced.lastAt >= PAIR_ALIVE_MS) continue;
      if (this.handled.has(`${handlerId} ${earlier.eventId}`)) continue;
      this.breaks(`${handlerId} is called with ${event.eventId} before it has done ${earlier.eventId}`);
    }
  }
}

function isOpenPage({ kind, state, allowRepeat }: PaymentRecord): boolean {
  return kind === 'hosted' && state === 'pending' && !allowRepeat;
}

/** What an event is of: a payment or a refund, and its version. */
function subjectOf(event: LedgerEvent): readonly [id: string, version: number] {
  if ('refund' in event) return [`refund ${event.refund.refundId}`, event.refund.version];
  return [event.payment.conversationId, event.payment.version];
}

function isSame(one: SeenCall, other: SeenCall): boolean {
  return keyOf(one) === keyOf(other);
}

function keyOf({ handlerId, event }: SeenCall): string {
  return `${handlerId} ${event.eventId}`;
}

/** Whether the host could not renew its lease: it has ended, or was suspended, or the store refused. */
function hasExcuse({ host, event, beganAt }: SeenCall): boolean {
  const { life, line } = host;
  return (
    life.isDead ||
    host.isStopping ||
    life.lastSuspended >= beganAt - MAX_LEASING_MS ||
    line.failedRenewals.has(event.eventId)
  );
}
