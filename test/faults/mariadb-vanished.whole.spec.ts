import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import type { PaymentStore } from 'nestjs-card-payment';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { TestClock } from 'nestjs-card-payment/testing';
import { at, StoreTrial } from '../../lib/testing/contract/store-trial.js';
import { type MariaDb, startMariaDb } from '../services/mariadb.js';
import { startTcpProxy } from '../services/tcp-proxy.js';
import { until } from '../services/until.js';
import { isAnyoneWaiting, sessionsOf } from '../store/sql/engines/mysql/sessions.js';
import { patientStore } from './mariadb-shops.js';

/** Longer than the store waits for a lock, twice. */
const MAX_LOCK_WAIT_MS = 13_000;
const DAY_MS = 86_400_000;

/** A database with a store, and the session of a host that vanished in the middle of a transaction, without limits. */
interface Scene {
  readonly url: string;
  readonly store: PaymentStore;
  readonly trial: StoreTrial;
  readonly vanished: Connection;
}

let mariadb: MariaDb;
const scenes: { readonly play: () => Promise<void>; played?: Promise<void> }[] = [];

describe('mariadb vanished', () => {
  beforeAll(async () => {
    mariadb = await startMariaDb();
    // All run at once, since each waits for seconds.
    for (const scene of scenes) {
      scene.played = scene.play();
      scene.played.catch(() => undefined);
    }
  });
  afterAll(() => mariadb.stop());

  const purge = ({ store, account }: Pick<StoreTrial, 'store' | 'account'>) =>
    store.purge(account, { paymentsMs: DAY_MS, pairsMs: DAY_MS, keysMs: DAY_MS });

  scene(
    'a payment’s row: other payments go on, and so does the purge of others; its own writers wait with a limit',
    async ({ trial, vanished }) => {
      const old = { state: 'failed', finalizedAt: new Date(0) } as const;
      const [locked, other] = [await trial.insert(old), await trial.insert(old)];
      await lock(vanished, 'card_payment', trial, 'conversation_id', locked.conversationId);
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
      const events: string[] = [];
      for (const record of records) events.push((await trial.publish(record, 'failed', at(1))).event.eventId);
      const [first, second] = records.map(({ conversationId }) => conversationId) as [string, string];

      await lock(vanished, 'card_payment', trial, 'conversation_id', first);
      const due = await promptly(() => store.leaseDue({ account: trial.account, leaseMs: DAY_MS, limit: 10 }));
      expect(due.map(({ conversationId }) => conversationId)).toEqual([second]);

      await lock(vanished, 'card_payment_event', trial, 'event_id', events[0]!);
      expect(await promptly(() => trial.fanOut())).toBe(1);
      await vanished.query('rollback');
      await vanished.query('begin');
      expect(await promptly(() => trial.fanOut())).toBe(1);

      await lock(vanished, 'card_payment_delivery', trial, 'conversation_id', first);
      const leased = await promptly(() => trial.lease(handler));
      expect(leased.map(({ event }) => event.eventId)).toEqual([events[1]]);
    },
  );

  scene('an event of a payment: its later ones are not fanned out before it', async ({ trial, vanished }) => {
    const handler = await trial.handler('payment.unknown', 'payment.succeeded');
    const { record, event } = await trial.publish(await trial.insert(), 'unknown', at(1));
    await trial.publish(record, 'succeeded', at(2));
    await lock(vanished, 'card_payment_event', trial, 'event_id', event.eventId);
    expect(await promptly(() => trial.fanOut())).toBe(0);
    await vanished.query('rollback');
    expect(await trial.fanOut()).toBe(2);
    const [first] = await trial.lease(handler);
    expect(first?.event.eventId).toBe(event.eventId);
  });

  scene(
    'the fan-out: payments, leases and their purge go on, the wait for it has a limit, and the rest is done afterwards',
    async ({ trial, vanished }) => {
      const handler = await trial.handler('payment.succeeded');
      await pay(trial);
      await trial.fanOut();
      await trial.insert({ state: 'failed', finalizedAt: new Date(0) });
      await lock(vanished, 'card_payment_handler', trial, 'handler_id', handler);
      await pay(trial);
      expect(await promptly(() => trial.lease(handler))).toHaveLength(1);
      expect(await promptly(() => purge(trial))).toEqual({ payments: 1, events: 0 });
      // No pair of handler and type is forgotten while deliveries may be made for it.
      const pairs = { paymentsMs: null, pairsMs: -DAY_MS, keysMs: DAY_MS };
      await Promise.all([
        refusedInTime(() => trial.fanOut()),
        refusedInTime(() => trial.announce(handler, 'payment.succeeded')),
        refusedInTime(() => trial.store.purge(trial.account, pairs)),
      ]);
      await vanished.query('rollback');
      expect(await trial.take(handler)).toHaveLength(1);
    },
  );

  scene(
    'the reference of an order: other orders go on, and this one waits with a limit',
    async ({ trial, vanished }) => {
      const values = [trial.account, 'order-1', 'elsewhere'];
      await vanished.query('insert into card_payment_reference_lock values (?, ?, ?)', values);
      await pay(trial);
      await refusedInTime(() => trial.insert({ referenceLock: 'order-1' }));
      await vanished.query('rollback');
      await trial.insert({ referenceLock: 'order-1' });
    },
  );

  scene(
    'the lock for migrations: a store whose tables exist opens, another one gives up in time and says why',
    async ({ url, vanished }) => {
      const held = `insert into card_payment_migration_lock values (1, 'vanished', now())`;
      await vanished.query(held);
      const opens = await openSqlStore(url);
      await promptly(() => opens.open());
      await opens.close();

      const empty = await mariadb.createDatabase();
      const other = await createConnection(empty);
      await other.query(
        'create table card_payment_migration_lock (id integer primary key, owner varchar(100), taken_at datetime(6))',
      );
      await other.query('begin');
      await other.query(held);
      const late = await openSqlStore(empty);
      const began = performance.now();
      await expect(late.open()).rejects.toThrow('MariaDB is being changed by another process that does not finish');
      expect(performance.now() - began).toBeLessThan(MAX_LOCK_WAIT_MS);
      // One that died without a transaction leaves its row, which is taken over.
      await other.query('commit');
      await late.open();
      await late.close();
      await other.end();
    },
  );

  scene('the module’s own session, in the middle of a purge: the server ends it', async () => {
    const database = await mariadb.createDatabase();
    const proxy = await startTcpProxy({ port: Number(new URL(database).port) });
    const victim = patientStore(database.replace(/:\d+\//, `:${proxy.port}/`), 'own');
    await victim.store.open();
    const others = await openSqlStore(database);
    const payments = new StoreTrial(others, others, new TestClock());
    const record = await payments.insert({ state: 'failed', finalizedAt: new Date(0) });
    // The purge has locked the payment, and waits before its next statement.
    const obstacle = await createConnection(database);
    await obstacle.query('begin');
    await lock(obstacle, 'card_payment_history', payments, 'conversation_id', record.conversationId);
    const purged = expect(purge({ store: victim.store, account: payments.account })).rejects.toThrow();
    const isWaiting = async () => {
      const [rows] = await obstacle.query<RowDataPacket[]>(
        `select id from information_schema.processlist where db = database() and info like 'delete%history%'`,
      );
      return rows.length > 0;
    };
    await until(isWaiting);
    proxy.hold();
    await obstacle.query('rollback');
    await obstacle.end();

    const replaced = async () => await others.replace(payments.next(record), 1).catch(() => 'locked' as const);
    await until(async () => (await replaced()) === 'replaced', 25_000);
    await purged;
    proxy.release();
    await victim.store.close();
    await victim.end();
    await others.close();
    await proxy.stop();
  });

  scene(
    'a process that is killed in the middle of a transaction: what it held is free at once',
    async ({ url, trial }) => {
      const record = await trial.insert({ referenceLock: 'order-1' });
      const script = `
    import { createConnection } from 'mysql2/promise';
    const connection = await createConnection(process.argv[1]);
    await connection.query('begin');
    await connection.query("update card_payment set version = 2 where account = ? and conversation_id = ?", [process.argv[2], process.argv[3]]);
    await connection.query("delete from card_payment_reference_lock where account = ?", [process.argv[2]]);
    console.log('holds them');`;
      const args = ['--input-type=module', '-e', script, url, trial.account, record.conversationId];
      const process_ = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(process_.stdout, 'data');
      const admin = await createConnection(url);
      const replaced = trial.replace(record, { state: 'authorizing' });
      await until(() => isAnyoneWaiting(admin));
      expect((await sessionsOf(admin, new URL(url).pathname.slice(1))).length).toBeGreaterThan(1);
      const exit = once(process_, 'exit');
      process_.kill('SIGKILL');
      await exit;
      expect(await promptly(() => replaced)).toMatchObject({ version: 2 });
      expect(await trial.store.insert(trial.record({ referenceLock: 'order-1' }))).toBe('referenceLock');
      await admin.end();
    },
  );
});

function scene(name: string, run: (scene: Scene) => Promise<void>): void {
  const scene: (typeof scenes)[number] = { play: () => play(run) };
  scenes.push(scene);
  test(name, async () => {
    await scene.played;
  });
}

async function play(run: (scene: Scene) => Promise<void>): Promise<void> {
  const url = await mariadb.createDatabase();
  const store = await openSqlStore(url);
  await store.open();
  const vanished = await createConnection(url);
  await vanished.query('begin');
  try {
    await run({ url, store, trial: new StoreTrial(store, store, new TestClock()), vanished });
  } finally {
    vanished.destroy();
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

async function lock(vanished: Connection, table: string, trial: StoreTrial, column: string, value: string) {
  const text = `select 1 from ${table} where account = ? and ${column} = ? for update`;
  const [rows] = await vanished.query<RowDataPacket[]>(text, [trial.account, value]);
  expect(rows.length).toBeGreaterThan(0);
}
