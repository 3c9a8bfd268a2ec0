import { userInfo } from 'node:os';
import type { Payment } from 'nestjs-card-payment';
import { advance } from '../../lib/payment/transitions.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { aPaymentEvent } from '../../lib/testing/a-payment.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { sale } from '../rigs/sale.js';
import { documentedText } from './documented.js';
import { scratch } from './scratch.js';
import { Shop } from './shop.js';

/** As on the page. */
const REVIEW = 'ABC00000000000000001';

describe('payments', () => {
  const { folder: cwd, remove } = scratch();
  let shop: Shop;
  const said = (...words: string[]) => shop.said(words);
  const review = aPaymentRecord({
    state: 'review',
    conversationId: REVIEW,
    reference: 'order-1',
    reason: 'amount_mismatch',
    chargedAmount: '150.90',
    isUnproven: false,
  });

  beforeAll(async () => {
    shop = await Shop.open(cwd);
    await shop.store.insert(review);
    await shop.store.insert(aPaymentRecord({ state: 'charging', conversationId: 'UNDERWAY', reference: 'order-u' }));
    await shop.store.insert(aPaymentRecord({ state: 'unknown', account: 'shop', conversationId: 'OTHER' }));
    await park(shop.store);
  });
  afterAll(async () => {
    await shop?.close();
    remove();
  });

  it('lists the payments that need a person, and counts the rest', async () => {
    expect(await said('list')).toEqual({ status: 0, stdout: documentedText('payments list'), stderr: '' });
  });

  it('lists the selected payments as JSON, page by page', async () => {
    const idsOf = async (...words: string[]) => {
      const { payments, next } = await shop.json<{ payments: Payment[]; next: string | null }>('list', ...words);
      return { ids: payments.map(({ conversationId }) => conversationId), next };
    };
    const all = await idsOf('--state', 'all');
    expect([[...all.ids].sort(), all.next]).toEqual([[REVIEW, 'MAILED', 'UNDERWAY'], null]);
    const first = await idsOf('--state', 'all', '--limit', '2');
    const last = await idsOf('--state', 'all', '--limit', '2', '--after', String(first.next));
    expect([...first.ids, ...last.ids]).toEqual(all.ids);
    expect(last.next).toBeNull();
    expect((await idsOf('--state', 'charging,review', '--state', 'failed')).ids).toHaveLength(2);
    expect(await shop.json('list', '--reference', 'order-u')).toMatchObject({
      payments: [{ conversationId: 'UNDERWAY', amount: '149.90', currency: 'TRY', settled: false }],
    });
    expect((await idsOf('--reference', 'order-u', '--state', 'review')).ids).toEqual([]);
    const other = await idsOf('--account', 'shop', '--store', shop.env['PAYMENT_STORE_URL']!, '--state', 'unknown');
    expect(other.ids).toEqual(['OTHER']);
  });

  it('shows a payment with its history', async () => {
    const { status, stdout } = await said('show', REVIEW);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^payment\n {2}conversationId +ABC0{16}1\n[\s\S]*\n {2}amount +149\.90\n {2}currencyCode +949\n/,
    );
    expect(stdout).toMatch(/history: 1\n {2}at .*\n {2}2026-03-01T09:00:00.000Z {2}review {2}amount_mismatch/);
    expect(await shop.json('show', REVIEW)).toMatchObject({
      payment: { conversationId: REVIEW, state: 'review', createdAt: '2026-03-01T09:00:00.000Z' },
      history: [{ state: 'review', at: '2026-03-01T09:00:00.000Z', refundId: null }],
      refunds: [],
      totals: { taken: '150.90', refundable: '150.90' },
    });
    expect(JSON.stringify(await shop.json('show', REVIEW))).not.toMatch(/tokenHash|redirectUrl|hostIdNonce/);
  });

  it('counts', async () => {
    const counted = await shop.json<{ states: object }>('stats');
    expect(counted).toMatchObject({
      states: {
        charging: { count: 1, oldest: '2026-03-01T09:00:00.000Z' },
        review: { count: 1 },
        failed: { count: 0 },
      },
      refunds: { refunding: { count: 0, oldest: null } },
      deliveries: { waiting: 1, parked: 1, oldest: '2026-03-01T09:00:00.000Z' },
      otherGateway: 0,
    });
    expect((await said('stats')).stdout).toMatch(/\nstates\n {2}states +count {2}oldest\n {2}charging +1 {6}2026-/);
    const { PAYMENT_STORE_URL } = shop.env;
    const { stdout } = await shop.said(['stats', '--json'], { PAYMENT_STORE_URL: PAYMENT_STORE_URL! });
    expect(JSON.parse(stdout)).toMatchObject({ otherGateway: null });
  });

  it('settles a payment once, as an operator says, under the name of whoever runs the command', async () => {
    const settled = await shop.json('resolve', REVIEW, 'failed', '--note', 'not in the panel, A.Y.');
    expect(settled).toMatchObject({ payment: { conversationId: REVIEW, state: 'failed', reason: 'operator' } });
    const { history } = await shop.json<{ history: object[] }>('show', REVIEW);
    expect(history.at(-1)).toMatchObject({ note: 'not in the panel, A.Y.', by: userInfo().username });
    await expect(said('resolve', REVIEW, 'succeeded', '--note', 'or was it?')).resolves.toMatchObject({ status: 1 });
    await expect(shop.store.find('default', REVIEW)).resolves.toMatchObject({ state: 'failed' });
  });

  it('requires --force to fail a payment that may still be sent, and records who did it', async () => {
    const claimed = new Date(Date.now() - 120_000);
    const own = { conversationId: 'CUT-OFF', reference: 'order-c', createdAt: claimed, updatedAt: claimed };
    const record = aPaymentRecord({ state: 'charging', ...own });
    await shop.store.insert(record);
    await shop.store.replace(advance(record, 'unknown', { reason: 'interrupted' }, new Date()), record);
    const words = ['resolve', 'CUT-OFF', 'failed', '--note', 'not in the panel', '--by', 'ada@shop.example'];
    const refused = await said(...words);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toContain('only suspended');
    await expect(said(...words, '--force')).resolves.toMatchObject({ status: 0 });
    expect((await shop.store.history('default', 'CUT-OFF')).at(-1)).toMatchObject({ by: 'ada@shop.example' });
  });

  it("settles a payment by the gateway's answer, and the application's handler gets the event", async () => {
    const { simulator, payments, orders } = shop;
    simulator.fail({ operation: 'DoPayment', kind: 'close' });
    const { conversationId } = await payments.doPayment(sale());
    simulator.fail({ operation: 'CheckPayment', kind: 'close' });
    const unclear = await said('inquire', conversationId);
    expect([unclear.status, unclear.stdout]).toEqual([1, expect.stringMatching(/\n {2}state +unknown\n/)]);
    expect(unclear.stderr).toContain('It is still unknown: the gateway gave no clear answer, or none.');
    expect(await shop.json('inquire', conversationId, '--by', 'ada')).toMatchObject({
      payment: { conversationId, state: 'succeeded', settled: true },
    });
    expect((await shop.store.history('default', conversationId)).at(-1)).toMatchObject({ by: 'ada' });
    expect(simulator.ledger.calls('DoPayment', conversationId)).toBe(1);
    await payments.reconcile();
    expect(orders.paid.filter((id) => id === conversationId)).toHaveLength(1);
  });

  it('lists parked deliveries, and replays one', async () => {
    const parked = await shop.json<{ deliveries: { eventId: string }[] }>('parked');
    expect(parked.deliveries).toEqual([
      {
        handlerId: 'mail',
        eventId: 'MAILED:3',
        type: 'payment.succeeded',
        conversationId: 'MAILED',
        attempts: 12,
        error: 'Error: no mail',
        at: '2026-03-01T09:00:00.000Z',
      },
    ]);
    await expect(said('replay', 'mail', 'MAILED:4')).resolves.toMatchObject({ status: 1, stdout: '' });
    expect(await shop.json('replay', 'mail', 'MAILED:3')).toMatchObject({ handlerId: 'mail', eventId: 'MAILED:3' });
    expect(await shop.json('parked')).toMatchObject({ deliveries: [] });
  });
});

describe('what a command prints', () => {
  const { folder: cwd, remove } = scratch();
  const HOSTILE = 'a\n  FORGED  succeeded\u009b31m\u202eb\u001b]52;c;eA==\u0007';
  let shop: Shop;
  beforeAll(async () => {
    shop = await Shop.open(cwd);
    await shop.store.insert(aPaymentRecord({ state: 'unknown', conversationId: 'HOSTILE', reference: HOSTILE }));
    await park(shop.store, HOSTILE);
  });
  afterAll(async () => {
    await shop?.close();
    remove();
  });

  // eslint-disable-next-line no-control-regex
  const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

  it.each(
    [['list'], ['list', '--json'], ['show', 'HOSTILE'], ['show', 'HOSTILE', '--json'], ['parked']].map((w) => [w]),
  )('has no control character, and no row that a text forges: %j', async (words) => {
    const { status, stdout } = await shop.said(words);
    expect(status).toBe(0);
    expect(stdout).not.toMatch(CONTROLS);
    expect(stdout).not.toMatch(/^ *FORGED/m);
    expect(stdout).toContain('\\u009b31m\\u202eb\\u001b]52;c;eA==\\u0007');
  });

  it('nor has an error that repeats what was typed, or a line of the log', async () => {
    const { stderr } = await shop.said(['show', HOSTILE]);
    expect(stderr).not.toMatch(CONTROLS);
    expect(stderr).toContain('\\u009b31m');
  });
});

describe("payments at the gateway's own page", () => {
  const { folder: cwd, remove } = scratch();
  let shop: Shop;
  let orders = 0;
  beforeAll(async () => {
    shop = await Shop.open(cwd);
  });
  afterAll(async () => {
    await shop?.close();
    remove();
  });

  async function openPage(): Promise<{ id: string; redirectUrl: string }> {
    orders += 1;
    const { conversationId, redirectUrl } = await shop.payments.startHosted({
      reference: `page-${orders}`,
      transactionDetails: { amount: '149.90', currencyCode: 949 },
    });
    return { id: conversationId, redirectUrl: redirectUrl! };
  }

  it('are given up as PaymentOperations.abandon does, once and again', async () => {
    const { id } = await openPage();
    for (let times = 0; times < 2; times += 1) {
      const { payment } = await shop.json<{ payment: Payment }>('abandon', id);
      expect(payment).toMatchObject({ kind: 'hosted', state: 'expired', reason: 'abandoned', settled: true });
    }
    expect(await shop.payments.find(id)).toMatchObject({ state: 'expired', reason: 'abandoned' });
  });

  it('are not given up once they are paid', async () => {
    const { id } = await openPage();
    shop.simulator.payAtPage(id, { callback: 'none' });
    const { status, stderr } = await shop.said(['abandon', id]);
    expect([status, stderr]).toEqual([1, 'It was not given up: it is succeeded.\n']);
  });

  it('are not given up while the gateway does not answer', async () => {
    const { id } = await openPage();
    shop.simulator.fail({ operation: 'CheckPayment', kind: 'status', status: 503 });
    const { status, stderr } = await shop.said(['abandon', id]);
    expect([status, stderr]).toEqual([1, 'It is still pending: the gateway gave no clear answer, or none.\n']);
    expect(await shop.payments.find(id)).toMatchObject({ state: 'pending' });
  });

  it('are inquired about: an open page has no outcome yet', async () => {
    const { id } = await openPage();
    const open = await shop.said(['inquire', id]);
    expect([open.status, open.stderr]).toEqual([1, 'It is still pending: the gateway did not say that it was paid.\n']);
    shop.simulator.payAtPage(id, { callback: 'none' });
    expect(await shop.json('inquire', id)).toMatchObject({ payment: { state: 'succeeded' } });
  });

  it('are listed, shown and counted without the address of their page', async () => {
    const { id, redirectUrl } = await openPage();
    const secret = redirectUrl.slice(redirectUrl.lastIndexOf('/') + 1);
    for (const words of [['list', '--state', 'pending'], ['show', id], ['stats'], ['abandon', id]]) {
      for (const call of [words, [...words, '--json']]) {
        const { stdout } = await shop.said(call);
        expect(stdout).not.toContain(secret);
        expect(stdout).not.toContain('redirectUrl');
      }
    }
  });

  it('are the only ones that can be given up', async () => {
    const { refundId } = await shop.payments.refund({ conversationId: await shop.paid(), amount: '1.00' });
    const { status, stdout, stderr } = await shop.said(['abandon', refundId]);
    expect([status, stdout, stderr]).toEqual([1, '', 'A refund or void cannot be abandoned.\n']);
  });
});

/** Parks a delivery of a payment's event. */
async function park(store: PaymentStore, error = 'Error: no mail'): Promise<void> {
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
    { attempts: 12, error, retryInMs: 0, parked: true },
  );
}
