import { Kysely, sql } from 'kysely';
import { startSimulator, type Simulator } from 'nestjs-card-payment/simulator';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { recordToJson, versionOf } from '../../lib/store/record-json.js';
import { type PaymentTables, sqlPaymentStore } from '../../lib/store/sql/index.js';
import { sale } from '../e2e/merchant.js';
import type { SharedStore } from '../rigs/shared-stores.js';
import { DATABASES } from '../store/sql/test-databases.js';
import { DeskPage, type DeskShop, StaffAccess, startDesk } from './desk-shop.js';

const PAYMENTS = 1_000_000;
const MAX_MS = 100;

describe.each(['sqlite', 'postgres'] as const)('a desk with a million payments, on %s', (dialect) => {
  let server: SharedStore;
  let db: Kysely<PaymentTables>;
  let simulator: Simulator;
  let shop: DeskShop;
  let id: string;

  beforeAll(async () => {
    StaffAccess.reset();
    simulator = await startSimulator({ dialect: 'morpos' });
    server = await DATABASES[dialect].start();
    db = new Kysely({ dialect: DATABASES[dialect].kysely(await server.create()) });
    const store = sqlPaymentStore({ db, dialect });
    shop = await startDesk('fastify', simulator, { options: { store } });
    ({ conversationId: id } = await shop.payments.doPayment(sale()));
    await shop.payments.refund({ conversationId: id, amount: '1' });
    await fill(db, store);
    if (dialect === 'postgres') await sql`vacuum analyze`.execute(db);
    else await sql`analyze`.execute(db);
  }, 900_000);
  afterAll(async () => {
    await shop.app.close();
    await db.destroy();
    await simulator.close();
  });

  /** The pages of a desk, from their addresses or from those that were shown before. */
  it.each([
    ['the first page', ''],
    ['payments', '/payments'],
    ['payments in a settled state', '/payments?state=succeeded'],
    ['payments to settle', '/payments?state=review,unknown'],
    ['a later page', '/payments?state=succeeded&after={middle}'],
    ['a search by id', '/payments?q={id}'],
    ['a search by order', '/payments?q=r777777'],
    ['a search that finds nothing', '/payments?q=nobody'],
    ['a payment', '/payments/{id}'],
    ['a payment of the million', '/payments/c777777'],
    ['parked deliveries', '/deliveries'],
  ])('%s takes less than 100 ms', async (name, path) => {
    const place = Buffer.from(JSON.stringify([Date.now() - PAYMENTS * 500, 'c500000'])).toString('base64url');
    const url = `${shop.url}/desk${path.replace('{id}', id).replace('{middle}', place)}`;
    const times: number[] = [];
    const cpu = process.cpuUsage();
    for (let count = 0; count < 7; count += 1) {
      const began = performance.now();
      expect((await DeskPage.get(url)).status).toBe(200);
      times.push(performance.now() - began);
    }
    // What else runs on the machine makes some of them slower.
    const best = Math.min(...times);
    const { user, system } = process.cpuUsage(cpu);
    const cpuMs = (user + system) / 1_000 / times.length;
    if (process.env.DESK_TIMES) {
      process.stderr.write(`${dialect} ${name}: ${best.toFixed(1)} ms, of the processor ${cpuMs.toFixed(1)} ms\n`);
    }
    expect(best).toBeLessThan(MAX_MS);
  });

  /** Payments, a thousandth of them unknown, each with its history and its event; a thousand of these are parked. */
  async function fill(tables: Kysely<PaymentTables>, store: PaymentStore): Promise<void> {
    const record = (await store.find('default', id))!;
    const start = Date.now() - PAYMENTS * 1_000;
    const text = recordToJson(versionOf({ ...record, conversationId: 'THEID', reference: 'THEORDER' }));
    const numbers = sql`with recursive number(i) as (select 1 union all select i + 1 from number where i < ${sql.lit(PAYMENTS)})`;
    const rows = (table: string, columns: string, values: ReturnType<typeof sql>, where = sql`1 = 1`) =>
      sql`insert into ${sql.table(table)} (account, ${sql.raw(columns)})
        ${numbers} select 'default', ${values} from number where ${where}`.execute(tables);
    const isOpen = sql`i % 1000 = 0`;
    const at = sql`${sql.lit(start)} + i * 1000`;
    await rows(
      'card_payment',
      'conversation_id, version, state, is_refund, parent_id, reference, created_at, updated_at, finalized_at, due_at',
      sql`'c' || i, 2, case when ${isOpen} then 'unknown' else 'succeeded' end, 0, null, 'r' || i, ${at}, ${at},
        case when ${isOpen} then null else ${at} end, null`,
    );
    const version = sql`replace(replace(${sql.lit(text)}, 'THEID', 'c' || i), 'THEORDER', 'r' || i)`;
    await rows('card_payment_version', 'conversation_id, version, type, record', sql`'c' || i, 1, null, ${version}`);
    await rows(
      'card_payment_version',
      'conversation_id, version, type, record',
      sql`'c' || i, 2, 'payment.succeeded', ${version}`,
    );
    await rows(
      'card_payment_delivery',
      'handler_id, event_id, conversation_id, version, type, occurred_at, status, attempts, due_at',
      sql`'h1', 'c' || i || ':2', 'c' || i, 2, 'payment.succeeded', ${at}, 1, 15, ${at}`,
      isOpen,
    );
  }
});
