import { Inject, Injectable } from '@nestjs/common';
import { types } from 'node:util';
import type { RecordRefundDto, RefundDto, VoidDto } from '../dto/refund.dto.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { otherGatewaysIn } from '../payment/gateway-id.js';
import { isWritable, keptNote } from '../payment/kept-text.js';
import type { LedgerEventType } from '../payment/payment-event.js';
import {
  isRefund,
  type Payment,
  type PaymentReason,
  type PaymentRecord,
  toPayment,
  UNANSWERED,
} from '../payment/payment.js';
import {
  type LedgerState,
  type PaymentState,
  REFUND_STATES,
  type RefundState,
  SALE_STATES,
} from '../payment/states.js';
import { type Refund, toRefund } from '../payment/refund.js';
import { InFlight } from '../settlement/in-flight.js';
import { PaymentReader, RefundReader } from '../settlement/records.js';
import {
  type Delivery,
  PAYMENT_STORE,
  type PaymentStore,
  type RecordType,
  type SettledPlace,
  type StateCount,
} from '../store/payment-store.js';
import { callStore } from '../store/store-call.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { Inquiries } from './inquiry.js';
import { type Listed, pageOf, refused, type StaffPage } from './pages.js';
import { detailsOf, type PaymentDetails } from './payment-details.js';
import { Refunds } from './refund.js';
import { isFilled, MAX_NAME_LENGTH, Resolutions } from './resolution.js';

/** How many settled records are read at a time, so that memory use does not depend on their number. */
const SETTLED_PAGE_SIZE = 200;

/** Which payments to list, the newest first. */
export interface PaymentListQuery extends StaffPage {
  readonly state?: PaymentState | readonly PaymentState[];
  readonly reference?: string;
}

/** Which refunds and voids to list, the newest first. */
export interface RefundListQuery extends StaffPage {
  readonly state?: RefundState | readonly RefundState[];
}

/** Which deliveries to list, the oldest event first: the parked ones, unless `parked` is false. */
export interface DeliveryListQuery extends StaffPage {
  readonly parked?: boolean;
  /** Only those about this payment and its refunds. */
  readonly conversationId?: string;
}

/** Who asks: a name, an address, a user id. It is kept in the history, up to 200 characters. */
export interface StaffMember {
  readonly by: string;
}

/** Options of `PaymentOperations.resolve` and `resolveRefund`. */
export interface StaffResolveOptions extends StaffMember {
  /** As in `ResolveOptions`. */
  readonly force?: boolean;
}

/** One change in the history of a payment or of a refund of it. */
export interface OperationsHistoryEntry {
  readonly at: Date;
  readonly state: LedgerState;
  readonly reason: PaymentReason | null;
  /** Who made it, if a person did. */
  readonly by: string | null;
  readonly note: string | null;
  /** The refund that changed; null for the payment. */
  readonly refundId: string | null;
}

/** An event on its way to a handler, or one whose handler kept failing. */
export interface OperationsDelivery {
  readonly handlerId: string;
  readonly eventId: string;
  readonly type: LedgerEventType;
  /** The payment that it is about, or whose refund it is about. */
  readonly conversationId: string;
  /** How many attempts have failed. */
  readonly attempts: number;
  /** What the last failed attempt said. */
  readonly error: string | null;
  /** When the event occurred. */
  readonly at: Date;
}

/** How many payments, refunds and deliveries there are. */
export interface OperationsCounts {
  /** Settled states are counted to 10,000; `oldest` is the oldest change of those that were counted. */
  readonly states: Readonly<Record<PaymentState, StateCount>>;
  readonly refunds: Readonly<Record<RefundState, StateCount>>;
  readonly deliveries: {
    /** Events that are on their way, or that no handler takes yet. */
    readonly waiting: number;
    /** Of these, the deliveries to a handler that are due or under way. */
    readonly open: number;
    /** Of the open ones, those to handlers that no process has announced for ten minutes. */
    readonly orphaned: number;
    /** Those whose handler kept failing. */
    readonly parked: number;
    /** When the oldest parked event occurred; null if none is parked. */
    readonly oldest: Date | null;
  };
  /** Unsettled payments and refunds of another gateway than the settings name now. */
  readonly otherGateway: number;
}

/** From the first moment of a period until just before its last. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
}

/**
 * What the people who look after payments may do: find and list, see the history, ask the gateway, settle by hand, give
 * money back, and have an event delivered again. Inject this class, or `@InjectPaymentOperations(name)` for a named
 * account. Every method that does something needs the name of who asks (`by`), which the history keeps.
 */
@Injectable()
export class PaymentOperations {
  private readonly logger = new PaymentLogger();

  /** @hidden */
  constructor(
    @Inject(PAYMENT_STORE) private readonly store: PaymentStore,
    private readonly payments: PaymentReader,
    private readonly refundReader: RefundReader,
    private readonly inquiries: Inquiries,
    private readonly operator: Resolutions,
    private readonly refundFlow: Refunds,
    private readonly inFlight: InFlight,
    private readonly settings: PaymentSettings,
  ) {}

  /**
   * A page of payments, the newest first; `next` is null on the last one.
   *
   * @throws PaymentValidationError for a state, limit or page that there is not
   * @throws PaymentStoreError
   */
  async list(query: PaymentListQuery = {}): Promise<{ readonly payments: Payment[]; readonly next: string | null }> {
    const { rows, next } = await this.records('payment', query, SALE_STATES);
    return { payments: rows.map((record) => toPayment(record)), next };
  }

  /**
   * A page of refunds and voids of all payments, the newest first; `next` is null on the last one.
   *
   * @throws PaymentValidationError for a state, limit or page that there is not
   * @throws PaymentStoreError
   */
  async listRefunds(
    query: RefundListQuery = {},
  ): Promise<{ readonly refunds: Refund[]; readonly next: string | null }> {
    const { rows, next } = await this.records('refund', query, REFUND_STATES);
    return { refunds: rows.map((record) => toRefund(record)), next };
  }

  /** @throws PaymentStoreError */
  async counts(): Promise<OperationsCounts> {
    const { account, gateways } = this.settings;
    const [counts, others, [oldest]] = await callStore('reading', () =>
      Promise.all([
        this.store.counts(account),
        this.store.otherGateways(account, gateways),
        this.store.listDeliveries({ account, parked: true, after: null, limit: 1 }),
      ]),
    );
    return {
      states: picked(counts.states, SALE_STATES),
      refunds: picked(counts.refunds, REFUND_STATES),
      deliveries: {
        waiting: counts.waitingEvents + counts.openDeliveries,
        open: counts.openDeliveries,
        orphaned: counts.orphanedDeliveries,
        parked: counts.parkedDeliveries,
        oldest: oldest?.event.occurredAt ?? null,
      },
      otherGateway: otherGatewaysIn(others).count,
    };
  }

  /**
   * A payment by its conversationId, or a refund or void by its refundId.
   *
   * @throws PaymentStoreError
   */
  async find(id: string): Promise<Payment | Refund | null> {
    if (!isWritable(id)) return null;
    const record = await callStore('reading', () => this.store.find(this.settings.account, id));
    return record && shown(record);
  }

  /**
   * A payment with its refunds, what is left to give back, what can be done with each of them now, and when the gateway
   * is asked again.
   *
   * @throws PaymentNotFoundError, PaymentStoreError
   */
  async details(conversationId: string): Promise<PaymentDetails> {
    const payment = await this.payments.get(conversationId);
    const refunds = await this.refundReader.ofPayment(conversationId);
    return detailsOf(payment, refunds, await this.refundFlow.totals(conversationId), this.settings);
  }

  /**
   * The refund or void that was asked for with an idempotencyKey.
   *
   * @throws PaymentStoreError
   */
  async findRefund(idempotencyKey: string): Promise<Refund | null> {
    if (!isWritable(idempotencyKey)) return null;
    const found = await this.refundReader.findByIdempotencyKey(idempotencyKey);
    return found === null || found === 'purged' ? null : toRefund(found);
  }

  /**
   * The payments and refunds that were settled in a period, from its first moment until just before its last, the
   * oldest `finalizedAt` first. It reads a page at a time. What is settled meanwhile may be among them. Of an answer
   * that may have been about another payment, only the code and the text are shown.
   *
   * @throws PaymentValidationError for what is no date
   * @throws PaymentStoreError
   */
  async *settled(period: Period): AsyncGenerator<Payment | Refund, undefined> {
    for (const path of ['from', 'to'] as const) {
      if (!types.isDate(period[path]) || Number.isNaN(period[path].getTime()))
        throw refused(path, 'isDate', 'must be a Date');
    }
    const { account } = this.settings;
    let after: SettledPlace | null = null;
    for (;;) {
      const page = { account, ...period, after, limit: SETTLED_PAGE_SIZE };
      const records: PaymentRecord[] = await callStore('reading', () => this.store.listSettled(page));
      for (const record of records) yield shown(withProvenAnswer(record));
      const last = records.at(-1);
      if (!last || records.length < SETTLED_PAGE_SIZE) return;
      const { finalizedAt, conversationId } = last;
      after = { finalizedAt: finalizedAt ?? new Date(0), conversationId };
    }
  }

  /**
   * Every change of a payment and of its refunds, in the order in which they happened. The history of each refund is
   * read by itself: `lastRefunds` leaves out those of all but the last so many.
   *
   * @throws PaymentNotFoundError, PaymentStoreError
   */
  async history(
    conversationId: string,
    { lastRefunds = Infinity }: { readonly lastRefunds?: number } = {},
  ): Promise<OperationsHistoryEntry[]> {
    await this.payments.get(conversationId);
    const refunds = await this.refundReader.ofPayment(conversationId);
    const shownRefunds = refunds.slice(Math.max(0, refunds.length - lastRefunds));
    const ids = [null, ...shownRefunds.map((refund) => refund.conversationId)];
    const histories = await Promise.all(
      ids.map(async (refundId) => {
        const history = await this.payments.history(refundId ?? conversationId);
        return history.map(({ at, state, reason, by, note }) => ({ at, state, reason, by, note, refundId }));
      }),
    );
    // Each is in its own order already, which changes of the same moment keep.
    return histories.flat().sort((one, other) => one.at.getTime() - other.at.getTime());
  }

  /**
   * A page of the events whose handler kept failing, or of those on their way, the oldest first.
   *
   * @throws PaymentValidationError for a limit or page that there is not
   * @throws PaymentStoreError
   */
  async deliveries({ parked = true, conversationId, after, limit }: DeliveryListQuery = {}): Promise<{
    readonly deliveries: OperationsDelivery[];
    readonly next: string | null;
  }> {
    const { account } = this.settings;
    const ids = conversationId === undefined ? undefined : await this.idsAbout(conversationId);
    const { rows, next } = await pageOf<Delivery>(
      { after, limit },
      ({ event, handlerId }) => [event.occurredAt, event.eventId, handlerId],
      (place, count) => {
        const behind = place && { occurredAt: place[0], eventId: place[1], handlerId: place[2] ?? '' };
        return this.store.listDeliveries({ account, parked, ids, after: behind, limit: count });
      },
    );
    return { deliveries: rows.map(toShownDelivery), next };
  }

  /**
   * Has a parked event delivered to its handler again.
   *
   * @returns whether there was such a parked delivery
   * @throws PaymentValidationError without `by`
   * @throws PaymentStoreError
   */
  async replay(handlerId: string, eventId: string, member: StaffMember): Promise<boolean> {
    const { account } = this.settings;
    const who = nameOf(member);
    if (!isWritable(handlerId) || !isWritable(eventId)) return false;
    const outcome = await callStore('replaying', () => this.store.replay(account, handlerId, eventId));
    if (outcome === 'absent') return false;
    const isOvertaken = outcome === 'overtaken';
    const overtaken = isOvertaken ? ' A later event has overtaken it: it tells of an older state.' : '';
    const line = `Event ${eventId} is delivered to ${handlerId} again, replayed by ${who}.${overtaken}`;
    this.logger[isOvertaken ? 'warn' : 'log'](new LogRecord(line, { account, eventId, handlerId, by: who }));
    return true;
  }

  /** As `PaymentService.inquire`; who asked is kept with what it settles. */
  inquire(conversationId: string, member: StaffMember): Promise<Payment> {
    return this.asking('inquire', conversationId, member, (by) => this.inquiries.inquire(conversationId, by));
  }

  /** As `PaymentService.inquireRefund`; who asked is kept with what it settles. */
  inquireRefund(refundId: string, member: StaffMember): Promise<Refund> {
    return this.asking('inquireRefund', refundId, member, (by) => this.inquiries.inquireRefund(refundId, by));
  }

  /**
   * As `PaymentService.abandon`, but its event is raised, since the shop's code does not have the answer.
   *
   * @experimental
   */
  abandon(conversationId: string, member: StaffMember): Promise<Payment> {
    return this.asking('abandon', conversationId, member, (by) => this.inquiries.abandon(conversationId, by));
  }

  /** As `PaymentService.resolve`, with `by`. */
  resolve(
    conversationId: string,
    state: 'succeeded' | 'failed',
    note: string,
    options: StaffResolveOptions,
  ): Promise<Payment> {
    return this.inFlight.run('rest', 'resolve', () =>
      this.operator.resolve(conversationId, state, note, named(options)),
    );
  }

  /** As `PaymentService.resolveRefund`, with `by`. */
  resolveRefund(
    refundId: string,
    state: 'succeeded' | 'failed',
    note: string,
    options: StaffResolveOptions,
  ): Promise<Refund> {
    return this.inFlight.run('rest', 'resolveRefund', () =>
      this.operator.resolveRefund(refundId, state, note, named(options)),
    );
  }

  /** As `PaymentService.refund`, with `by`. */
  refund(input: RefundDto & StaffMember): Promise<Refund> {
    return this.inFlight.run('new', 'refund', () => this.refundFlow.refund(named(input)));
  }

  /** As `PaymentService.void`, with `by`. */
  void(input: VoidDto & StaffMember): Promise<Refund> {
    return this.inFlight.run('new', 'void', () => this.refundFlow.void(named(input)));
  }

  /** As `PaymentService.recordRefund`, with `by`. */
  recordRefund(input: RecordRefundDto & StaffMember): Promise<Refund> {
    return this.inFlight.run('new', 'recordRefund', () => this.refundFlow.recordRefund(named(input)));
  }

  /** An ask may change nothing, and then only this line says who asked. */
  private asking<T>(
    act: 'inquire' | 'inquireRefund' | 'abandon',
    id: string,
    member: StaffMember,
    ask: (by: string) => Promise<T>,
  ): Promise<T> {
    return this.inFlight.run('rest', act, () => {
      const by = nameOf(member);
      const { account } = this.settings;
      this.logger.log(new LogRecord(`${act} of ${id}, asked for by ${by}.`, { account, id, act, by }));
      return ask(by);
    });
  }

  /** A payment's id and those of its refunds. */
  private async idsAbout(conversationId: string): Promise<readonly string[]> {
    if (!isWritable(conversationId)) return [];
    const refunds = await this.refundReader.ofPayment(conversationId);
    return [conversationId, ...refunds.map((refund) => refund.conversationId)];
  }

  private async records(
    type: RecordType,
    { state, reference, ...page }: ListQuery,
    known: readonly LedgerState[],
  ): Promise<Listed<PaymentRecord>> {
    const { account } = this.settings;
    const states = typeof state === 'string' ? [state] : state;
    if (states?.some((one) => !known.includes(one))) throw refused('state', 'isIn', `must be of ${known.join(', ')}`);
    return pageOf<PaymentRecord>(
      page,
      ({ createdAt, conversationId }) => [createdAt, conversationId],
      async (place, limit) => {
        if (reference !== undefined && !isWritable(reference)) return [];
        const after = place && { createdAt: place[0], conversationId: place[1] };
        return this.store.list({ account, type, states, reference, after, limit });
      },
    );
  }
}

/** A record without what the gateway may have said about another payment. */
function withProvenAnswer(record: PaymentRecord): PaymentRecord {
  const { code, message } = record;
  return record.isUnproven === true ? { ...record, ...UNANSWERED, code, message } : record;
}

function shown(record: PaymentRecord): Payment | Refund {
  return isRefund(record) ? toRefund(record) : toPayment(record);
}

function toShownDelivery({ handlerId, event, attempts, error }: Delivery): OperationsDelivery {
  const { eventId, type, occurredAt } = event;
  const { conversationId } = event.payment;
  return { handlerId, eventId, type, conversationId, attempts, error, at: occurredAt };
}

function picked<State extends LedgerState>(
  counts: Readonly<Record<LedgerState, StateCount>>,
  states: readonly State[],
): Readonly<Record<State, StateCount>> {
  return Object.fromEntries(states.map((state) => [state, counts[state]])) as Record<State, StateCount>;
}

/** What a list of payments, or of refunds, may be asked for. */
interface ListQuery extends StaffPage {
  readonly state?: LedgerState | readonly LedgerState[];
  readonly reference?: string;
}

/** @throws PaymentValidationError */
function nameOf(member: unknown): string {
  const { by } = (member ?? {}) as Partial<StaffMember>;
  if (isFilled(by)) return keptNote(by, MAX_NAME_LENGTH);
  throw refused('by', 'isNotEmpty', 'must be the name of who asks, which the history keeps');
}

/** @throws PaymentValidationError without a name */
function named<Given extends StaffMember>(given: Given): Given {
  nameOf(given);
  return given;
}
