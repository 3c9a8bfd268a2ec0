import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { morposDialect, SystemClock } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { startPostgres } from '../services/postgres.js';
import { startRedis } from '../services/redis.js';
import { sale, startInstance } from './instance.js';

const ABLE = morposDialect();
/** Of a gateway that has no inquiry, or of a release that did not know it. */
const MUTE = { ...ABLE, operations: { ...ABLE.operations, checkPayment: undefined } };

/** Where payments are kept, with what removes it. */
const STORES: Readonly<Record<string, () => Promise<{ url: string; remove: () => unknown }>>> = {
  SQLite: () => {
    const folder = mkdtempSync(join(tmpdir(), 'card-payment-revived-'));
    const remove = (): void => rmSync(folder, { recursive: true });
    return Promise.resolve({ url: `sqlite:${join(folder, 'payments.db')}`, remove });
  },
  PostgreSQL: async () => {
    const server = await startPostgres();
    return { url: server.url, remove: () => server.stop() };
  },
  Redis: async () => {
    const server = await startRedis();
    return { url: server.url, remove: () => server.stop() };
  },
};

describe.each(Object.entries(STORES))('a payment that became unknown where nobody could ask, %s', (_name, open) => {
  let simulator: Simulator;
  let storeUrl: string;
  let remove: () => unknown;

  beforeAll(async () => {
    ({ url: storeUrl, remove } = await open());
    simulator = await startSimulator({ dialect: 'morpos' });
  }, 60_000);
  afterAll(async () => {
    await simulator?.close();
    await remove?.();
  });

  it('is asked about by the next instance that can', async () => {
    const clock = new SystemClock();
    const mute = await startInstance({ simulator, clock, options: { dialect: MUTE, storeUrl } });
    simulator.fail({ operation: 'DoPayment', kind: 'reset', at: 'after' });
    const { conversationId, state } = await mute.payments.doPayment(sale());
    expect(state).toBe('unknown');
    expect(await mute.payments.reconcile()).toMatchObject({ inquired: 0 });
    await mute.close();

    const able = await startInstance({ simulator, clock, options: { dialect: ABLE, storeUrl } });
    expect(await able.payments.reconcile()).toMatchObject({ inquired: 1, settled: 1 });
    expect(await able.payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(1);
    await able.close();
  }, 60_000);
});
