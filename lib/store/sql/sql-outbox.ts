import { sql } from 'kysely';
import { setImmediate } from 'node:timers/promises';
import {
  type Delivery,
  type DeliveryPage,
  type ReplayOutcome,
  type DeliveryLeaseRequest,
  type HandlerPair,
  type LeasedDelivery,
  PAIR_ALIVE_MS,
  type PaymentOutbox,
  type Postponement,
  type StoreCounts,
} from '../payment-store.js';
import { type DeliveryKey, deliveryOf, unblockLater, withEvents } from './deliveries.js';
import { limited, type SqlDatabase } from './sql-database.js';
import type { SqlWrites } from './sql-engine.js';
import { ask } from './sql-transaction.js';

/** How often one call looks further, past deliveries that wait for earlier ones. */
const MAX_LOOKS = 50;
const FORGET_BATCH = 1_000;

/** The outbox of a SQL store: its queries, and the writes of its engine. */
export class SqlOutbox implements PaymentOutbox {
  constructor(
    private readonly database: SqlDatabase,
    private readonly writes: () => Promise<SqlWrites>,
  ) {}

  async announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    if (pairs.length === 0) return;
    const { database } = this;
    await database.transaction(async (db) => {
      const announcedAt = database.fromNow();
      const isAnnounced = pairs.map(({ handlerId, type }) => ({ type, handler_id: handlerId }));
      await db
        .updateTable('card_payment_handler')
        .set({ announced_at: announcedAt })
        .where('account', '=', account)
        .where((eb) => eb.or(isAnnounced.map((pair) => eb.and(pair))))
        .execute();
      await db
        .insertInto('card_payment_handler')
        .values(isAnnounced.map((pair) => ({ account, ...pair, announced_at: announcedAt })))
        .modifyEnd(database.unlessTaken)
        .execute();
    });
  }

  async fanOut(account: string, limit: number): Promise<number> {
    return (await this.writes()).outboxWrites.fanOut(this.database, account, limit);
  }

  async leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    if (request.types.length === 0) return [];
    const { outboxWrites } = await this.writes();
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      const { leased, isDone } = await outboxWrites.leaseSome(this.database, request);
      if (leased.length > 0 || isDone) return leased;
    }
    return [];
  }

  async renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean> {
    const update = this.update(delivery)
      .where('lease', '=', delivery.lease)
      .set({ due_at: this.database.fromNow(leaseMs) });
    const { numAffectedRows } = await this.database.statement(update.compile());
    return numAffectedRows !== 0n;
  }

  async acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    await (await this.writes()).outboxWrites.acknowledge(this.database, { account, handlerId, eventId });
  }

  async postpone(delivery: LeasedDelivery, { attempts, error, retryInMs, parked }: Postponement): Promise<void> {
    const { database } = this;
    const leased = this.update(delivery).where('lease', '=', delivery.lease);
    const changes = { attempts, error: JSON.stringify(error), parked: parked ? 1 : 0, lease: null } as const;
    await database.write(function* () {
      const update = leased.set({ ...changes, due_at: database.fromNow(retryInMs) });
      const { numAffectedRows } = yield* ask(update.compile());
      if (parked && numAffectedRows !== 0n) yield* ask(unblockLater(database, delivery).compile());
    });
  }

  async listDeliveries({ account, parked, after, limit }: DeliveryPage): Promise<Delivery[]> {
    let query = withEvents(this.database.db, account)
      .where('delivery.parked', '=', sql.lit(parked ? 1 : 0))
      .orderBy('delivery.occurred_at')
      .orderBy('delivery.event_id')
      .orderBy('delivery.handler_id')
      .limit(limit);
    const place = after && ([after.occurredAt.getTime(), after.eventId, after.handlerId] as const);
    if (place) {
      query = query.where((eb) =>
        eb(
          eb.refTuple('delivery.occurred_at', 'delivery.event_id', 'delivery.handler_id'),
          '>',
          eb.tuple(place[0], place[1], place[2]),
        ),
      );
    }
    return (await this.database.read(query)).map(deliveryOf);
  }

  async replay(account: string, handlerId: string, eventId: string): Promise<ReplayOutcome> {
    const update = this.update({ account, handlerId, eventId })
      .where('parked', '=', sql.lit(1))
      .set({ attempts: 0, parked: 0, error: null, due_at: this.database.fromNow() });
    const { numAffectedRows } = await this.database.statement(update.compile());
    return numAffectedRows === 0n ? 'absent' : 'replayed';
  }

  async countDeliveries(account: string): Promise<Omit<StoreCounts, 'states'>> {
    const { db } = this.database;
    const waiting = db
      .selectFrom('card_payment_event')
      .where('account', '=', account)
      .where('waiting', '=', sql.lit(1))
      .select(({ fn }) => fn.countAll().as('count'));
    const deliveries = (parked: 0 | 1) =>
      db.selectFrom('card_payment_delivery').where('account', '=', account).where('parked', '=', sql.lit(parked));
    const parked = deliveries(1).select(({ fn }) => fn.countAll().as('count'));
    const open = deliveries(0)
      .groupBy(['handler_id', 'type'])
      .select(({ fn }) => ['handler_id', 'type', fn.countAll().as('count')]);
    const alive = db
      .selectFrom('card_payment_handler')
      .where('account', '=', account)
      .where('announced_at', '>', this.database.fromNow(-PAIR_ALIVE_MS))
      .select(['handler_id', 'type']);
    const waitingEvents = sumOf(await this.database.read(waiting));
    const parkedDeliveries = sumOf(await this.database.read(parked));
    const openRows = await this.database.read(open);
    const aliveRows = await this.database.read(alive);
    const orphaned = openRows.filter(
      (row) => !aliveRows.some((pair) => pair.handler_id === row.handler_id && pair.type === row.type),
    );
    const [openDeliveries, orphanedDeliveries] = [sumOf(openRows), sumOf(orphaned)];
    return { waitingEvents, openDeliveries, parkedDeliveries, orphanedDeliveries };
  }

  /**
   * Deletes pairs that were not announced for that long, until `end` (by `performance.now`): first their deliveries, a
   * batch in each transaction.
   * @returns whether some are left
   */
  async forgetPairs(account: string, pairsMs: number, end: number): Promise<boolean> {
    const { database } = this;
    const oldPairs = database.read(
      database.db
        .selectFrom('card_payment_handler')
        .where('account', '=', account)
        .where('announced_at', '<', database.fromNow(-pairsMs))
        .select(['handler_id', 'type']),
    );
    for (const pair of await limited(() => oldPairs)) {
      while (!(await limited(() => this.forgetSome(account, pair, pairsMs)))) {
        if (performance.now() >= end) return true;
        await setImmediate();
      }
    }
    return false;
  }

  /** @returns whether the pair is deleted, or has been announced again and stays */
  private forgetSome(
    account: string,
    pair: { readonly handler_id: string; readonly type: string },
    pairsMs: number,
  ): Promise<boolean> {
    const { database } = this;
    const { fanOutLock } = database.syntax;
    return database.transaction(async (db) => {
      // Until the pair is gone, no delivery for it may be created.
      if (fanOutLock) await database.run(fanOutLock(account), db);
      const stillOld = await db
        .selectFrom('card_payment_handler')
        .where('account', '=', account)
        .where((eb) => eb.and(pair))
        .where('announced_at', '<', database.fromNow(-pairsMs))
        .select('type')
        .executeTakeFirst();
      if (!stillOld) return true;
      for (const parked of [0, 1]) {
        const deliveries = await db
          .selectFrom('card_payment_delivery')
          .where('account', '=', account)
          .where((eb) => eb.and(pair))
          .where('parked', '=', sql.lit(parked as 0 | 1))
          .select('event_id')
          .limit(FORGET_BATCH)
          .execute();
        if (deliveries.length === 0) continue;
        const eventIds = deliveries.map((delivery) => delivery.event_id);
        await db
          .deleteFrom('card_payment_delivery')
          .where('account', '=', account)
          .where('handler_id', '=', pair.handler_id)
          .where('event_id', 'in', eventIds)
          .execute();
        if (deliveries.length === FORGET_BATCH) return false;
      }
      await db
        .deleteFrom('card_payment_handler')
        .where('account', '=', account)
        .where((eb) => eb.and(pair))
        .where('announced_at', '<', database.fromNow(-pairsMs))
        .execute();
      return true;
    });
  }

  private update({ account, handlerId, eventId }: DeliveryKey) {
    return this.database.db
      .updateTable('card_payment_delivery')
      .where('account', '=', account)
      .where('handler_id', '=', handlerId)
      .where('event_id', '=', eventId);
  }
}

function sumOf(rows: readonly { readonly count: number | string | bigint }[]): number {
  return rows.reduce((sum, { count }) => sum + Number(count), 0);
}
