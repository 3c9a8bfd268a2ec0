import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  MemoryPaymentStore,
  morposDialect,
  PaymentHealth,
  type PaymentOptions,
  type PaymentService,
} from 'nestjs-card-payment';
import type { BankCallback, Simulator } from 'nestjs-card-payment/simulator';
import { ClockSetAhead } from '../rigs/clock-set-ahead.js';
import { startTimelessGateway } from '../rigs/simulated-gateway.js';
import { bring, type Merchant, sale, startMerchant } from './merchant.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

const HOUR = 3_600_000;
const KNOWING = { inquiryKnowsRefunds: true };
const NOTE = "Seen at the gateway's panel.";
let orders = 0;

function order() {
  orders += 1;
  return { reference: `moved-${orders}`, transactionDetails: { amount: '149.90', currencyCode: 949 } };
}

/** A gateway, a second one, and one store for applications with the settings of either. */
let home: Simulator;
let away: Simulator;
let clock: ClockSetAhead;
let store: MemoryPaymentStore;
let own: Merchant;
let merchants: Merchant[];

async function open(): Promise<void> {
  [home, away] = [await startTimelessGateway(KNOWING), await startTimelessGateway(KNOWING)];
  clock = new ClockSetAhead();
  store = new MemoryPaymentStore({ clock });
  merchants = [];
  own = await startAt(home);
}

async function close(): Promise<void> {
  for (const { app } of merchants) await app.close();
  await Promise.all([home.close(), away.close()]);
}

async function startAt(simulator: Simulator, options: PaymentOptions = {}): Promise<Merchant> {
  const all = { store, background: false, timeoutMs: 2_000, ...options };
  const merchant = await startMerchant('fastify', simulator, { options: all, clock });
  merchants.push(merchant);
  return merchant;
}

/** Brings what the bank or the page sent to an application, whichever one was named. */
function bringTo({ url: site }: Merchant, { request }: Pick<BankCallback, 'request'>): Promise<Response> {
  return bring({ request: { ...request, url: site + new URL(request.url).pathname } });
}

/** How much has reached the gateways so far. */
const sent = (): number[] => [home, away].map(({ requests }) => requests.length);
const hostOf = (simulator: Simulator): string => new URL(simulator.url).host;
/** As the store has it. */
const stored = async (id: string): Promise<PaymentRecord> => (await store.find('default', id))!;

/** Payments at their own gateway, in each state in which a call would ask it or send it something. */
const MADE = {
  async succeeded() {
    return (await own.payments.doPayment(sale())).conversationId;
  },
  async unknown() {
    home.fail({ operation: 'DoPayment', kind: 'reset' });
    const { conversationId, state } = await own.payments.doPayment(sale());
    expect(state).toBe('unknown');
    return conversationId;
  },
  async awaiting() {
    return (await own.payments.init3d(sale())).conversationId;
  },
  async pending() {
    return (await own.payments.startHosted(order())).conversationId;
  },
  async refund() {
    const conversationId = await MADE.succeeded();
    home.fail({ operation: 'refund', kind: 'reset' });
    const { refundId, state } = await own.payments.refund({ conversationId, amount: '9.90' });
    expect(state).toBe('unknown');
    return refundId;
  },
};

type Call = readonly [
  call: string,
  made: keyof typeof MADE,
  run: (payments: PaymentService, id: string) => Promise<unknown>,
];

const CALLS: readonly Call[] = [
  ['inquire', 'unknown', (payments, id) => payments.inquire(id)],
  ['inquire', 'pending', (payments, id) => payments.inquire(id)],
  ['abandon', 'pending', (payments, id) => payments.abandon(id)],
  ['auth3d', 'awaiting', (payments, id) => payments.auth3d({ conversationId: id, fields: { conversationId: id } })],
  ['refund', 'succeeded', (payments, id) => payments.refund({ conversationId: id })],
  ['void', 'succeeded', (payments, id) => payments.void({ conversationId: id })],
  ['inquireRefund', 'refund', (payments, id) => payments.inquireRefund(id)],
  ['doPayment with the id', 'succeeded', (payments, id) => payments.doPayment({ ...sale(), conversationId: id })],
  [
    'startHosted of the same sale',
    'pending',
    async (payments, id) => {
      const { reference } = (await payments.find(id))!;
      return payments.startHosted({ ...order(), reference: reference! });
    },
  ],
];

describe('a store that has payments of another gateway', () => {
  let other: Merchant;

  beforeAll(async () => {
    await open();
    other = await startAt(away);
  }, 30_000);
  afterAll(close);
  beforeEach(() => (clock.aheadMs = 0));

  it.each(CALLS)('refuses %s of one that is %s, and sends nothing', async (_call, made, run) => {
    const id = await MADE[made]();
    const [record, before] = [await stored(id), sent()];
    await expect(run(other.payments, id)).rejects.toMatchObject({
      code: 'PAYMENT_STATE',
      message: expect.stringMatching(
        `with these settings: it was made at the gateway ${hostOf(home)}, under another baseUrl`,
      ),
    });
    expect(sent()).toEqual(before);
    expect(await stored(id)).toEqual(record);
  });

  it.each<[string, PaymentOptions]>([
    ['merchantId', { merchantId: 'another' }],
    ['dialect', { dialect: { ...morposDialect(), name: 'shop' } }],
  ])('refuses a refund of one that was made with another %s, and sends nothing', async (_name, options) => {
    const conversationId = await MADE.succeeded();
    const { payments } = await startAt(home, options);
    const before = sent();
    await expect(payments.refund({ conversationId })).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
    expect(sent()).toEqual(before);
  });

  it('refuses a repeat of the idempotencyKey of a payment, gives the existing refund, and sends nothing', async () => {
    const input = sale('149.90', { idempotencyKey: 'key' });
    const { conversationId } = await own.payments.doPayment(input);
    const ask = { conversationId, amount: '1.00', idempotencyKey: 'refund' };
    const { refundId } = await own.payments.refund(ask);
    const before = sent();
    // Paid at a sandbox, it must not be taken for paid here.
    await expect(other.payments.doPayment(input)).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
    expect(await other.payments.refund(ask)).toMatchObject({ refundId, state: 'succeeded' });
    expect(sent()).toEqual(before);
  });

  it('keeps the order of an open page', async () => {
    const { conversationId, payment } = await own.payments.startHosted(order());
    await other.payments.abandon(conversationId).catch(() => undefined);
    await other.payments.reconcile();
    const again = sale('149.90', { reference: payment.reference! });
    const before = sent();
    await expect(other.payments.doPayment(again)).rejects.toMatchObject({
      code: 'PAYMENT_STATE',
      payment: { conversationId },
    });
    expect(sent()).toEqual(before);
  });

  it('leaves a callback to an application with its own settings: the buyer reloads', async () => {
    const { conversationId } = await own.payments.init3d(sale());
    const callback = home.approve(conversationId);
    const before = sent();
    const refused = await bringTo(other, callback);
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('Lütfen bu sayfayı')]);
    expect(sent()).toEqual(before);
    expect(await own.payments.find(conversationId)).toMatchObject({ state: 'awaiting', version: 2 });
    const done = await bringTo(own, callback);
    expect(done.headers.get('location')).toContain('https://shop.example/paid');
    expect(home.ledger.chargedTimes(conversationId)).toBe(1);
  });

  it('asks about none in the background, and ends by time what time alone may end', async () => {
    const ids = {
      awaiting: await MADE.awaiting(),
      initiating: await MADE.awaiting(),
      charging: await MADE.succeeded(),
      pending: await MADE.pending(),
      unknown: await MADE.unknown(),
      refund: await MADE.refund(),
    };
    // As a process leaves them that was frozen, or killed, before it had an answer.
    for (const state of ['initiating', 'charging'] as const) {
      const record = await stored(ids[state]);
      const dueAt = new Date(Date.now() - 1);
      const version = record.version + 1;
      await store.replace({ ...record, version, state, dueAt, expiresAt: null, finalizedAt: null }, record);
    }
    const before = sent();
    for (const hours of [2, 27, 28]) {
      clock.aheadMs = hours * HOUR;
      await other.payments.reconcile();
    }
    expect(sent()).toEqual(before);
    const states = async () => {
      const { refund, ...payments } = ids;
      const found = Object.entries(payments).map(async ([was, id]) => [was, (await own.payments.find(id))!.state]);
      const { state } = await stored(refund);
      return { ...(Object.fromEntries(await Promise.all(found)) as object), refund: state };
    };
    const ended = { awaiting: 'expired', initiating: 'expired' };
    expect(await states()).toEqual({
      ...ended,
      charging: 'unknown',
      pending: 'unknown',
      unknown: 'unknown',
      refund: 'unknown',
    });

    await other.payments.resolve(ids.pending, 'failed', NOTE);
    await other.payments.resolveRefund(ids.refund, 'failed', NOTE);
    clock.aheadMs = 40 * HOUR;
    await own.payments.reconcile();
    expect(await states()).toEqual({
      ...ended,
      charging: 'succeeded',
      pending: 'failed',
      unknown: 'succeeded',
      refund: 'review',
    });
  });

  it('shows how many there are, in health and at the start', async () => {
    const health = async (merchant: Merchant) => (await merchant.app.get(PaymentHealth).report()).counts?.otherGateway;
    const [mine, others] = [await health(own), await health(other)];
    await MADE.unknown();
    await MADE.refund();
    expect([await health(own), await health(other)]).toEqual([mine, others! + 2]);

    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await startAt(away);
    await startAt(home);
    const said = warn.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('another gateway'));
    expect(said).toEqual([expect.stringContaining(`another gateway (${hostOf(home)}): ${others! + 2}.`)]);
  });
});

describe('a gateway that has moved', () => {
  let moved: Merchant;

  beforeAll(async () => {
    await open();
    const baseUrl = home.url.replace('127.0.0.1', 'LOCALHOST');
    moved = await startAt(home, { baseUrl, formerBaseUrls: [`${home.url}/`] });
  }, 30_000);
  afterAll(close);

  it('refunds what was paid before, as a refund of that gateway', async () => {
    const conversationId = await MADE.succeeded();
    const { refundId } = await moved.payments.refund({ conversationId });
    expect(home.ledger.refunds.map((refund) => refund.conversationId)).toContain(refundId);
    const [record] = await store.findRefunds('default', conversationId);
    expect(record).toMatchObject({
      state: 'succeeded',
      gateway: (await stored(conversationId)).gateway,
    });
  });

  it('is this one for a record of an older release, which names none', async () => {
    const id = await MADE.unknown();
    const record = await stored(id);
    await store.replace({ ...record, gateway: undefined, version: record.version + 1 }, record);
    const elsewhere = await startAt(away);
    const [, asked] = sent();
    await elsewhere.payments.inquire(id);
    expect(sent()[1]).not.toBe(asked);
  });
});
