import type { PaymentStore } from '../../lib/store/payment-store.js';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { TestClock } from 'nestjs-card-payment/testing';
import { at, StoreTrial } from '../store/contract/store-trial.js';
import { fanOutLock, type Session, SQL_SERVERS, type SqlServer } from '../rigs/sql-servers.js';
import type { SharedStore } from '../rigs/shared-stores.js';
import { suiteStore } from '../rigs/suite-stores.js';
import { startTcpProxy } from '../services/tcp-proxy.js';
import { hashedName } from '../../lib/store/unique-names.js';
import { until } from '../services/until.js';
import { ENGINES, longLimitStore, TRIED } from './engines.js';

/** Longer than the store waits for a lock, twice. */
const MAX_LOCK_WAIT_MS = 13_000;
const DAY_MS = 86_400_000;

interface Scene {
  readonly url: string;
  readonly store: PaymentStore;
  readonly trial: StoreTrial;
  readonly vanished: Session;
}

describe.each(TRIED)('a host vanishes in the middle of a transaction, on %s', (name) => {
  const database: SqlServer = SQL_SERVERS[name];

  let server: SharedStore;
  const scenes: { readonly play: () => Promise<void>; played?: Promise<void> }[] = [];

  // All run at once, since each waits for seconds. In concurrent tests Jest refuses the imports of drivers.
  beforeAll(async () => {
    server = await suiteStore(name);
    for (const scene of scenes) {
      scene.played = scene.play();
      scene.played.catch(() => undefined);
    }
  });

  function scene(title: string, run: (scene: Scene) => Promise<void>): void {
    const scene: (typeof scenes)[number] = { play: () => play(run) };
    scenes.push(scene);
    it(title, async () => {
      await scene.played;
    });
  }

  async function play(run: (scene: Scene) => Promise<void>): Promise<void> {
    const url = await server.create();
    const store = await openSqlStore(url);
    await store.open();
    const vanished = await database.connect(url);
    await vanished.run('begin');
    try {
      await run({ url, store, trial: new StoreTrial(store, store, new TestClock()), vanished });
    } finally {
      await vanished.end();
      await store.close();
    }
  }

  // What goes past such a row is shown in store/sql/engines/row-locks.
  scene('a payment’s row: its own writers wait with a limit', async ({ trial, vanished }) => {
    const locked = await trial.insert({ state: 'failed', finalizedAt: new Date(0) });
    await lock(vanished, 'card_payment', trial, 'conversation_id', locked.conversationId);
    await pay(trial);
    await Promise.all([refusedInTime(() => trial.replace(locked)), refusedInTime(() => trial.insertRefund(locked))]);
  });

  scene('a handler: payments go on, and its announcement waits with a limit', async ({ trial, vanished }) => {
    const handler = await trial.handler('payment.succeeded');
    await lock(vanished, 'card_payment_handler', trial, 'handler_id', handler);
    await pay(trial);
    await refusedInTime(() => trial.announce(handler, 'payment.succeeded'));
  });

  scene(
    'the fan-out: payments, leases and their purge go on, what waits for it has a limit, and the rest is done afterwards',
    async ({ trial, vanished }) => {
      const handler = await trial.handler('payment.succeeded');
      await pay(trial);
      await trial.fanOut();
      await trial.insert({ state: 'failed', finalizedAt: new Date(0) });
      expect(await vanished.run(fanOutLock(trial.account, handler))).toHaveLength(1);
      await pay(trial);
      expect(await promptly(() => trial.lease(handler))).toHaveLength(1);
      expect(await promptly(() => purge(trial))).toEqual({ payments: 1, events: 0, unheard: 0 });
      // No pair of handler and type is forgotten while deliveries may be made for it.
      const pairs = { paymentsMs: null, pairsMs: -DAY_MS, keysMs: DAY_MS };
      await Promise.all([
        refusedInTime(() => trial.store.purge(trial.account, pairs)),
        refusedInTime(() => trial.fanOut()),
      ]);
      await vanished.run('rollback');
      expect(await trial.take(handler)).toHaveLength(1);
    },
  );

  scene(
    'the reference of an order: other orders go on, and this one waits with a limit',
    async ({ trial, vanished }) => {
      await vanished.run(
        `insert into card_payment_name values ('${trial.account}', '${hashedName('lock', 'order-1')}', 'elsewhere', null)`,
      );
      await pay(trial);
      await refusedInTime(() => trial.insert({ referenceLock: 'order-1' }));
      await vanished.run('rollback');
      await trial.insert({ referenceLock: 'order-1' });
    },
  );

  for (const pool of ENGINES[name].limitedPools) {
    scene(`the module’s own session over a pool (${pool}), in the middle of a purge: the server ends it`, async () => {
      const url = await server.create();
      const proxy = await startTcpProxy({ port: Number(new URL(url).port) });
      const frozen = longLimitStore(name, url.replace(/:\d+\//, `:${proxy.port}/`), pool);
      await frozen.store.open();
      const others = await openSqlStore(url);
      const payments = new StoreTrial(others, others, new TestClock());
      const record = await payments.insert({ state: 'failed', finalizedAt: new Date(0) });
      // The purge has locked the payment, and waits before its next statement.
      const obstacle = await database.connect(url);
      await obstacle.run('begin');
      await lock(obstacle, 'card_payment_version', payments, 'conversation_id', record.conversationId);
      const purged = expect(purge({ store: frozen.store, account: payments.account })).rejects.toThrow();
      await until(async () => database.isAnyoneWaiting(obstacle, '%delete%version%'));
      proxy.hold();
      await obstacle.run('rollback');
      await obstacle.end();

      const replaced = async () => await others.replace(payments.next(record), record).catch(() => 'locked' as const);
      expect(await replaced()).toBe('locked');
      await until(async () => (await replaced()) === 'replaced', 25_000);
      await purged;
      proxy.release();
      await frozen.store.close();
      await frozen.end();
      await others.close();
      await proxy.stop();
    });
  }
});

function purge({ store, account }: Pick<StoreTrial, 'store' | 'account'>) {
  return store.purge(account, { paymentsMs: DAY_MS, pairsMs: DAY_MS, keysMs: DAY_MS });
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

async function lock(session: Session, table: string, trial: StoreTrial, column: string, value: string): Promise<void> {
  const where = `account = '${trial.account}' and ${column} = '${value}'`;
  expect(await session.run(`select 1 from ${table} where ${where} for update`)).not.toEqual([]);
}
