import type { Selectable } from 'kysely';
import {
  type Delivery,
  type DeliveryLeaseRequest,
  type DeliveryPage,
  type HandlerPair,
  type LeasedDelivery,
  PAIR_ALIVE_MS,
  type PaymentOutbox,
  type Postponement,
  type ReplayOutcome,
  type StoreCounts,
} from '../payment-store.js';
import { takeInTurns } from '../order.js';
import { joinVersion, SqlLedger } from './ledger.js';
import { assigned, insertInto, isPast, joined, raw, sql, type Statement } from './statement.js';
import { type DeliveryRow, OPEN, PARKED, type PaymentDb, type PaymentTables, toDelivery, WAITING } from './tables.js';

/** How many rows one statement inserts: databases limit how many values it may have. */
const INSERT_BATCH = 500;

/** How many deliveries beyond its limit a lease reads. If more wait for an earlier one, they are put off. */
const FEW_WAITING = 50;

const MIN_PUT_OFF_MS = 5_000;
const MAX_PUT_OFF_MS = 60_000;
/** How many deliveries are put off at once, and how often in a lease. */
const PUT_OFF_BATCH = 1_000;
const MAX_PUT_OFFS = 20;

type WaitingEvent = Omit<Selectable<PaymentTables['card_payment_delivery']>, 'handler_id' | 'status' | 'due_at'>;

/** The part of a SQL store that is its outbox, on top of its ledger. */
export abstract class SqlOutbox extends SqlLedger implements PaymentOutbox {
  async announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    if (pairs.length === 0) return;
    const { database } = this;
    const announcedAt = database.fromNow();
    const rows = pairs.map(({ handlerId, type }) => ({
      account,
      type,
      handler_id: handlerId,
      announced_at: announcedAt,
    }));
    const orRenew = database.orOverwrite(['account', 'type', 'handler_id'], 'announced_at');
    await database.single(sql`${insertInto('card_payment_handler', rows)} ${orRenew}`);
  }

  async fanOut(account: string, limit: number): Promise<number> {
    const { database } = this;
    const pairs = await database.run<HandlerRow>(pairsOf(account));
    const types = pairs.map(({ type }) => type);
    if (types.length === 0) return 0;
    const first = await database.run<FirstDelivery>(firstOfEach({ account, handlerId: '', types, limit }));
    const waiting = takeInTurns(first, limit);
    if (waiting.length === 0) return 0;
    return database.transaction(async (db) => {
      // A pair that is forgotten meanwhile must not get deliveries.
      const stillKnown = sql`${pairsOf(account)} and type in ${types} ${database.allRows}`;
      const known = await database.run<HandlerRow>(stillKnown, db);
      const found = await database.run<WaitingEvent>(
        // By name: a host may have added columns of its own.
        sql`select account, event_id, conversation_id, version, type, occurred_at, attempts, error, lease
          from card_payment_delivery where ${areOf(account, '', idsOf(waiting))} ${database.freeRows}`,
        db,
      );
      const events = found.filter(({ type }) => known.some((pair) => pair.type === type));
      if (events.length === 0) return 0;
      const dueAt = database.fromNow();
      const rows = events.flatMap(({ version, occurred_at: occurredAt, ...event }) =>
        known
          .filter(({ type }) => type === event.type)
          .map(({ handler_id }) => ({
            ...event,
            handler_id,
            version: Number(version),
            occurred_at: Number(occurredAt),
            status: OPEN,
            due_at: dueAt,
          })),
      );
      for (let start = 0; start < rows.length; start += INSERT_BATCH) {
        await database.run(insertInto('card_payment_delivery', rows.slice(start, start + INSERT_BATCH)), db);
      }
      await database.run(sql`delete from card_payment_delivery where ${areOf(account, '', idsOf(events))}`, db);
      return events.length;
    });
  }

  async leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    const { database } = this;
    const { account, handlerId, lease, leaseMs } = request;
    if (request.types.length === 0) return [];
    const due = await this.firstFree(request);
    if (due.length === 0) return [];
    return database.write(async (db) => {
      // By their ids alone, so that no planner takes an index of what may be many. Another process may have leased one
      // since, or an earlier one.
      const locked = await database.run<{ readonly event_id: string; readonly is_free: number }>(
        sql`select delivery.event_id,
            case when delivery.status = ${OPEN} and delivery.due_at <= ${database.fromNow()}
              and not exists (${this.earlier(request)}) then 1 else 0 end as is_free
          from card_payment_delivery as delivery
          where ${areOf(account, handlerId, due, 'delivery')} ${database.freeRows}`,
        db,
      );
      const free = idsOf(locked.filter((row) => Number(row.is_free) === 1));
      if (free.length === 0) return [];
      await database.run(
        sql`update card_payment_delivery set ${assigned({ lease, due_at: database.fromNow(leaseMs) })}
          where ${areOf(account, handlerId, free)}`,
        db,
      );
      const leased = await this.shown(areOf(account, handlerId, free, 'delivery'), db);
      const byId = new Map(leased.map((delivery) => [delivery.event.eventId, delivery]));
      return due.flatMap((id) => byId.get(id) ?? []);
    });
  }

  renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean> {
    return this.changeLeased(delivery, { due_at: this.database.fromNow(leaseMs) });
  }

  async acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    await this.database.single(sql`delete from card_payment_delivery where ${areOf(account, handlerId, [eventId])}`);
  }

  async postpone(delivery: LeasedDelivery, { attempts, error, retryInMs, parked }: Postponement): Promise<void> {
    await this.changeLeased(delivery, {
      attempts,
      error: JSON.stringify(error),
      status: parked ? PARKED : OPEN,
      lease: null,
      due_at: this.database.fromNow(retryInMs),
    });
  }

  async listDeliveries({ account, parked, ids, after, limit }: DeliveryPage): Promise<Delivery[]> {
    if (ids?.length === 0) return [];
    const place = after && {
      'delivery.occurred_at': after.occurredAt.getTime(),
      'delivery.event_id': after.eventId,
      'delivery.handler_id': after.handlerId,
    };
    return this.shown(
      sql`delivery.account = ${account} and delivery.status = ${parked ? PARKED : OPEN}
        ${ids ? sql`and delivery.conversation_id in ${ids}` : raw('')}
        ${place ? sql`and ${isPast(place, '>')}` : raw('')}
        order by delivery.occurred_at, delivery.event_id, delivery.handler_id limit ${limit}`,
    );
  }

  async replay(account: string, handlerId: string, eventId: string): Promise<ReplayOutcome> {
    const open = assigned({ status: OPEN, attempts: 0, error: null, due_at: this.database.fromNow() });
    const replayed = await this.database.single(
      sql`update card_payment_delivery set ${open}
        where ${areOf(account, handlerId, [eventId])} and status = ${PARKED}`,
    );
    if (replayed === 0) return 'absent';
    const overtaking = await this.database.run(
      sql`select later.version from card_payment_delivery as delivery
        join card_payment_version as later on later.account = delivery.account
          and later.conversation_id = delivery.conversation_id and later.version > delivery.version
        join card_payment_handler as pair on pair.account = later.account and pair.type = later.type
          and pair.handler_id = delivery.handler_id
        where ${areOf(account, handlerId, [eventId], 'delivery')} and not exists (
          select pending.event_id from card_payment_delivery as pending
          where pending.account = later.account and pending.conversation_id = later.conversation_id
            and pending.version = later.version and pending.handler_id in ${['', handlerId]}
        ) limit 1`,
    );
    return overtaking.length > 0 ? 'overtaken' : 'replayed';
  }

  protected async countDeliveries(account: string): Promise<Omit<StoreCounts, 'states' | 'refunds'>> {
    const { database } = this;
    const rows = await database.run<HandlerRow & { readonly status: number; readonly count: number }>(
      sql`select status, handler_id, type, count(*) as count from card_payment_delivery
        where account = ${account} and status in ${[OPEN, PARKED, WAITING]} group by status, handler_id, type`,
    );
    const alive = await database.run<HandlerRow>(
      sql`${pairsOf(account)} and announced_at > ${database.fromNow(-PAIR_ALIVE_MS)}`,
    );
    const isAlive = (row: HandlerRow) =>
      alive.some((pair) => pair.handler_id === row.handler_id && pair.type === row.type);
    const sumOf = (status: number, isCounted: (row: HandlerRow) => boolean = () => true) =>
      rows
        .filter((row) => Number(row.status) === status && isCounted(row))
        .reduce((sum, { count }) => sum + Number(count), 0);
    return {
      waitingEvents: sumOf(WAITING),
      openDeliveries: sumOf(OPEN),
      parkedDeliveries: sumOf(PARKED),
      orphanedDeliveries: sumOf(OPEN, (row) => !isAlive(row)),
    };
  }

  /**
   * The ids of the first deliveries that are due and wait for no earlier one. When more than a few of those before them
   * wait, these are put off, so that the next leases need not read them again.
   */
  private async firstFree(request: DeliveryLeaseRequest): Promise<string[]> {
    const { database } = this;
    const { account, handlerId, limit } = request;
    for (let tries = 0, count = limit; ; tries += 1) {
      const due = await this.due({ ...request, limit: count });
      const free = due.filter(({ waits }) => Number(waits) === 0).slice(0, limit);
      if (free.length === limit || due.length < count || tries > MAX_PUT_OFFS) return idsOf(free);
      count = tries === 0 ? limit + FEW_WAITING : PUT_OFF_BATCH;
      // Most often there are few, and they are free soon.
      if (tries === 0) continue;
      const waiting = due.filter(({ waits }) => Number(waits) !== 0);
      const dueAt = database.fromNow(putOffMs(waiting.map(({ age }) => Number(age))));
      await database.single(
        sql`update card_payment_delivery set due_at = ${dueAt}
          where ${areOf(account, handlerId, idsOf(waiting))} and status = ${OPEN} and due_at <= ${database.fromNow()}`,
      );
    }
  }

  /** The first deliveries of each type that are due to a handler, and whether they wait for an earlier one. */
  private due(request: DeliveryLeaseRequest) {
    const now = this.database.fromNow();
    return this.database.run<{ readonly event_id: string; readonly age: number; readonly waits: number }>(
      sql`select delivery.event_id, ${now} - delivery.occurred_at as age,
          case when exists (${this.earlier(request)}) then 1 else 0 end as waits
        from (${firstOfEach(request, sql`and due_at <= ${now}`)}) as delivery
        order by delivery.due_at, delivery.version`,
    );
  }

  /**
   * What a delivery waits for: earlier events of its payment that wait to be fanned out to the handler, or that are
   * open and still announced, leased, or due now themselves.
   */
  private earlier({ handlerId, types }: DeliveryLeaseRequest): Statement {
    const now = this.database.fromNow();
    // A queue grows and shrinks: statistics that were taken while it was short would have all of it read.
    const hint = raw(this.database.engine.indexHint?.('card_payment_delivery_payment') ?? '');
    return sql`select earlier.event_id from card_payment_delivery as earlier ${hint}
      left join card_payment_handler as pair on pair.account = earlier.account and pair.type = earlier.type
        and pair.handler_id = ${handlerId}
      where earlier.account = delivery.account and earlier.conversation_id = delivery.conversation_id
        and earlier.version < delivery.version and earlier.handler_id in ${['', handlerId]}
        and earlier.status != ${PARKED} and (
          pair.announced_at > ${this.database.fromNow(-PAIR_ALIVE_MS)}
          or (earlier.lease is not null and earlier.due_at > ${now})
          or (earlier.status = ${OPEN} and earlier.type in ${types} and earlier.due_at <= ${now})
        )`;
  }

  /** Deliveries that meet a condition, which an order may follow. */
  private async shown(condition: Statement, db?: PaymentDb): Promise<Delivery[]> {
    const rows = await this.database.run<DeliveryRow>(
      sql`select delivery.account, delivery.handler_id, delivery.status, delivery.attempts, delivery.error,
          delivery.due_at, version.record
        from card_payment_delivery as delivery ${joinVersion('delivery')} where ${condition}`,
      db,
    );
    return rows.map(toDelivery);
  }

  /** @returns whether there is a delivery under this lease */
  private async changeLeased(
    { account, handlerId, eventId, lease }: LeasedDelivery,
    changes: Parameters<typeof assigned<'card_payment_delivery'>>[0],
  ): Promise<boolean> {
    const changed = await this.database.single(
      sql`update card_payment_delivery set ${assigned(changes)}
        where ${areOf(account, handlerId, [eventId])} and lease = ${lease}`,
    );
    return changed > 0;
  }
}

export type HandlerRow = Pick<Selectable<PaymentTables['card_payment_handler']>, 'handler_id' | 'type'>;

/** The pairs of an account. */
export function pairsOf(account: string): Statement {
  return sql`select handler_id, type from card_payment_handler where account = ${account}`;
}

/** Deliveries to a handler, or what waits to be fanned out where that is empty, by the ids of their events. */
function areOf(
  account: string,
  handlerId: string,
  eventIds: readonly string[],
  table: 'delivery' | 'card_payment_delivery' = 'card_payment_delivery',
): Statement {
  const of = raw(table);
  return sql`${of}.account = ${account} and ${of}.handler_id = ${handlerId} and ${of}.event_id in ${eventIds}`;
}

type FirstDelivery = Pick<WaitingEvent, 'event_id' | 'type'>;

type FirstRequest = Pick<DeliveryLeaseRequest, 'account' | 'handlerId' | 'limit'> & {
  readonly types: readonly string[];
};

/**
 * The first deliveries of each type to a handler, or of what waits to be fanned out, where that is empty; each type by
 * its part of an index.
 */
function firstOfEach({ account, handlerId, types, limit }: FirstRequest, condition = raw('')): Statement {
  const ofType = (type: string) =>
    sql`select * from (
      select account, conversation_id, version, event_id, type, occurred_at, due_at from card_payment_delivery
      where account = ${account} and status = ${handlerId === '' ? WAITING : OPEN} and handler_id = ${handlerId}
        and type = ${type} ${condition}
      order by due_at, version limit ${limit}
    ) as first`;
  return joined([...new Set(types)].map(ofType), ' union all ');
}

function idsOf(rows: readonly { readonly event_id: string }[]): string[] {
  return rows.map((row) => row.event_id);
}

/**
 * How long deliveries that wait for an earlier one are not looked at: a tenth of the age of the newest event. So where
 * many wait, the wait gets longer by a tenth.
 */
function putOffMs(ages: readonly number[]): number {
  return Math.min(Math.max(Math.min(...ages) / 10, MIN_PUT_OFF_MS), MAX_PUT_OFF_MS);
}
