import { openSqlStore } from 'nestjs-card-payment/sql';
import { TestClock } from 'nestjs-card-payment/testing';
import pg from 'pg';
import { at, StoreTrial } from '../store/contract/store-trial.js';
import { type Postgres, startPostgres } from '../services/postgres.js';
import { startTcpProxy } from '../services/tcp-proxy.js';
import { until } from '../services/until.js';
import { patientStore } from './postgres-shops.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** Longer than the store waits for a lock. */
const MAX_LOCK_WAIT_MS = 9_000;
const DAY_MS = 86_400_000;

/** A database with a store, and the session of a host that vanished in the middle of a transaction, without limits. */
interface Scene {
  readonly url: string;
  readonly store: PaymentStore;
  readonly trial: StoreTrial;
  readonly vanished: pg.Client;
}

let postgres: Postgres;
const scenes: { readonly play: () => Promise<void>; played?: Promise<void> }[] = [];

describe('postgres vanished', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    // All run at once, since each waits for seconds.
    for (const scene of scenes) {
      scene.played = scene.play();
      scene.played.catch(() => undefined);
    }
  });
  afterAll(() => postgres.stop());

  const purge = ({ store, account }: Pick<StoreTrial, 'store' | 'account'>) =>
    store.purge(account, { paymentsMs: DAY_MS, pairsMs: DAY_MS, keysMs: DAY_MS });

  scene(
    'a payment’s row: other payments go on, and so does the purge of others; its own writers wait with a limit',
    async ({ trial, vanished }) => {
      const old = { state: 'failed', finalizedAt: new Date(0) } as const;
      const [locked, other] = [await trial.insert(old), await trial.insert(old)];
      await vanished.query('select from card_payment where conversation_id = $1 for update', [locked.conversationId]);
      await pay(trial);
      expect(await promptly(() => purge(trial))).toEqual({ payments: 1, events: 0 });
      expect([await trial.find(other), await trial.find(locked)]).toEqual([null, locked]);
      await refusedInTime(() => trial.replace(locked));
    },
  );

  scene(
    'a payment that is due, an event and a delivery: others are leased and fanned out',
    async ({ store, trial, vanished }) => {
      const handler = await trial.handler('payment.failed');
      const records = [await trial.insert({ dueAt: at(0) }), await trial.insert({ dueAt: at(0) })];
      const ids: string[] = [];
      for (const record of records) ids.push((await trial.publish(record, 'failed', at(1))).event.eventId);
      const [first, second] = records.map(({ conversationId }) => conversationId);

      await vanished.query('select from card_payment where conversation_id = $1 for update', [first]);
      const due = await promptly(() => store.leaseDue({ account: trial.account, leaseMs: DAY_MS, limit: 10 }));
      expect(due.map(({ conversationId }) => conversationId)).toEqual([second]);

      await vanished.query('select from card_payment_event where conversation_id = $1 for update', [first]);
      expect(await promptly(() => trial.fanOut())).toBe(1);
      await vanished.query('rollback; begin');
      expect(await promptly(() => trial.fanOut())).toBe(1);

      await vanished.query('select from card_payment_delivery where conversation_id = $1 for update', [first]);
      const leased = await promptly(() => trial.lease(handler));
      expect(leased.map(({ event }) => event.eventId)).toEqual([ids[1]]);
    },
  );

  scene('an event of a payment: its later ones are not fanned out before it', async ({ trial, vanished }) => {
    const handler = await trial.handler('payment.unknown', 'payment.succeeded');
    const { record, event } = await trial.publish(await trial.insert(), 'unknown', at(1));
    await trial.publish(record, 'succeeded', at(2));
    await vanished.query('select from card_payment_event where event_id = $1 for update', [event.eventId]);
    expect(await promptly(() => trial.fanOut())).toBe(0);
    await vanished.query('rollback');
    expect(await trial.fanOut()).toBe(2);
    const [first] = await trial.lease(handler);
    expect(first?.event.eventId).toBe(event.eventId);
  });

  scene(
    'the fan-out: payments and their purge go on, the wait to forget handlers has a limit, and the rest is done afterwards',
    async ({ trial, vanished }) => {
      const handler = await trial.handler('payment.succeeded');
      await trial.insert({ state: 'failed', finalizedAt: new Date(0) });
      await vanished.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`card_payment ${trial.account}`]);
      await pay(trial);
      expect(await promptly(() => trial.fanOut())).toBe(0);
      expect(await promptly(() => purge(trial))).toEqual({ payments: 1, events: 0 });
      // No pair of handler and type is forgotten while deliveries may be made for it.
      const pairs = { paymentsMs: null, pairsMs: -DAY_MS, keysMs: DAY_MS };
      await refusedInTime(() => trial.store.purge(trial.account, pairs));
      await vanished.query('rollback');
      expect(await trial.take(handler)).toHaveLength(1);
    },
  );

  scene(
    'the handlers: payments go on, and events are fanned out to those that are known',
    async ({ trial, vanished }) => {
      const handler = await trial.handler('payment.succeeded');
      await vanished.query('select from card_payment_handler for update');
      await pay(trial);
      expect(await promptly(() => trial.take(handler))).toHaveLength(1);
      await refusedInTime(() => trial.announce(handler, 'payment.succeeded'));
    },
  );

  scene(
    'the reference of an order: other orders go on, and this one waits with a limit',
    async ({ trial, vanished }) => {
      const values = [trial.account, 'order-1', 'elsewhere'];
      await vanished.query('insert into card_payment_reference_lock values ($1, $2, $3)', values);
      await pay(trial);
      await refusedInTime(() => trial.insert({ referenceLock: 'order-1' }));
      await vanished.query('rollback');
      await trial.insert({ referenceLock: 'order-1' });
    },
  );

  scene(
    'the lock for migrations: a store whose tables exist opens, another one gives up in time and says why',
    async ({ url, vanished }) => {
      await vanished.query('select pg_advisory_xact_lock(7242073316)');
      const [opens, waits] = [await openSqlStore(url), await openSqlStore(await postgres.createDatabase())];
      await promptly(() => opens.open());
      await opens.close();
      await waits.open();
      await waits.close();

      const empty = await postgres.createDatabase();
      const other = new pg.Client({ connectionString: empty });
      await other.connect();
      await other.query('begin');
      await other.query('select pg_advisory_xact_lock(7242073316)');
      const late = await openSqlStore(empty);
      const began = performance.now();
      await expect(late.open()).rejects.toThrow('PostgreSQL is being changed by another process that does not finish');
      expect(performance.now() - began).toBeLessThan(MAX_LOCK_WAIT_MS);
      await other.query('rollback');
      await late.open();
      await late.close();
      await other.end();
    },
  );

  scene('the module’s own session, in the middle of a purge: the database ends it', async () => {
    await Promise.all(
      (['own', 'given'] as const).map(async (pool) => {
        const database = await postgres.createDatabase();
        const proxy = await startTcpProxy({ port: Number(new URL(database).port) });
        const victim = patientStore(database.replace(/:\d+\//, `:${proxy.port}/`), pool);
        await victim.store.open();
        const others = await openSqlStore(database);
        const payments = new StoreTrial(others, others, new TestClock());
        const record = await payments.insert({ state: 'failed', finalizedAt: new Date(0) });
        // The purge has locked the payment, and waits before its next statement.
        const obstacle = new pg.Client({ connectionString: database });
        await obstacle.connect();
        await obstacle.query('begin; lock table card_payment_history');
        const purged = expect(purge({ store: victim.store, account: payments.account })).rejects.toThrow();
        const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        await until(async () => (await obstacle.query(waiting)).rowCount !== 0);
        proxy.hold();
        await obstacle.query('rollback');
        await obstacle.end();

        const locked = async () => await others.replace(payments.next(record), 1).catch(() => 'locked' as const);
        expect(await locked()).toBe('locked');
        await until(async () => (await locked()) === 'replaced', 15_000);
        await purged;
        proxy.release();
        await victim.store.close();
        await victim.end();
        await others.close();
        await proxy.stop();
      }),
    );
  });
});

function scene(name: string, run: (scene: Scene) => Promise<void>): void {
  const scene: (typeof scenes)[number] = { play: () => play(run) };
  scenes.push(scene);
  test(name, async () => {
    await scene.played;
  });
}

async function play(run: (scene: Scene) => Promise<void>): Promise<void> {
  const url = await postgres.createDatabase();
  const store = await openSqlStore(url);
  await store.open();
  const vanished = new pg.Client({ connectionString: url });
  await vanished.connect();
  await vanished.query('begin');
  try {
    await run({ url, store, trial: new StoreTrial(store, store, new TestClock()), vanished });
  } finally {
    await vanished.end();
    await store.close();
  }
}

/** Fails when it takes as long as a wait for a lock. */
async function promptly<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  expect(performance.now() - began).toBeLessThan(4_000);
  return result;
}

async function refusedInTime(work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await expect(work()).rejects.toThrow();
  expect(performance.now() - began).toBeLessThan(MAX_LOCK_WAIT_MS);
}

/** A whole payment, with its reference and its event. */
function pay(trial: StoreTrial): Promise<unknown> {
  return promptly(async () => {
    const reference = `order-${Math.random()}`;
    const record = await trial.insert({ reference, referenceLock: reference });
    await trial.publish(await trial.replace(record, { state: 'authorizing' }), 'succeeded', at(1));
  });
}
