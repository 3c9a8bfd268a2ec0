import type { PaymentEvent, PaymentEventType, PaymentRecord, PaymentStore } from 'nestjs-card-payment';
import type { TestClock } from 'nestjs-card-payment/testing';
import { type HandlerPair, PAIR_ALIVE_MS } from '../../lib/store/payment-outbox.js';
import { interceptCalls } from '../rigs/store-calls.js';
import type { WorldGateway } from './gateway.js';
import type { Life } from './life.js';
import type { StoreLine } from './store-line.js';
import type { Trace } from './trace.js';

/** What the witness knows of a host. */
export interface WatchedHost {
  readonly name: string;
  readonly isStopping: boolean;
  readonly life: Life;
  readonly line: StoreLine;
  /** What its version of the shop declares. */
  typesOf(handlerId: string): readonly PaymentEventType[];
}

/** A call of a handler, while it runs and after. */
export interface SeenCall {
  readonly host: WatchedHost;
  readonly handlerId: string;
  readonly event: PaymentEvent;
  readonly beganAt: number;
  isRunning: boolean;
}

interface SeenEvent {
  readonly event: PaymentEvent;
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
  /** Payments that were reported as unpaid at some time. */
  readonly saidUnpaid = new Set<string>();
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
  ) {}

  get now(): number {
    return this.clock.monotonic();
  }

  breaks(promise: string): void {
    this.broken.push(promise);
    this.trace.add(() => `BROKEN ${promise}`);
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
  begin(host: WatchedHost, handlerId: string, event: PaymentEvent): SeenCall {
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
  private mayBePurged({ payment }: PaymentEvent, announcedAt: number): boolean {
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
      this.seeRecord(args[0] as PaymentRecord, args[method === 'insert' ? 1 : 2] as PaymentEvent | undefined);
    }
  }

  private seeRecord(record: PaymentRecord, event: PaymentEvent | undefined): void {
    const { conversationId, state, reason } = record;
    this.trace.add(() => `stored ${conversationId}:${record.version} ${state} ${reason ?? ''}`);
    this.records.set(conversationId, record);
    if (event) this.events.push({ event, order: this.writes });
    const isCharged = this.gateway.isCharged(conversationId);
    if (state === 'succeeded' && !isCharged) this.breaks(`${conversationId} is succeeded, and was not charged`);
    if (state === 'failed' || state === 'expired') this.saidUnpaid.add(conversationId);
    if (reason === 'not_sent' && record.idempotencyKey !== null)
      this.breaks(`${conversationId} keeps its idempotencyKey`);
    const earliest = (this.expiresAt.get(conversationId) ?? 0) - CLOCK_TOLERANCE_MS;
    if (state === 'expired' && this.now < earliest) this.breaks(`${conversationId} expired before its time`);
  }

  /** A delivery is given to no second handler while one runs, unless its lease ran out for a good reason. */
  private checkOneAtATime(other: SeenCall, call: SeenCall): void {
    if (!other.isRunning || hasExcuse(other) || hasExcuse(call)) return;
    const { handlerId, event } = call;
    this.breaks(`${call.host.name} calls ${handlerId} ${event.eventId} while ${other.host.name} still does`);
  }

  /** A handler is called with a version of a payment only when it has processed the versions before. */
  private checkOrder({ handlerId, event }: SeenCall): void {
    const { conversationId, version } = event.payment;
    for (const { event: earlier, order } of this.events) {
      if (earlier.payment.conversationId !== conversationId || earlier.payment.version >= version) continue;
      const announced = this.announcements.get(`${handlerId} ${earlier.type}`);
      if (!announced || announced.order > order || this.now - announced.lastAt >= PAIR_ALIVE_MS) continue;
      if (this.handled.has(`${handlerId} ${earlier.eventId}`)) continue;
      this.breaks(`${handlerId} is called with ${event.eventId} before it has done ${earlier.eventId}`);
    }
  }
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
