import { join } from 'node:path';
import type { PaymentOptions } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { readJournal } from '../rigs/journal.js';
import { sale } from '../rigs/sale.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { accountAt } from '../rigs/simulated-gateway.js';
import type { TaskProcess } from '../rigs/task-process.js';
import { type MariaDb, startMariaDb } from '../services/mariadb.js';
import { type Postgres, startPostgres } from '../services/postgres.js';
import { until } from '../services/until.js';
import { type PaidSale, Releases, type ShopTasks, THIS_SCHEMA } from './releases.js';

const BATCH = 10;

/** The release after this one only adds to the tables; the one after that no longer supports this one. */
const NEXT = { version: '1000.0.0', lowest: THIS_SCHEMA, sql: 'alter table card_payment add column note text' };
const CLOSING = { version: '2000.0.0', lowest: THIS_SCHEMA + 1, sql: 'create table card_payment_later (id integer)' };

describe('two releases that run at the same time', () => {
  let releases: Releases;
  let simulator: Simulator;
  let postgres: Postgres;
  let mariadb: MariaDb;
  const { path: folder, remove } = makeScratchFolder('upgrades');

  beforeAll(async () => {
    [simulator, releases, postgres, mariadb] = await Promise.all([
      startSimulator({ dialect: 'morpos' }),
      Releases.pack(),
      startPostgres(),
      startMariaDb(),
    ]);
    releases.add('next', 'this', NEXT);
    releases.add('closing', 'next', CLOSING);
  });
  afterAll(async () => {
    releases?.remove();
    await simulator?.close();
    await postgres?.stop();
    await mariadb?.stop();
    remove();
  });

  const newStores: Readonly<Record<string, () => string | Promise<string>>> = {
    SQLite: () => `sqlite:${join(folder, 'payments.db')}`,
    PostgreSQL: () => postgres.createDatabase(),
    MariaDB: () => mariadb.createDatabase(),
  };

  describe.each(Object.entries(newStores))('on %s', (database, newStore) => {
    const running = new Set<TaskProcess>();
    const paid: PaidSale[] = [];
    let options: PaymentOptions;
    let journal: string;

    beforeAll(async () => {
      journal = join(folder, `${database}.journal`);
      options = {
        ...accountAt(simulator),
        returnUrl: 'https://shop.example/{token}',
        failUrl: 'https://shop.example/{token}',
        storeUrl: await newStore(),
      };
    });
    afterEach(async () => {
      await Promise.all(Array.from(running, (shop) => shop.kill()));
      running.clear();
    });

    it('both take payments and deliver events, and this one can restart with the newer tables', async () => {
      let current = await start('this');
      paid.push(...(await current.pay(sales(5))));
      const next = await start('next');
      const batches = await Promise.all([current.pay(sales(BATCH)), next.pay(sales(BATCH))]);
      paid.push(...batches.flat());

      await current.end();
      current = await start('this');
      const later = await Promise.all([current.pay(sales(BATCH)), next.pay(sales(BATCH))]);
      paid.push(...later.flat());
      const states = paid.map(({ state }) => state);
      const ids = paid.map(({ conversationId }) => conversationId);
      expect([await current.statesOf(ids), await next.statesOf(ids)]).toEqual([states, states]);

      const expected = paid.map(({ conversationId, change }) => `${conversationId}:${change}`).sort();
      const events = () => readJournal<Record<'version' | 'type' | 'eventId', string>>(journal);
      await until(() => events().length >= expected.length, 10_000).catch(() => undefined);
      const handled = events();
      expect(handled.map(({ eventId }) => eventId).sort()).toEqual(expected);
      expect(new Set(handled.map(({ version }) => version)).size).toBe(2);
      // This release declares only `succeeded`.
      const failed = handled.filter(({ type }) => type === 'payment.failed');
      expect(failed).toHaveLength(paid.filter(({ state }) => state === 'failed').length);
      expect(new Set(failed.map(({ version }) => version))).toEqual(new Set([NEXT.version]));

      const charged = paid.filter(({ conversationId }) => simulator.ledger.chargedTimes(conversationId) === 1);
      expect(charged).toEqual(paid.filter(({ state }) => state === 'succeeded'));
      expect(simulator.ledger.violations).toEqual([]);
    }, 30_000);

    it('the older one fails at start-up, and says what to do, if the tables are too new for it', async () => {
      const closing = await start('closing');
      await expect(start('this')).rejects.toThrow(
        `the payment tables are of version ${THIS_SCHEMA + 2}, newer than this release of nestjs-card-payment, ` +
          `which knows version ${THIS_SCHEMA}: update nestjs-card-payment`,
      );
      // The release between them supports the tables.
      const next = await start('next');
      const batches = await Promise.all([closing.pay(sales(2)), next.pay(sales(2))]);
      expect(batches.flat().map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'succeeded'));
    }, 30_000);

    async function start(name: 'this' | 'next' | 'closing') {
      const states = name === 'this' ? (['succeeded'] as const) : (['succeeded', 'failed'] as const);
      const shop = await releases.start(name, { options, states, journal });
      running.add(shop);
      return shop.as<ShopTasks>();
    }
  });
});

/** Every fifth sale is declined. */
function sales(count: number) {
  return Array.from({ length: count }, (_, i) => sale(i % 5 === 4 ? '149.51' : '149.90'));
}
