import { once } from 'node:events';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { OnPayment, PaymentModule, PaymentService, type Payment } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { openStore } from '../../lib/store/open-store.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { SystemClock } from '../../lib/runtime/clock.js';
import { advance } from '../../lib/payment/transitions.js';
import { aPaymentEvent } from '../../lib/testing/a-payment.js';
import { sale } from '../rigs/sale.js';
import { cli, cliHere } from './cli.js';
import { documentedShape, shapeOf, withEmptyLists } from './documented.js';
import { scratch } from './scratch.js';
import { STORES, type TestStore } from './stores.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

@Injectable()
class Orders {
  readonly paid: string[] = [];

  @OnPayment('succeeded', { id: 'orders' })
  markPaid({ payment }: { payment: Payment }): void {
    this.paid.push(payment.conversationId);
  }
}

/** What runs as a process until it has succeeded once: each command on one store, one that reads and one that writes on all. */
const PROCESSES = (store: string): string[] =>
  store === 'SQLite' ? ['list', 'show', 'stats', 'resolve', 'inquire', 'parked', 'replay'] : ['list', 'resolve'];

describe.each(Object.entries(STORES))('payments on %s', (name, start) => {
  const { folder: cwd, remove } = scratch();
  let server: TestStore;
  let simulator: Simulator;
  let store: PaymentStore;
  let env: Readonly<Record<string, string>>;
  const review = aPaymentRecord({
    state: 'review',
    conversationId: 'REVIEW',
    reference: 'order-r',
    reason: 'amount_mismatch',
    chargedAmount: '150.90',
    isUnproven: false,
  });
  const charging = aPaymentRecord({ state: 'charging', conversationId: 'UNDERWAY', reference: 'order-u' });

  beforeAll(async () => {
    server = await start(cwd);
    simulator = await startSimulator({ dialect: 'morpos' });
    const { credentials } = simulator;
    env = {
      PAYMENT_STORE_URL: server.url,
      PAYMENT_DIALECT: 'morpos',
      PAYMENT_BASE_URL: simulator.url,
      PAYMENT_MERCHANT_ID: credentials.merchantId,
      PAYMENT_CLIENT_ID: credentials.clientId,
      PAYMENT_CLIENT_SECRET: credentials.clientSecret,
      PAYMENT_API_KEY: credentials.apiKey,
      PAYMENT_TIMEOUT_MS: '5000',
    };
    store = await openStore({
      storeUrl: server.url,
      store: null,
      variable: '',
      background: false,
      clock: new SystemClock(),
    });
    await store.insert(review);
    await store.insert(charging);
    await store.insert(aPaymentRecord({ state: 'unknown', account: 'shop', conversationId: 'OTHER' }));
    await park(store);
  });
  afterAll(async () => {
    await store?.close();
    await simulator?.close();
    await server?.stop();
    remove();
  });

  const processes = new Set(PROCESSES(name));
  const said = async (...words: string[]) => {
    const [command = ''] = words;
    const finished = await (processes.has(command) ? cli : cliHere)(['payments', ...words], { cwd, env });
    if (finished.status === 0) processes.delete(command);
    return finished;
  };
  const json = async <T>(...words: string[]): Promise<T> => {
    const { stdout, stderr } = await said(...words, '--json');
    expect(stderr).toBe('');
    const answer = JSON.parse(stdout) as T;
    expect(shapeOf(answer)).toEqual(withEmptyLists(documentedShape(`payments ${words[0]}`), answer));
    return answer;
  };

  it('lists the payments that need a person, and counts the rest', async () => {
    const { status, stdout, stderr } = await said('list');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^1 payment in unknown, review\n {2}REVIEW {2}review +149\.90 TRY {2}since .* amount_mismatch {2}reference order-r\n1 under way .*\nRefunds and voids: 0 under way, 0 unknown, 0 in review .*\n1 parked delivery\n$/,
    );
  });

  it('lists the selected payments as JSON, up to the limit', async () => {
    const all = await json<{ payments: Payment[] }>('list', '--state', 'all');
    expect(all.payments.map(({ conversationId }) => conversationId).sort()).toEqual(['MAILED', 'REVIEW', 'UNDERWAY']);
    expect(await json('list', '--state', 'all', '--limit', '2')).toMatchObject({ account: 'default', hasMore: true });
    expect(await json('list', '--state', 'all', '--limit', '3')).toMatchObject({ hasMore: false });
    const two = await json<{ payments: Payment[] }>('list', '--state', 'charging,review', '--state', 'failed');
    expect(two.payments).toHaveLength(2);
    expect(await json('list', '--reference', 'order-u')).toEqual({
      account: 'default',
      payments: [
        expect.objectContaining({ conversationId: 'UNDERWAY', amount: '149.90', currency: 'TRY', settled: false }),
      ],
      hasMore: false,
    });
    expect(await json('list', '--reference', 'order-u', '--state', 'review')).toMatchObject({ payments: [] });
    expect(await json('list', '--account', 'shop', '--store', server.url)).toMatchObject({
      account: 'shop',
      payments: [{ conversationId: 'OTHER' }],
    });
  });

  it('shows a payment, or fails', async () => {
    const { status, stdout } = await said('show', 'REVIEW');
    expect(status).toBe(0);
    expect(stdout).toContain('Payment REVIEW\n');
    expect(stdout).toMatch(/\n {2}amount +149\.90 TRY\n {2}currencyCode +949\n/);
    expect(stdout).toMatch(/History\n {2}2026-03-01T09:00:00.000Z {2}v3 {2}review/);
    expect(await json('show', 'REVIEW')).toMatchObject({
      payment: { conversationId: 'REVIEW', state: 'review', createdAt: '2026-03-01T09:00:00.000Z' },
      history: [{ version: 3, state: 'review', at: '2026-03-01T09:00:00.000Z' }],
      refunds: [],
      totals: { taken: '150.90', refundable: '150.90' },
    });
    const text = JSON.stringify(await json('show', 'REVIEW'));
    expect(text).not.toContain('tokenHash');
    await expect(said('show', 'NOBODY', '--json')).resolves.toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no payment or refund NOBODY in the account "default".\n',
    });
  });

  it('counts', async () => {
    const stats = await json<{ at: string }>('stats');
    expect(stats).toEqual({
      account: 'default',
      at: expect.any(String),
      states: {
        charging: { count: 1, oldest: '2026-03-01T09:00:00.000Z' },
        initiating: { count: 0, oldest: null },
        awaiting: { count: 0, oldest: null },
        authorizing: { count: 0, oldest: null },
        pending: { count: 0, oldest: null },
        unknown: { count: 0, oldest: null },
        review: { count: 1, oldest: '2026-03-01T09:00:00.000Z' },
      },
      refunds: {
        refunding: { count: 0, oldest: null },
        unknown: { count: 0, oldest: null },
        review: { count: 0, oldest: null },
      },
      otherGateway: 0,
      waitingEvents: 0,
      openDeliveries: 0,
      parkedDeliveries: 1,
      orphanedDeliveries: 0,
    });
    expect(Math.abs(Date.parse(stats.at) - Date.now())).toBeLessThan(60_000);
    const { stdout } = await said('stats');
    expect(stdout).toMatch(/ {2}review +1 {2}the oldest since 2026-03-01T09:00:00.000Z \(\d+ days\)/);
    expect(stdout).toContain('Deliveries: 0 waiting (0 of handlers that are gone), 1 parked');
  });

  it('settles a payment once, as an operator says', async () => {
    await expect(said('resolve', 'NOBODY', 'failed', '--note', 'seen')).resolves.toMatchObject({
      status: 1,
      stdout: '',
    });
    const settled = await json('resolve', 'REVIEW', 'failed', '--note', 'not in the panel, A.Y.');
    expect(settled).toMatchObject({ payment: { conversationId: 'REVIEW', state: 'failed', reason: 'operator' } });
    expect((await said('show', 'REVIEW')).stdout).toContain(`“not in the panel, A.Y.”  by ${userInfo().username}`);
    await expect(said('resolve', 'REVIEW', 'succeeded', '--note', 'or was it?')).resolves.toMatchObject({ status: 1 });
    await expect(store.find('default', 'REVIEW')).resolves.toMatchObject({ state: 'failed' });
  });

  it('requires --force to fail a payment that may still be sent, and records who did it', async () => {
    const claimed = new Date(Date.now() - 120_000);
    const own = { conversationId: 'CUT-OFF', reference: 'order-c', createdAt: claimed, updatedAt: claimed };
    const record = aPaymentRecord({ state: 'charging', ...own });
    await store.insert(record);
    await store.replace(advance(record, 'unknown', { reason: 'interrupted' }, new Date()), record);
    const words = ['resolve', 'CUT-OFF', 'failed', '--note', 'not in the panel', '--by', 'ada@shop.example'];
    const refused = await said(...words);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toContain('only suspended');
    await expect(json(...words, '--force')).resolves.toMatchObject({ payment: { state: 'failed' } });
    expect((await said('show', 'CUT-OFF')).stdout).toContain('“not in the panel”  by ada@shop.example');
    expect((await store.history('default', 'CUT-OFF')).at(-1)).toMatchObject({ by: 'ada@shop.example' });
  });

  it("settles a payment by the gateway's answer, and the application's handler gets the event", async () => {
    const orders = new Orders();
    const app = await Test.createTestingModule({
      imports: [
        PaymentModule.forRoot({
          ...simulator.credentials,
          dialect: 'morpos',
          baseUrl: simulator.url,
          storeUrl: server.url,
          background: false,
          callback: false,
          returnUrl: 'https://shop.example/r',
          failUrl: 'https://shop.example/f',
        }),
      ],
      providers: [{ provide: Orders, useValue: orders }],
    }).compile();
    app.useLogger(false);
    await app.init();
    try {
      const payments = app.get(PaymentService);
      simulator.fail({ operation: 'DoPayment', kind: 'close' });
      const { conversationId, state } = await payments.doPayment(sale());
      expect(state).toBe('unknown');
      simulator.fail({ operation: 'CheckPayment', kind: 'close' });
      const unclear = await said('inquire', conversationId);
      expect(unclear).toMatchObject({ status: 1, stderr: '' });
      expect(unclear.stdout).toContain('is still unknown: the gateway gave no clear answer, or none.');
      expect(await json('inquire', conversationId)).toMatchObject({
        payment: { conversationId, state: 'succeeded', settled: true },
      });
      expect(simulator.ledger.calls('DoPayment', conversationId)).toBe(1);
      await payments.reconcile();
      expect(orders.paid).toEqual([conversationId]);
      await expect(said('inquire', 'NOBODY')).resolves.toMatchObject({ status: 1, stdout: '' });
    } finally {
      await app.close();
    }
  });

  it('lists parked deliveries, and replays one', async () => {
    const parked = await json<{ deliveries: { eventId: string }[] }>('parked');
    expect(parked).toEqual({
      account: 'default',
      deliveries: [
        {
          handlerId: 'mail',
          eventId: 'MAILED:3',
          type: 'payment.succeeded',
          conversationId: 'MAILED',
          refundId: null,
          occurredAt: '2026-03-01T09:00:00.000Z',
          attempts: 12,
          error: 'Error: no mail',
        },
      ],
      hasMore: false,
    });
    await expect(said('replay', 'mail', 'MAILED:4')).resolves.toMatchObject({ status: 1, stdout: '' });
    expect(await json('replay', 'mail', 'MAILED:3')).toEqual({
      account: 'default',
      handlerId: 'mail',
      eventId: 'MAILED:3',
    });
    await expect(said('parked')).resolves.toEqual({ status: 0, stdout: 'Nothing is parked.\n', stderr: '' });
  });
});

describe('an inquiry with a missing setting', () => {
  const { folder: cwd, file, remove } = scratch();
  const env = { PAYMENT_STORE_URL: `sqlite:${file('payments.sqlite')}` };
  beforeAll(async () => {
    const clock = new SystemClock();
    const store = await openStore({
      storeUrl: env.PAYMENT_STORE_URL,
      store: null,
      variable: '',
      background: false,
      clock,
    });
    await store.insert(aPaymentRecord({ state: 'unknown', message: 'red \u001b[31m text' }));
    await store.close();
  });
  afterAll(remove);
  const { conversationId } = aPaymentRecord();

  it.each([
    [{}, 'The dialect "standard" (PAYMENT_DIALECT) cannot ask'],
    [
      { PAYMENT_DIALECT: 'morpos', PAYMENT_BASE_URL: 'simulator:' },
      'PAYMENT_BASE_URL is the simulator inside the application',
    ],
    [{ PAYMENT_DIALECT: 'morpos', PAYMENT_CLIENT_SECRET: 'geheim' }, 'clientId (PAYMENT_CLIENT_ID): is missing'],
  ])('names the missing setting (%j)', async (more, message) => {
    const { status, stdout, stderr } = await cliHere(['payments', 'inquire', conversationId], {
      cwd,
      env: { ...env, ...more },
    });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('geheim');
    expect([status, stdout]).toEqual([2, '']);
  });

  it('replaces control characters in stored text', async () => {
    const { stdout } = await cliHere(['payments', 'show', conversationId], { cwd, env });
    expect(stdout).toContain('red \uFFFD[31m text');
  });

  it("does not show a driver's message", async () => {
    // A server that does not speak PostgreSQL, and whose reply contains a password.
    const server = createServer((socket) => socket.end('FATAL password=geheim')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const url = `postgres://ada:geheim@127.0.0.1:${port}/shop`;
    const { status, stdout, stderr } = await cli(['payments', 'list', '--store', url], { cwd });
    server.close();
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('The store (--store) cannot be opened: PostgreSQL');
    expect(stderr).not.toContain('geheim');
  });
});

/** Parks a delivery of a payment's event. */
async function park(store: PaymentStore): Promise<void> {
  const mailed = { conversationId: 'MAILED', reference: 'order-m' };
  await store.announce('default', [{ handlerId: 'mail', type: 'payment.succeeded' }]);
  await store.insert(aPaymentRecord(mailed), aPaymentEvent(mailed));
  await store.fanOut('default', 10);
  const lease = 'lease';
  const request = { account: 'default', handlerId: 'mail', types: ['payment.succeeded'] as const, lease };
  const [delivery] = await store.leaseDeliveries({ ...request, leaseMs: 60_000, limit: 1 });
  const { eventId } = delivery!.event;
  await store.postpone(
    { account: 'default', handlerId: 'mail', eventId, lease },
    { attempts: 12, error: 'Error: no mail', retryInMs: 0, parked: true },
  );
}
