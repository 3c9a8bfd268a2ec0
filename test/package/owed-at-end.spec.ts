import { runScript, SALE_CODE } from './tarball.js';

/** A job of a merchant that takes a payment while its store refuses outcomes for some time. */
const JOB = `
  import 'reflect-metadata';
  import { Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  import { MemoryPaymentStore, PaymentModule, PaymentService } from 'nestjs-card-payment';

  const start = performance.now();
  const store = new MemoryPaymentStore();
  const replace = store.replace.bind(store);
  const [written, logged] = [[], []];
  let isDown = true;
  setTimeout(() => (isDown = false), Number(process.env.DOWN_MS)).unref();
  store.replace = async (record, ...more) => {
    if (isDown) throw new Error('down');
    const outcome = await replace(record, ...more);
    written.push(record.state);
    return outcome;
  };
  class Shop {}
  Module({ imports: [PaymentModule.forRoot({ store })] })(Shop);
  process.on('exit', () => {
    const seconds = Math.round((performance.now() - start) / 1000);
    console.log(JSON.stringify({ written, seconds, named: logged.join().includes(conversationId) }));
  });
  const logger = { log() {}, warn() {}, error: (line) => logged.push(String(line)) };
  const app = await NestFactory.createApplicationContext(Shop, { logger });
  const { conversationId, stored } = await app.get(PaymentService).doPayment(${SALE_CODE});
  logged.length = 0;
  if (stored) throw new Error('The outcome was stored at once, so nothing is owed.');
`;

const ENDS = {
  'leaves its application open': '',
  'closes its application': 'await app.close();',
  'is sent SIGTERM': `app.enableShutdownHooks([], { useProcessExit: true }); process.kill(process.pid, 'SIGTERM');`,
};

interface Ended {
  readonly written: readonly string[];
  readonly seconds: number;
  /** Whether the log names the payment that could not be written. */
  readonly named: boolean;
}

async function run(end: string, downMs: number): Promise<Ended> {
  const env = { PAYMENT_BASE_URL: 'simulator:', DOWN_MS: String(downMs) };
  return JSON.parse(await runScript(JOB + end, env, 90_000)) as Ended;
}

/** The six jobs run at the same time, since they only wait. */
let jobs: ReadonlyMap<string, { readonly briefly: Promise<Ended>; readonly forGood: Promise<Ended> }>;

describe('owed at end', () => {
  beforeAll(() => {
    const started = Object.values(ENDS).map(
      (end) => [end, { briefly: run(end, 4_000), forGood: run(end, 3_600_000) }] as const,
    );
    // A job that fails makes its own test fail.
    for (const [, { briefly, forGood }] of started) void Promise.allSettled([briefly, forGood]);
    jobs = new Map(started);
  });

  describe.each(Object.entries(ENDS))('a job that %s', (_what, end) => {
    it('writes what a store did not accept for some seconds, and ends as soon as that is done', async () => {
      const { written, seconds, named } = await jobs.get(end)!.briefly;
      expect([written, named]).toEqual([['succeeded'], false]);
      expect(seconds).toBeLessThan(20);
    }, 100_000);

    it('waits half a minute for a store that stays down, and logs which payments are not written', async () => {
      const { written, seconds, named } = await jobs.get(end)!.forGood;
      expect([written, named]).toEqual([[], true]);
      expect(seconds).toBeGreaterThanOrEqual(30);
      expect(seconds).toBeLessThan(60);
    }, 100_000);
  });
});
