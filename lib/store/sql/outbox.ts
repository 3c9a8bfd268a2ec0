import { type Expression, type ExpressionBuilder, type RawBuilder, type Selectable, sql, type SqlBool } from 'kysely';
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
import { FEW_WAITING, putOffMs, takeInTurns } from '../turns.js';
import { SqlLedger } from './ledger.js';
import { itsVersion, OPEN, PARKED, type PaymentDb, type PaymentTables, toDelivery, WAITING } from './tables.js';

/** How many rows one statement inserts: databases limit how many values it may have. */
const INSERT_BATCH = 500;

/** How many deliveries are put off at once, and how often in a lease. */
const PUT_OFF_BATCH = 1_000;
const MAX_PUT_OFFS = 20;

/** The part of a SQL store that is its outbox, on top of its ledger. */
export abstract class SqlOutbox extends SqlLedger implements PaymentOutbox {
  async announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    if (pairs.length === 0) return;
    const { database } = this;
    const rows = pairs.map(({ handlerId, type }) => ({
      account,
      type,
      handler_id: handlerId,
      announced_at: database.fromNow(),
    }));
    await database.single((db) =>
      db
        .insertInto('card_payment_handler')
        .values(rows)
        .modifyEnd(database.orOverwrite(['account', 'type', 'handler_id'], 'announced_at'))
        .execute(),
    );
  }

  async fanOut(account: string, limit: number): Promise<number> {
    const { database } = this;
    const pairs = await database.read((db) => pairsOf(db, account).execute());
    const types = pairs.map(({ type }) => type);
    if (types.length === 0) return 0;
    const waiting = takeInTurns(
      await database.read((db) => firstOfEach(db, { account, handlerId: '', types, limit }).execute()),
      limit,
    );
    if (waiting.length === 0) return 0;
    return database.transaction(async (db) => {
      // A pair that is forgotten meanwhile must not get deliveries.
      const known = await pairsOf(db, account).where('type', 'in', types).modifyEnd(database.allRows).execute();
      const events = await deliveriesTo(db, account, '')
        .where('event_id', 'in', idsOf(waiting))
        .selectAll()
        .modifyEnd(database.freeRows)
        .execute();
      const rows = events.flatMap((event) =>
        known
          .filter(({ type }) => type === event.type)
          .map(({ handler_id }) => ({
            ...event,
            handler_id,
            version: Number(event.version),
            occurred_at: Number(event.occurred_at),
            status: OPEN,
            due_at: database.fromNow(),
          })),
      );
      const eventIds = idsOf(events.filter(({ type }) => known.some((pair) => pair.type === type)));
      if (eventIds.length === 0) return 0;
      for (let start = 0; start < rows.length; start += INSERT_BATCH) {
        await db
          .insertInto('card_payment_delivery')
          .values(rows.slice(start, start + INSERT_BATCH))
          .execute();
      }
      await deleteDeliveries(db, account, '').where('event_id', 'in', eventIds).execute();
      return eventIds.length;
    });
  }

  async leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    const { database } = this;
    const { account, handlerId, lease, leaseMs } = request;
    if (request.types.length === 0) return [];
    const due = await this.firstFree(request);
    if (due.length === 0) return [];
    return database.write(async (db) => {
      // By their ids alone, so that no planner takes an index of what may be many.
      const locked = await db
        .selectFrom('card_payment_delivery as delivery')
        .where('delivery.account', '=', account)
        .where('delivery.handler_id', '=', handlerId)
        .where('delivery.event_id', 'in', due)
        .select((eb) => [
          'delivery.event_id',
          // Another process may have leased it since, or an earlier one.
          isTrue(
            eb.and([
              eb('delivery.status', '=', OPEN),
              eb('delivery.due_at', '<=', database.fromNow()),
              eb.not(eb.exists(this.earlier(eb, request))),
            ]),
          ).as('isFree'),
        ])
        .modifyEnd(database.freeRows)
        .execute();
      const free = locked.filter(({ isFree }) => Number(isFree) === 1);
      if (free.length === 0) return [];
      await updateOf(db)
        .set({ lease, due_at: database.fromNow(leaseMs) })
        .where('account', '=', account)
        .where('handler_id', '=', handlerId)
        .where('event_id', 'in', idsOf(free))
        .execute();
      const leased = await shownDeliveries(db, account)
        .where('delivery.handler_id', '=', handlerId)
        .where('delivery.event_id', 'in', idsOf(free))
        .execute();
      const byId = new Map(leased.map((row) => [row.event_id, toDelivery(row)]));
      return due.flatMap((eventId) => byId.get(eventId) ?? []);
    });
  }

  renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean> {
    return this.change(delivery, (update) =>
      update.where('lease', '=', delivery.lease).set({ due_at: this.database.fromNow(leaseMs) }),
    );
  }

  async acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    await this.database.single((db) =>
      this.database.query(
        'delete delivery',
        [account, handlerId, eventId],
        (to) => deleteDeliveries(to, account, handlerId).where('event_id', '=', eventId),
        db,
      ),
    );
  }

  async postpone(delivery: LeasedDelivery, { attempts, error, retryInMs, parked }: Postponement): Promise<void> {
    const status = parked ? PARKED : OPEN;
    const dueAt = this.database.fromNow(retryInMs);
    await this.change(delivery, (update) =>
      update
        .where('lease', '=', delivery.lease)
        .set({ attempts, error: JSON.stringify(error), status, lease: null, due_at: dueAt }),
    );
  }

  async listDeliveries({ account, parked, after, limit }: DeliveryPage): Promise<Delivery[]> {
    const rows = await this.database.read((db) =>
      shownDeliveries(db, account)
        .where('delivery.status', '=', parked ? PARKED : OPEN)
        .$if(after !== null, (query) =>
          query.where((eb) => {
            const { occurredAt, eventId, handlerId } = after!;
            const place = eb.refTuple('delivery.occurred_at', 'delivery.event_id', 'delivery.handler_id');
            return eb.and([
              // Some databases do not search an index by the comparison of tuples.
              eb('delivery.occurred_at', '>=', occurredAt.getTime()),
              eb(place, '>', eb.tuple(occurredAt.getTime(), eventId, handlerId)),
            ]);
          }),
        )
        .orderBy('delivery.occurred_at')
        .orderBy('delivery.event_id')
        .orderBy('delivery.handler_id')
        .limit(limit)
        .execute(),
    );
    return rows.map(toDelivery);
  }

  async replay(account: string, handlerId: string, eventId: string): Promise<ReplayOutcome> {
    const isReplayed = await this.change({ account, handlerId, eventId }, (update) =>
      update
        .where('status', '=', PARKED)
        .set({ status: OPEN, attempts: 0, error: null, due_at: this.database.fromNow() }),
    );
    if (!isReplayed) return 'absent';
    const overtaking = await this.database.read((db) =>
      db
        .selectFrom('card_payment_delivery as delivery')
        .innerJoin('card_payment_version as later', (join) =>
          join
            .onRef('later.account', '=', 'delivery.account')
            .onRef('later.conversation_id', '=', 'delivery.conversation_id')
            .onRef('later.version', '>', 'delivery.version'),
        )
        .innerJoin('card_payment_handler as pair', (join) =>
          join
            .onRef('pair.account', '=', 'later.account')
            .onRef('pair.type', '=', 'later.type')
            .onRef('pair.handler_id', '=', 'delivery.handler_id'),
        )
        .where('delivery.account', '=', account)
        .where('delivery.handler_id', '=', handlerId)
        .where('delivery.event_id', '=', eventId)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('card_payment_delivery as pending')
                .whereRef('pending.account', '=', 'later.account')
                .whereRef('pending.conversation_id', '=', 'later.conversation_id')
                .whereRef('pending.version', '=', 'later.version')
                .where('pending.handler_id', 'in', ['', handlerId])
                .select('pending.event_id'),
            ),
          ),
        )
        .select('later.version')
        .limit(1)
        .execute(),
    );
    return overtaking.length > 0 ? 'overtaken' : 'replayed';
  }

  protected async countDeliveries(account: string): Promise<Omit<StoreCounts, 'states' | 'refunds'>> {
    const { database } = this;
    const rows = await database.read((db) =>
      db
        .selectFrom('card_payment_delivery')
        .where('account', '=', account)
        .where('status', 'in', [OPEN, PARKED, WAITING])
        .groupBy(['status', 'handler_id', 'type'])
        .select(({ fn }) => ['status', 'handler_id', 'type', fn.countAll().as('count')])
        .execute(),
    );
    const alive = await database.read((db) =>
      pairsOf(db, account).where('announced_at', '>', database.fromNow(-PAIR_ALIVE_MS)).execute(),
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
      const read = count;
      const due = await database.read((db) => this.due(db, request, read).execute());
      const free = due.filter(({ waits }) => Number(waits) === 0).slice(0, limit);
      if (free.length === limit || due.length < read || tries > MAX_PUT_OFFS) return idsOf(free);
      count = tries === 0 ? limit + FEW_WAITING : PUT_OFF_BATCH;
      // Most often there are few, and they are free soon.
      if (tries === 0) continue;
      const waiting = due.filter(({ waits }) => Number(waits) !== 0);
      await database.single((db) =>
        updateOf(db)
          .set({ due_at: database.fromNow(putOffMs(waiting.map(({ age }) => Number(age)))) })
          .where('account', '=', account)
          .where('handler_id', '=', handlerId)
          .where('event_id', 'in', idsOf(waiting))
          .where('status', '=', OPEN)
          .where('due_at', '<=', database.fromNow())
          .execute(),
      );
    }
  }

  /** The first deliveries of each type that are due to a handler, and whether they wait for an earlier one. */
  private due(db: PaymentDb, request: DeliveryLeaseRequest, limit: number) {
    const now = this.database.fromNow();
    return db
      .selectFrom(firstOfEach(db, { ...request, limit }, now).as('delivery'))
      .select((eb) => [
        'delivery.event_id',
        sql<number | string>`${now} - delivery.occurred_at`.as('age'),
        isTrue(eb.exists(this.earlier(eb, request))).as('waits'),
      ])
      .orderBy('delivery.due_at')
      .orderBy('delivery.version');
  }

  /**
   * What a delivery waits for: earlier events of its payment that wait to be fanned out to the handler, or that are
   * open and still announced, leased, or due now themselves.
   */
  private earlier(eb: Delivering, { handlerId, types }: DeliveryLeaseRequest) {
    const now = this.database.fromNow();
    // A queue grows and shrinks: statistics that were taken while it was short would have all of it read.
    const table = sql<PaymentTables['card_payment_delivery']>`card_payment_delivery`;
    const hint = this.database.engine.indexHint('card_payment_delivery_payment');
    return eb
      .selectFrom(table.as<'earlier'>(sql`earlier ${sql.raw(hint)}`))
      .leftJoin('card_payment_handler as pair', (join) =>
        join
          .onRef('pair.account', '=', 'earlier.account')
          .onRef('pair.type', '=', 'earlier.type')
          .on('pair.handler_id', '=', handlerId),
      )
      .whereRef('earlier.account', '=', 'delivery.account')
      .whereRef('earlier.conversation_id', '=', 'delivery.conversation_id')
      .whereRef('earlier.version', '<', 'delivery.version')
      .where('earlier.handler_id', 'in', ['', handlerId])
      .where('earlier.status', '!=', PARKED)
      .where((inner) =>
        inner.or([
          inner('pair.announced_at', '>', this.database.fromNow(-PAIR_ALIVE_MS)),
          inner.and([inner('earlier.lease', 'is not', null), inner('earlier.due_at', '>', now)]),
          inner.and([
            inner('earlier.status', '=', OPEN),
            inner('earlier.type', 'in', types),
            inner('earlier.due_at', '<=', now),
          ]),
        ]),
      )
      .select('earlier.event_id');
  }

  /** @returns whether there was such a delivery */
  private async change(
    { account, handlerId, eventId }: Omit<LeasedDelivery, 'lease'>,
    set: (update: ReturnType<typeof updateOf>) => ReturnType<typeof updateOf>,
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.database.single((db) =>
      set(updateOf(db).where('account', '=', account).where('handler_id', '=', handlerId))
        .where('event_id', '=', eventId)
        .executeTakeFirstOrThrow(),
    );
    return numUpdatedRows !== 0n;
  }
}

/** A query of deliveries, all columns or those by which an earlier one is found. */
type Delivering = ExpressionBuilder<
  PaymentTables & { delivery: Pick<PaymentTables['card_payment_delivery'], 'account' | 'conversation_id' | 'version'> },
  'delivery'
>;

function updateOf(db: PaymentDb) {
  return db.updateTable('card_payment_delivery');
}

type HandlerRow = Pick<Selectable<PaymentTables['card_payment_handler']>, 'handler_id' | 'type'>;

/** The pairs of an account. */
export function pairsOf(db: PaymentDb, account: string) {
  return db.selectFrom('card_payment_handler').where('account', '=', account).select(['handler_id', 'type']);
}

function deliveriesTo(db: PaymentDb, account: string, handlerId: string) {
  return db.selectFrom('card_payment_delivery').where('account', '=', account).where('handler_id', '=', handlerId);
}

/** A condition as a number, 1 or 0: not every database has a type for it. */
function isTrue(condition: Expression<SqlBool>): RawBuilder<number> {
  return sql<number>`case when ${condition} then 1 else 0 end`;
}

function deleteDeliveries(db: PaymentDb, account: string, handlerId: string) {
  return db.deleteFrom('card_payment_delivery').where('account', '=', account).where('handler_id', '=', handlerId);
}

/** Deliveries of an account, each with the version that its event is of. */
function shownDeliveries(db: PaymentDb, account: string) {
  return db
    .selectFrom('card_payment_delivery as delivery')
    .innerJoin('card_payment_version as version', (join) => join.on(itsVersion('delivery')))
    .where('delivery.account', '=', account)
    .select([
      'delivery.account',
      'delivery.handler_id',
      'delivery.event_id',
      'delivery.status',
      'delivery.attempts',
      'delivery.error',
      'delivery.due_at',
      'version.record',
    ]);
}

type FirstRequest = Pick<DeliveryLeaseRequest, 'account' | 'handlerId' | 'limit'> & {
  readonly types: readonly string[];
};

/**
 * The first deliveries of each type to a handler, or of what waits to be fanned out, where that is empty; each type by
 * its part of an index.
 */
function firstOfEach(db: PaymentDb, { account, handlerId, types, limit }: FirstRequest, now?: RawBuilder<number>) {
  const ofType = (type: string) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('card_payment_delivery')
          .where('account', '=', account)
          .where('status', '=', handlerId === '' ? WAITING : OPEN)
          .where('handler_id', '=', handlerId)
          .where('type', '=', type)
          .$if(now !== undefined, (query) => query.where('due_at', '<=', now!))
          .orderBy('due_at')
          .orderBy('version')
          .limit(limit)
          .select(['account', 'conversation_id', 'version', 'event_id', 'type', 'occurred_at', 'due_at'])
          .as('first'),
      )
      .selectAll();
  const [first = '', ...others] = new Set(types);
  return others.reduce((query, type) => query.unionAll(ofType(type)), ofType(first));
}

function idsOf(rows: readonly { readonly event_id: string }[]): string[] {
  return rows.map((row) => row.event_id);
}
