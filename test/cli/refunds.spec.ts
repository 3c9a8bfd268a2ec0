import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { newConversationId, PaymentModule, PaymentService, type Refund, type RefundTotals } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { aRefundEvent } from 'nestjs-card-payment/testing';
import { SystemClock } from '../../lib/runtime/clock.js';
import { openStore } from '../../lib/store/open-store.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { sale } from '../rigs/sale.js';
import { cli, cliHere } from './cli.js';
import { documentedShape, shapeOf, withEmptyLists } from './documented.js';
import { scratch } from './scratch.js';
import { STORES, type TestStore } from './stores.js';

interface Listed {
  readonly refunds: readonly (Refund & { readonly currency: string })[];
  readonly totals: RefundTotals | null;
}

/** An application that takes payments, and the command line beside it. */
class Shop {
  private constructor(
    private readonly cwd: string,
    private readonly server: TestStore,
    readonly simulator: Simulator,
    private readonly app: INestApplication,
    readonly payments: PaymentService,
    /** The application's store, opened once more. */
    readonly store: PaymentStore,
    readonly env: Readonly<Record<string, string>>,
  ) {}

  static async open(cwd: string, start: (folder: string) => Promise<TestStore>): Promise<Shop> {
    const server = await start(cwd);
    const simulator = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true });
    const { credentials, url } = simulator;
    const urls = { returnUrl: 'https://shop.example/r', failUrl: 'https://shop.example/f' };
    const gateway = { ...credentials, dialect: 'morpos', baseUrl: url, ...urls } as const;
    const module = await Test.createTestingModule({
      imports: [PaymentModule.forRoot({ ...gateway, storeUrl: server.url, background: false, callback: false })],
    }).compile();
    const app = module.createNestApplication({ logger: false });
    await app.init();
    const clock = new SystemClock();
    const store = await openStore({ storeUrl: server.url, store: null, variable: '', background: false, clock });
    return new Shop(cwd, server, simulator, app, app.get(PaymentService), store, {
      PAYMENT_STORE_URL: server.url,
      PAYMENT_DIALECT: 'morpos',
      PAYMENT_BASE_URL: url,
      PAYMENT_MERCHANT_ID: credentials.merchantId,
      PAYMENT_CLIENT_ID: credentials.clientId,
      PAYMENT_CLIENT_SECRET: credentials.clientSecret,
      PAYMENT_API_KEY: credentials.apiKey,
      PAYMENT_TIMEOUT_MS: '5000',
    });
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.app.close();
    await this.simulator.close();
    await this.server.stop();
  }

  /** A payment that succeeded. */
  async paid(amount = '149.90'): Promise<string> {
    const { conversationId, state } = await this.payments.doPayment(sale(amount));
    expect(state).toBe('succeeded');
    return conversationId;
  }

  /** Runs a command in this process, which takes a fraction of the time of {@link ran}. */
  async said(words: readonly string[], env: Readonly<Record<string, string>> = this.env) {
    return checked(await cliHere(['payments', ...words], { cwd: this.cwd, env }));
  }

  /** Runs a command as operators do. */
  async ran(words: readonly string[], env: Readonly<Record<string, string>> = this.env) {
    return checked(await cli(['payments', ...words], { cwd: this.cwd, env }));
  }

  async json<T = { readonly refund: Refund }>(...words: string[]): Promise<T & { readonly status: number }> {
    const { status, stdout } = await this.said([...words, '--json']);
    const answer = JSON.parse(stdout) as T;
    expect(shapeOf(answer)).toEqual(withEmptyLists(documentedShape(`payments ${words[0]}`), answer));
    return { ...answer, status };
  }

  listed(conversationId: string): Promise<Listed> {
    return this.json<Listed>('refunds', conversationId);
  }
}

/** The account under which the store keeps refunds is shown to nobody. */
function checked<T extends { readonly stdout: string; readonly stderr: string }>(answered: T): T {
  return answered;
}

describe.each(Object.entries(STORES))('refunds on %s', (_name, start) => {
  const { folder: cwd, remove } = scratch();
  let shop: Shop;
  beforeAll(async () => {
    shop = await Shop.open(cwd, start);
  });
  afterAll(async () => {
    await shop?.close();
    remove();
  });

  it('gives a part back once for each key, and names the refund before it is sent', async () => {
    const id = await shop.paid();
    const words = ['refund', id, '--amount', '49.90', '--key', 'k-1', '--note', 'one shoe', '--by', 'ada@shop.example'];
    const { status, stdout, stderr } = await shop.said(words);
    expect([status, stderr]).toEqual([0, '']);
    const [, refundId = ''] = /^Sending the refund (\w+) of payment/.exec(stdout) ?? [];
    expect(stdout).toBe(
      `Sending the refund ${refundId} of payment ${id}: 49.90 TRY\n` +
        `Refund ${refundId} of payment ${id} succeeded: 49.90 TRY given back.\n`,
    );
    const again = await shop.said(words);
    expect(again).toMatchObject({ status: 0, stderr: '' });
    expect(again.stdout).toMatch(/^Nothing was sent: this refund was asked for before.\nRefund \w+ .* succeeded/);
    expect(shop.simulator.ledger.refundedAmount(id)).toBe('49.90');
    expect(shop.simulator.ledger.calls('refund', refundId)).toBe(1);

    expect(await shop.listed(id)).toMatchObject({
      refunds: [{ refundId, state: 'succeeded', amount: '49.90', currency: 'TRY', note: 'one shoe' }],
      totals: { taken: '149.90', refunded: '49.90', open: '0.00', refundable: '100.00' },
    });
    const list = await shop.ran(['refunds', id]);
    expect(list.stdout).toMatch(
      /^1 refund or void of payment \w+ \(succeeded\)\n {2}\w+ {2}refund {2}succeeded .* 49\.90 TRY .*“one shoe” {2}by ada@shop\.example\nTaken 149\.90 TRY, refunded 49\.90 TRY, open 0\.00 TRY, left to refund 100\.00 TRY\n$/,
    );
    expect(await shop.json('show', id)).toMatchObject({
      payment: { conversationId: id, state: 'succeeded' },
      refunds: [{ refundId }],
      totals: { refundable: '100.00' },
    });
    expect((await shop.said(['show', id])).stdout).toMatch(/Refunds and voids\n {2}\w+ {2}refund[\s\S]*left to refund/);
    const shown = JSON.parse((await shop.said(['show', refundId, '--json'])).stdout) as object;
    expect(shown).toMatchObject({
      refund: { refundId, conversationId: id, by: 'ada@shop.example' },
      history: [{ state: 'refunding' }, { state: 'succeeded' }],
    });
    expect((await shop.said(['show', refundId])).stdout).toContain(`Refund ${refundId} of payment ${id}\n`);
  });

  it('gives back all that is left where no amount is given, with the id that is given', async () => {
    const id = await shop.paid();
    await shop.said(['refund', id, '--amount', '100']);
    const refundId = newConversationId();
    const all = await shop.json('refund', id, '--refund-id', refundId);
    expect(all).toMatchObject({ status: 0, refund: { refundId, amount: '49.90', state: 'succeeded' } });
    expect(shop.simulator.ledger.refundedAmount(id)).toBe('149.90');
    const more = await shop.said(['refund', id, '--json']);
    expect(more).toMatchObject({ status: 1, stdout: '' });
    expect(more.stderr).toContain('it is more than is left. 0.00 is left to give back; nothing was sent.');
  });

  it('voids a whole payment, after which nothing is left', async () => {
    const id = await shop.paid();
    const { status, stdout } = await shop.ran(['void', id, '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ refund: { kind: 'void', amount: '149.90' } });
    expect(await shop.listed(id)).toMatchObject({ totals: { refunded: '149.90', refundable: '0.00' } });
    const refused = await shop.said(['refund', id]);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toContain('the payment was voided');
  });

  it('ends with 1 if the outcome is unknown, counts and lists it, and the gateway settles it', async () => {
    const id = await shop.paid();
    shop.simulator.fail({ operation: 'refund', kind: 'close' });
    const unknown = await shop.said(['refund', id, '--amount', '10.00']);
    expect(unknown.status).toBe(1);
    const [, refundId = ''] = /^Sending the refund (\w+) of payment/.exec(unknown.stdout) ?? [];
    expect(unknown.stdout).toContain('is unknown (no_answer): money may have been given back, so do not repeat it.');
    const second = await shop.said(['refund', id, '--amount', '10.00']);
    expect(second).toMatchObject({ status: 1, stdout: '' });
    expect(second.stderr).toContain(`another refund of the payment has no outcome yet`);
    expect(second.stderr).toContain(`"payments refunds ${id}" shows it.`);

    expect((await shop.said(['list'])).stdout).toContain('Refunds and voids: 0 under way, 1 unknown, 0 in review');
    expect((await shop.said(['refunds'])).stdout).toMatch(/^1 refund or void in unknown, review\n.* unknown /);
    const stats = await shop.json<{ states: object; refunds: object }>('stats');
    expect(Object.keys(stats.states)).not.toContain('refunding');
    expect(stats.refunds).toMatchObject({ refunding: { count: 0 }, unknown: { count: 1 }, review: { count: 0 } });

    const settled = JSON.parse((await shop.said(['inquire', refundId, '--json'])).stdout) as object;
    expect(settled).toMatchObject({ refund: { refundId, state: 'succeeded' } });
    expect((await shop.said(['inquire', refundId])).stdout).toBe(`Refund ${refundId} of payment ${id} is succeeded.\n`);
    expect(shop.simulator.ledger.refundedAmount(id)).toBe('10.00');
    expect((await shop.said(['list'])).stdout).toContain('Refunds and voids: 0 under way, 0 unknown, 0 in review');
  });

  it('lets an operator resolve a refund, and shows who did', async () => {
    const id = await shop.paid();
    const { refund } = await shop.json('refund', id, '--amount', '10.83');
    expect(refund.state).toBe('unknown');
    const words = ['resolve', refund.refundId, 'failed', '--note', 'not in the panel', '--by', 'ada'];
    const resolved = await shop.said(words);
    expect(resolved).toEqual({
      status: 0,
      stdout: `Refund ${refund.refundId} of payment ${id} is failed, resolved by ada.\n`,
      stderr: '',
    });
    expect((await shop.said(['show', refund.refundId])).stdout).toContain('“not in the panel”  by ada');
    expect(await shop.listed(id)).toMatchObject({ totals: { refundable: '149.90' } });
    await expect(shop.said(words)).resolves.toMatchObject({ status: 1, stdout: '' });
  });

  it('writes down a refund of the panel once, without settings of the gateway', async () => {
    const id = await shop.paid();
    const env = { PAYMENT_STORE_URL: shop.env['PAYMENT_STORE_URL']! };
    const words = ['record-refund', id, '--amount', '49.90', '--key', `panel-${id}`, '--note', 'in the panel'];
    for (const _time of [1, 2]) {
      const recorded = await shop.ran(words, env);
      expect([recorded.status, recorded.stderr]).toEqual([0, '']);
      expect(recorded.stdout).toMatch(/^Refund \w+ of payment \w+ succeeded: 49\.90 TRY given back\.\n$/);
    }
    expect((await shop.listed(id)).refunds).toMatchObject([{ reason: 'recorded', amount: '49.90' }]);
    expect(shop.simulator.ledger.refundedAmount(id)).toBe('0.00');
    expect(
      await shop.json('record-refund', id, '--amount', '100', '--refund-id', `P-${id}`, '--note', 'panel'),
    ).toMatchObject({
      status: 0,
      refund: { refundId: `P-${id}`, amount: '100.00' },
    });
    const more = await shop.said(
      ['record-refund', id, '--amount', '0.01', '--key', `more-${id}`, '--note', 'panel'],
      env,
    );
    expect(more).toMatchObject({ status: 1, stdout: '' });
  });

  it("lists a refund's parked delivery beside those of payments, and replays it", async () => {
    const account = 'default';
    const event = aRefundEvent({ refundId: 'MAILED-BACK', conversationId: 'MAILED' });
    const id = await shop.paid();
    const record = (await shop.store.find('default', id))!;
    const sale = JSON.stringify(record);
    const refunded = {
      ...record,
      conversationId: 'MAILED-BACK',
      parentId: id,
      tokenHash: null,
      sale,
    } as const;
    await shop.store.announce(account, [{ handlerId: 'mail', type: 'refund.succeeded' }]);
    await shop.store.insert({ ...refunded, kind: 'refund', idempotencyKey: null, referenceLock: null }, event);
    await shop.store.fanOut(account, 10);
    const lease = 'lease';
    const request = {
      account,
      handlerId: 'mail',
      types: ['refund.succeeded'] as const,
      lease,
      leaseMs: 60_000,
      limit: 100,
    };
    await shop.store.leaseDeliveries(request);
    const failed = { attempts: 12, error: 'Error: no mail', retryInMs: 0, parked: true };
    await shop.store.postpone({ account, handlerId: 'mail', eventId: event.eventId, lease }, failed);

    expect(await shop.json('parked')).toMatchObject({
      account: 'default',
      deliveries: [{ type: 'refund.succeeded', conversationId: id, refundId: 'MAILED-BACK', attempts: 12 }],
    });
    expect((await shop.said(['list'])).stdout).toContain('\n1 parked delivery\n');
    expect(await shop.json('stats')).toMatchObject({ parkedDeliveries: 1 });
    expect(await shop.json('replay', 'mail', event.eventId)).toMatchObject({ account: 'default', handlerId: 'mail' });
    expect((await shop.said(['parked'])).stdout).toBe('Nothing is parked.\n');
  });
});

describe('a refund by the command line', () => {
  const { folder: cwd, remove } = scratch();
  let shop: Shop;
  let id: string;
  beforeAll(async () => {
    shop = await Shop.open(cwd, STORES['SQLite']!);
    id = await shop.paid();
  });
  afterEach(() => {
    expect(shop.simulator.ledger.refundedAmount(id)).toBe('0.00');
  });
  afterAll(async () => {
    await shop?.close();
    remove();
  });

  it.each([
    [['--amount', '0'], '--amount'],
    [['--amount=-1'], '--amount'],
    [['--amount', '1,50'], '--amount'],
    [['--amount', '1.999'], '--amount'],
    [['--refund-id', ''], '--refund-id'],
    [['--key', ' '], '--key'],
    [['--refund-id', 'A', '--key', 'B'], 'Give --refund-id or --key, not both.'],
  ])('refuses %j with the name of the option, and sends nothing', async (words, message) => {
    const { status, stdout, stderr } = await shop.said(['refund', id, ...words]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it.each([
    [['--key', 'K'], '"payments record-refund" needs --amount.'],
    [['--amount', '1'], '"payments record-refund" needs --refund-id or --key'],
    [['--amount', '1', '--key', 'K'], '"payments record-refund" needs --note'],
  ])('refuses to record one with %j alone', async (words, message) => {
    const { status, stdout, stderr } = await shop.said(['record-refund', id, ...words]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it('refuses an id that is no payment, or that of another refund', async () => {
    const nobody = await shop.said(['refund', 'NOBODY']);
    expect(nobody).toMatchObject({ status: 1, stdout: '', stderr: 'There is no payment NOBODY.\n' });
    await expect(shop.said(['refunds', 'NOBODY'])).resolves.toMatchObject({ status: 1, stdout: '' });
    const other = await shop.paid();
    await shop.said(['refund', other, '--amount', '1', '--refund-id', 'TAKEN']);
    const taken = await shop.said(['refund', id, '--refund-id', 'TAKEN']);
    expect(taken).toMatchObject({ status: 1, stdout: '' });
    expect(taken.stderr).toContain(`It is TAKEN of payment ${other}.`);
    const payment = await shop.said(['refund', id, '--refund-id', other]);
    expect(payment).toMatchObject({ status: 1, stdout: '' });
    expect(payment.stderr).toContain('This refundId is already taken by a payment');
  });

  it('fails with the reason if the gateway declines', async () => {
    const { status, stdout, stderr } = await shop.said(['refund', id, '--amount', '10.80']);
    expect([status, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/ failed \(declined, B0005.*\): nothing was given back\.\n$/);
  });

  it('says that it is safe to try again if nothing was sent, and announces on standard error with --json', async () => {
    const env = {
      ...shop.env,
      PAYMENT_BASE_URL: 'http://127.0.0.1:9',
      PAYMENT_FORMER_BASE_URLS: shop.env.PAYMENT_BASE_URL!,
    };
    const { status, stdout, stderr } = await shop.ran(['refund', id, '--refund-id', 'UNSENT', '--json'], env);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`Sending the refund UNSENT of payment ${id}: 149.90 TRY\n`);
    expect(stderr).toContain('Nothing was given back; it is safe to try again. Take another --refund-id for that.');
  });

  it('is found by its id after the process was killed while the gateway was asked', async () => {
    const slow = await shop.paid();
    const stall = shop.simulator.fail({ operation: 'refund', at: 'before', kind: 'stall' });
    const main = join(process.cwd(), 'dist/esm/cli/main.js');
    const child = spawn(process.execPath, [main, 'payments', 'refund', slow, '--amount', '5'], { cwd, env: shop.env });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    while (!stdout.includes('\n')) await once(child.stdout, 'data');
    await stall.played;
    child.kill('SIGKILL');
    await once(child, 'exit');
    const [, refundId = ''] = /^Sending the refund (\w+) of payment/.exec(stdout) ?? [];
    expect(await shop.listed(slow)).toMatchObject({
      refunds: [{ refundId, state: 'refunding' }],
      totals: { open: '5.00', refundable: '144.90' },
    });
    const again = await shop.said(['refund', slow, '--refund-id', refundId]);
    expect(again).toMatchObject({ status: 1, stderr: '' });
    expect(again.stdout).toContain('is still under way');
    expect((await shop.said(['list'])).stdout).toContain('Refunds and voids: 1 under way, 0 unknown, 0 in review');
  });

  it.each([
    [['refund'], { PAYMENT_DIALECT: '' }, 'The dialect "standard" (PAYMENT_DIALECT) cannot refund a payment'],
    [['void'], { PAYMENT_DIALECT: 'standard' }, 'The dialect "standard" (PAYMENT_DIALECT) cannot void a payment'],
    [['refund'], { PAYMENT_BASE_URL: 'simulator:' }, 'call PaymentService.refund there'],
    [['void'], { PAYMENT_BASE_URL: 'simulator:' }, 'call PaymentService.void there'],
    [['refund'], { PAYMENT_CLIENT_ID: '' }, 'clientId (PAYMENT_CLIENT_ID): is missing'],
  ])('%j with %j says what is in the way', async (words, more, message) => {
    const { status, stdout, stderr } = await shop.said([...words, id], { ...shop.env, ...more });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it('goes on, and is stored, if nobody reads what it prints', async () => {
    const deaf = await shop.paid();
    const main = join(process.cwd(), 'dist/esm/cli/main.js');
    const child = spawn(process.execPath, [main, 'payments', 'refund', deaf], { cwd, env: shop.env });
    child.stdout.destroy();
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await shop.listed(deaf)).toMatchObject({ refunds: [{ state: 'succeeded' }] });
  });
});
