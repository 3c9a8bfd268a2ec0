import { OnPayment, type Payment, PaymentClock, type PaymentEvent, PaymentHostedError } from 'nestjs-card-payment';
import { type JsonObject, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { SkippingClock } from '../rigs/clock-set-ahead.js';
import { ODD } from '../rigs/odd-answers.js';
import { showInInquiries } from '../rigs/odd-gateway.js';
import { startTimelessGateway } from '../rigs/simulated-gateway.js';
import { bring, type Merchant, type MerchantSetup, sale as cardSale, startMerchant } from './merchant.js';

const HOUR = 3_600_000;
const DECLINED_CARD = '4111111111111111';
let orders = 0;

/** An order without a card. */
function order(amount = '149.90', more: object = {}) {
  orders += 1;
  return { reference: `hosted-${orders}`, transactionDetails: { amount, currencyCode: 949 }, ...more };
}

function forged(url: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
}

async function rejected(call: Promise<unknown>): Promise<PaymentHostedError> {
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PaymentHostedError);
  return error as PaymentHostedError;
}

class Shop {
  events: [string, string][] = [];

  private constructor(
    readonly clock: SkippingClock,
    readonly simulator: Simulator,
    readonly merchant: Merchant,
  ) {}

  static async open(setup: MerchantSetup = {}) {
    const clock = new SkippingClock();
    const simulator = await startTimelessGateway({ clock: () => clock.now() });
    const heard: [string, string][] = [];
    class Handler {
      @OnPayment(['succeeded', 'failed', 'expired', 'unknown', 'review'])
      handle({ type, payment }: PaymentEvent): void {
        heard.push([payment.conversationId, type]);
      }
    }
    const merchant = await startMerchant('fastify', simulator, {
      structure: { callback: { waitMs: 3_000 } },
      override: (builder) => builder.overrideProvider(PaymentClock).useValue(clock),
      ...setup,
      options: { background: false, ...setup.options },
      metadata: { providers: [Handler] },
    });
    const shop = new Shop(clock, simulator, merchant);
    shop.events = heard;
    return shop;
  }

  get payments() {
    return this.merchant.payments;
  }

  /** What the background work would do in this time, a pass every few minutes. */
  async pass(ms: number): Promise<void> {
    const steps = Math.ceil(ms / (5 * 60_000));
    for (let step = 0; step < steps; step += 1) {
      this.clock.aheadMs += ms / steps;
      await this.payments.reconcile();
    }
  }

  stateOf(conversationId: string): Promise<Payment | null> {
    return this.payments.find(conversationId);
  }

  async eventsOf(conversationId: string): Promise<string[]> {
    await this.payments.reconcile();
    return this.events.filter(([id]) => id === conversationId).map(([, type]) => type);
  }

  /** What the gateway answers to every inquiry from now on. */
  answering(fields: object, status = 200) {
    const play = { kind: 'reply', status, body: JSON.stringify(fields) } as const;
    return this.simulator.fail({ operation: 'CheckPayment', times: Infinity, ...play });
  }

  /** The URL of the merchant's callback, as the gateway got it. */
  callbackUrl(conversationId: string, field: 'returnUrl' | 'failUrl'): string {
    const body = this.simulator.requests
      .map(({ body: sent }) => sent as Readonly<Record<string, string>> | undefined)
      .find((sent) => sent?.conversationId === conversationId && sent[field] !== undefined);
    return body![field]!;
  }

  async close(): Promise<void> {
    await this.merchant.app.close();
    await this.simulator.close();
  }
}

describe("the gateway's own page", () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await Shop.open();
  });
  afterAll(() => shop.close());

  it('is opened, paid there, and known as paid when the buyer comes back', async () => {
    const sale = order();
    const { conversationId, redirectUrl, html, expiresAt, payment } = await shop.payments.startHosted(sale);
    expect(redirectUrl).toMatch(new RegExp(`^${shop.simulator.publicUrl}/hosted/`));
    expect(html).toBeNull();
    expect(expiresAt > shop.clock.now()).toBe(true);
    expect(payment).toMatchObject({ state: 'pending', kind: 'hosted', maskedCardNumber: null, settled: false });

    const answer = await bring(shop.simulator.payAtPage(conversationId));
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe(`https://shop.example/paid?conversationId=${conversationId}`);
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'succeeded', stored: true, code: 'B0000' });
    expect(shop.simulator.ledger.chargedTimes(conversationId)).toBe(1);
    expect(await shop.eventsOf(conversationId)).toEqual(['payment.succeeded']);
    // Copies of the callback, and the fail URL, change nothing.
    await forged(shop.callbackUrl(conversationId, 'failUrl'));
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'succeeded' });
    expect(shop.simulator.ledger.calls('Auth3d')).toBe(0);
  });

  it('shows its form to embed, which is paid in the same way and not shown again', async () => {
    const sale = order('80.00', { form: 'embedded' });
    const { conversationId, redirectUrl, html, expiresAt } = await shop.payments.startHosted(sale);
    expect(redirectUrl).toBeNull();
    expect(html).toContain('<form');
    expect(expiresAt.getTime()).toBeLessThanOrEqual(shop.clock.now().getTime() + 20 * 60_000);
    expect(await rejected(shop.payments.startHosted(sale))).toMatchObject({ reason: 'page_open', statusCode: 409 });
    await bring(shop.simulator.payAtPage(html!));
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'succeeded' });
  });

  it('in a frame takes the whole window to the page of the shop', async () => {
    const { conversationId } = await shop.payments.startHosted(order('81.00', { form: 'embedded' }));
    const { request } = shop.simulator.payAtPage(conversationId);
    const headers = { ...request.headers, 'sec-fetch-dest': 'iframe' };
    const answer = await fetch(request.url, { ...request, headers, redirect: 'manual' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
    const link = `href="https://shop.example/paid?conversationId=${conversationId}" target="_top"`;
    expect(await answer.text()).toContain(link);
  });

  it('is the same when the same sale is started again, even forty times at once, and no other can be', async () => {
    const sale = order('60.00', { idempotencyKey: 'key-of-forty' });
    const first = await shop.payments.startHosted(sale);
    const sent = shop.simulator.ledger.calls('hostedPage');
    const again = await Promise.all(Array.from({ length: 40 }, () => shop.payments.startHosted(sale)));
    expect(new Set(again.map(({ redirectUrl }) => redirectUrl))).toEqual(new Set([first.redirectUrl]));
    const withoutKey = await shop.payments.startHosted({ ...sale, idempotencyKey: undefined });
    expect(withoutKey.redirectUrl).toBe(first.redirectUrl);
    expect(await rejected(shop.payments.startHosted({ ...sale, form: 'embedded' }))).toMatchObject({
      reason: 'page_open',
      payment: { conversationId: first.conversationId },
    });
    const otherAmount = { ...order('61.00'), reference: sale.reference };
    await expect(shop.payments.startHosted(otherAmount)).rejects.toMatchObject({
      code: 'PAYMENT_DUPLICATE',
      key: 'reference',
      payment: { conversationId: first.conversationId },
    });
    expect(shop.simulator.ledger.calls('hostedPage')).toBe(sent);
  });

  it('is opened once by forty starts at once', async () => {
    const sale = order('62.00');
    const sent = shop.simulator.ledger.calls('hostedPage');
    const starts = await Promise.allSettled(Array.from({ length: 40 }, () => shop.payments.startHosted(sale)));
    expect(shop.simulator.ledger.calls('hostedPage')).toBe(sent + 1);
    const pages = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value.redirectUrl] : []));
    expect(new Set(pages).size).toBe(1);
    for (const start of starts) {
      if (start.status === 'rejected') expect(start.reason).toMatchObject({ reason: 'page_open' });
    }
  });

  it('leaves no second way to pay the order while it is open', async () => {
    const sale = order('63.00');
    const { conversationId } = await shop.payments.startHosted(sale);
    const card = { ...cardSale('63.00'), reference: sale.reference };
    const taken = { code: 'PAYMENT_DUPLICATE', key: 'reference', payment: { conversationId, state: 'pending' } };
    await expect(shop.payments.doPayment(card)).rejects.toMatchObject(taken);
    await expect(shop.payments.init3d(card)).rejects.toMatchObject(taken);
  });

  it('is not paid by a forged return, and the buyer is told that it is not known yet', async () => {
    const { conversationId } = await shop.payments.startHosted(order());
    const fields = { ResultCode: 'B0000', Message: 'Approved', ConversationId: conversationId, Amount: '149.90' };
    const answer = await forged(shop.callbackUrl(conversationId, 'returnUrl'), fields);
    expect(answer.headers.get('location')).toContain('/pending?');
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'pending' });
    const foreign = await forged(shop.callbackUrl(conversationId, 'returnUrl'), { ConversationId: 'ABC9' });
    expect(foreign.status).toBe(400);
  });

  it('is paid although the buyer comes back by the fail URL, with no field that names it', async () => {
    const { conversationId } = await shop.payments.startHosted(order());
    shop.simulator.payAtPage(conversationId, { callback: 'none' });
    const answer = await forged(shop.callbackUrl(conversationId, 'failUrl'), { Code: 'R0099', Message: 'failed' });
    expect(answer.headers.get('location')).toContain('/paid?');
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'succeeded' });
  });

  it('sends the buyer to the failure page at once after a decline, and takes another card', async () => {
    const sale = order();
    const { conversationId, redirectUrl } = await shop.payments.startHosted(sale);
    const declined = shop.simulator.payAtPage(conversationId, { cardNo: DECLINED_CARD });
    expect(declined.charged).toBe(false);
    const answer = await bring(declined);
    expect(answer.headers.get('location')).toContain('/failed?');
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'pending', reason: 'declined', code: 'B0014' });
    expect(await shop.eventsOf(conversationId)).toEqual([]);
    expect(await shop.payments.startHosted(sale)).toMatchObject({ conversationId, redirectUrl });
    await bring(shop.simulator.payAtPage(conversationId));
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'succeeded', reason: null });
  });

  it('charges once in two tabs', async () => {
    const { conversationId } = await shop.payments.startHosted(order());
    const tabs = [shop.simulator.payAtPage(conversationId), shop.simulator.payAtPage(conversationId)];
    await Promise.all(tabs.map(bring));
    expect(shop.simulator.ledger.chargedTimes(conversationId)).toBe(1);
    expect(await shop.eventsOf(conversationId)).toEqual(['payment.succeeded']);
  });

  it('can be given up, which frees the order, unless it was paid', async () => {
    const sale = order();
    const { conversationId } = await shop.payments.startHosted(sale);
    expect(await shop.payments.abandon(conversationId)).toMatchObject({ state: 'expired', reason: 'abandoned' });
    expect(await shop.payments.abandon(conversationId)).toMatchObject({ state: 'expired', reason: 'abandoned' });
    const second = await shop.payments.startHosted(sale);
    expect(second.conversationId).not.toBe(conversationId);
    shop.simulator.payAtPage(second.conversationId, { callback: 'none' });
    expect(await shop.payments.abandon(second.conversationId)).toMatchObject({ state: 'succeeded' });
  });

  it('that was given up keeps its key: the next page needs a new one', async () => {
    const sale = order('70.00', { idempotencyKey: 'given-up' });
    const { conversationId } = await shop.payments.startHosted(sale);
    await shop.payments.abandon(conversationId);
    await expect(shop.payments.startHosted(sale)).rejects.toMatchObject({
      code: 'PAYMENT_DUPLICATE',
      key: 'idempotencyKey',
      payment: { conversationId, state: 'expired' },
    });
    const next = await shop.payments.startHosted({ ...sale, idempotencyKey: 'next' });
    expect(next.conversationId).not.toBe(conversationId);
  });

  it('that was given up and is paid after all is in review, told by its event', async () => {
    const { conversationId } = await shop.payments.startHosted(order());
    await shop.payments.abandon(conversationId);
    await bring(shop.simulator.payAtPage(conversationId));
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'review', reason: 'moved_after_all' });
    expect(await shop.eventsOf(conversationId)).toEqual(['payment.review']);
  });

  it('is given up only after the gateway was asked again, two seconds after it was asked last', async () => {
    const { conversationId } = await shop.payments.startHosted(order());
    await shop.payments.inquire(conversationId);
    const asked = () => shop.simulator.ledger.calls('CheckPayment', conversationId);
    const [before, began] = [asked(), shop.clock.monotonic()];
    expect(await shop.payments.abandon(conversationId)).toMatchObject({ state: 'expired', reason: 'abandoned' });
    expect(asked()).toBe(before + 1);
    expect(shop.clock.monotonic() - began).toBeGreaterThan(1_500);
  });

  it('cannot be completed by Auth3d, and only a page can be abandoned', async () => {
    const { conversationId } = await shop.payments.startHosted(order());
    await expect(shop.payments.auth3d({ conversationId, fields: { a: '1' } })).rejects.toMatchObject({
      code: 'PAYMENT_STATE',
    });
    const card = cardSale('20.00');
    const direct = await shop.payments.doPayment(card);
    await expect(shop.payments.abandon(direct.conversationId)).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
    await expect(shop.payments.abandon('ABC00000000000000009')).rejects.toMatchObject({ code: 'PAYMENT_NOT_FOUND' });
  });

  it('is asked about by inquire, for hosts with a controller of their own', async () => {
    const { conversationId } = await shop.payments.startHosted(order());
    expect(await shop.payments.inquire(conversationId)).toMatchObject({ state: 'pending' });
    shop.simulator.payAtPage(conversationId, { callback: 'none' });
    // The gateway is asked every two seconds at most.
    expect(await shop.payments.inquire(conversationId)).toMatchObject({ state: 'pending' });
    shop.clock.aheadMs += 2_000;
    expect(await shop.payments.inquire(conversationId)).toMatchObject({ state: 'succeeded' });
  });

  it('gives its money back like any payment', async () => {
    const { conversationId } = await shop.payments.startHosted(order());
    await bring(shop.simulator.payAtPage(conversationId));
    expect(await shop.payments.refund({ conversationId, amount: '40.00' })).toMatchObject({ state: 'succeeded' });
    expect(await shop.payments.refundTotals(conversationId)).toMatchObject({ refundable: '109.90' });
  });

  it.each([
    ['a card', { cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' } }, 'cardDetails'],
    ['the holder of a card', { cardHolderInfo: { cardHolderName: 'ADA' } }, 'cardHolderInfo'],
    ['an amount of 0', { transactionDetails: { amount: '0', currencyCode: 949 } }, 'transactionDetails.amount'],
    [
      'an amount of three decimals',
      { transactionDetails: { amount: '1.005', currencyCode: 949 } },
      'transactionDetails.amount',
    ],
    ['a URL that is none', { returnUrl: 'shop.example/back' }, 'returnUrl'],
    ['another form', { form: 'popup' }, 'form'],
    ['an unheard-of field', { cardNo: '1' }, 'cardNo'],
  ])('refuses %s, with nothing recorded or sent', async (_name, wrong, path) => {
    const sent = shop.simulator.requests.length;
    const input = { ...order(), ...wrong } as unknown as Parameters<typeof shop.payments.startHosted>[0];
    await expect(shop.payments.startHosted(input)).rejects.toMatchObject({
      code: 'PAYMENT_VALIDATION',
      issues: [expect.objectContaining({ path })],
    });
    expect(shop.simulator.requests).toHaveLength(sent);
    expect(await shop.payments.findByReference(input.reference!)).toEqual([]);
  });

  it.each(['redirect-http', 'redirect-javascript', 'redirect-missing', 'redirect-too-long'] as const)(
    'is not opened with %s, and leaves the order free',
    async (name) => {
      const sale = order();
      const fault = shop.simulator.fail({ operation: 'hostedPage', ...ODD[name] });
      const error = await rejected(shop.payments.startHosted(sale));
      expect(error).toMatchObject({ reason: 'unreadable', payment: { state: 'failed', kind: 'hosted' } });
      expect(JSON.stringify(error) + error.message).not.toContain('hosted/');
      expect(fault.timesPlayed).toBe(1);
      expect(await shop.payments.startHosted(sale)).toMatchObject({ payment: { state: 'pending' } });
    },
  );
});

describe('in the course of time', () => {
  const shops: Shop[] = [];
  const open = async (): Promise<Shop> => {
    const shop = await Shop.open();
    shops.push(shop);
    return shop;
  };
  afterEach(() => Promise.all(shops.splice(0).map((shop) => shop.close())));

  it('a page that is paid by a buyer who never comes back is known as paid within minutes', async () => {
    const shop = await open();
    const { conversationId } = await shop.payments.startHosted(order());
    shop.simulator.payAtPage(conversationId, { callback: 'none' });
    await shop.pass(10 * 60_000);
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'succeeded' });
    expect(await shop.eventsOf(conversationId)).toEqual(['payment.succeeded']);
  });

  it.each(['unknown', 'pending'] as const)(
    'abandoned baskets leave no unknown and free their orders, if the gateway says "%s" for ever',
    async (word) => {
      const shop = await open();
      const edit = (fields: JsonObject) => word === 'pending' && (fields.transactionStatus = 'PENDING');
      shop.simulator.fail({ operation: 'CheckPayment', times: Infinity, kind: 'edit', edit });
      const sales = Array.from({ length: 30 }, () => order());
      const starts = await Promise.all(sales.map((sale) => shop.payments.startHosted(sale)));
      await shop.pass(2 * HOUR);
      for (const { conversationId } of starts) {
        expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'expired', reason: null });
        expect(await shop.eventsOf(conversationId)).toEqual(['payment.expired']);
      }
      expect(await shop.payments.startHosted(sales[0]!)).toMatchObject({ payment: { state: 'pending' } });
    },
  );

  it('a page that is paid after its end is in review, found out by itself', async () => {
    const shop = await open();
    const { conversationId } = await shop.payments.startHosted(order());
    await shop.pass(2 * HOUR);
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'expired' });
    shop.simulator.payAtPage(conversationId, { callback: 'none' });
    await shop.pass(2 * HOUR);
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'review', reason: 'moved_after_all' });
    expect(await shop.eventsOf(conversationId)).toEqual(['payment.expired', 'payment.review']);
  });

  it('no second page is opened after the end, until the gateway has said twice that the first was not paid', async () => {
    const shop = await open();
    const sale = order();
    await shop.payments.startHosted(sale);
    shop.clock.aheadMs += HOUR;
    expect(await rejected(shop.payments.startHosted(sale))).toMatchObject({ reason: 'page_open' });
    await shop.pass(30 * 60_000);
    expect(await shop.payments.startHosted(sale)).toMatchObject({ payment: { state: 'pending' } });
  });

  it('a gateway that is silent for a day makes it unknown, and its word ends that', async () => {
    const shop = await open();
    const { conversationId } = await shop.payments.startHosted(order());
    const silence = shop.simulator.fail({ operation: 'CheckPayment', kind: 'status', status: 503, times: 10_000 });
    await shop.pass(24 * HOUR);
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'pending' });
    await shop.pass(6 * HOUR);
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'unknown', reason: 'no_answer' });
    expect(await shop.eventsOf(conversationId)).toEqual(['payment.unknown']);
    silence.release();
    await shop.pass(6 * HOUR);
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'expired' });
  });

  it.each([
    ['code', 'pending'],
    ['text', 'succeeded'],
    ['full', 'succeeded'],
  ] as const)('an answer that shows "%s" of a paid page leaves it %s', async (shown, state) => {
    const shop = await open();
    if (shown !== 'full') showInInquiries(shop.simulator, shown);
    const { conversationId } = await shop.payments.startHosted(order());
    await bring(shop.simulator.payAtPage(conversationId));
    expect(await shop.stateOf(conversationId)).toMatchObject({ state });
    await shop.pass(2 * HOUR);
    expect(await shop.stateOf(conversationId)).toMatchObject({ state });
  });

  it('the buyer may choose instalments, whose total is judged by the answer itself', async () => {
    const shop = await open();
    const { conversationId } = await shop.payments.startHosted(order());
    await bring(shop.simulator.payAtPage(conversationId, { installmentCount: 3 }));
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'succeeded' });
  });

  it('a page whose opening was cut off by a crash frees its order within two minutes', async () => {
    const shop = await open();
    const sale = order();
    shop.simulator.fail({ operation: 'hostedPage', kind: 'stall' });
    const cut = shop.payments.startHosted(sale).catch((error: unknown) => error);
    const { conversationId } = await untilStored(shop, sale.reference);
    shop.clock.aheadMs += 3 * 60_000;
    await shop.payments.reconcile();
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'expired' });
    shop.simulator.reset();
    expect(await cut).toBeInstanceOf(PaymentHostedError);
    expect(await shop.payments.startHosted(sale)).toMatchObject({ payment: { state: 'pending' } });
  });
});

describe('what the gateway answers about a page', () => {
  let shop: Shop;
  let conversationId: string;
  beforeEach(async () => {
    shop = await Shop.open();
    ({ conversationId } = await shop.payments.startHosted(order()));
  });
  afterEach(() => shop.close());

  const state = async () => (await shop.stateOf(conversationId))?.state;

  it.each([
    ['an error of its own', { responseCode: 'E5000', responseDescription: 'Internal system error' }, 200],
    ['a code about the merchant', { responseCode: 'B0003' }, 200],
    ['a code about the day', { responseCode: 'B0090' }, 200],
    ["the gateway's own validation", { responseCode: 'RVV0000000012' }, 200],
    ['validation with status 400', { responseCode: 'RVV0000000012' }, 400],
    ['a path that a proxy does not know', { responseCode: '404' }, 404],
    ['a status of the sale that nobody has heard of', { responseCode: 'B0000', transactionStatus: 'CAPTURED' }, 200],
    ['a partial approval', { responseCode: 'B0010' }, 200],
  ])('does not end one as unpaid that was paid, since it does not say so: %s', async (_name, fields, status) => {
    shop.simulator.payAtPage(conversationId, { callback: 'none' });
    const answers = shop.answering(fields, status);
    expect((await shop.payments.abandon(conversationId)).state).not.toBe('expired');
    await shop.pass(3 * HOUR);
    expect(['pending', 'review']).toContain(await state());
    answers.release();
    await shop.pass(6 * HOUR);
    expect(['succeeded', 'review']).toContain(await state());
  });

  it.each([
    ['our id and amount', { conversationId: true, amount: '149.90', responseDescription: 'Success' }],
    ['our id alone', { conversationId: true }],
    ['another text', { amount: '149.90', responseDescription: 'Awaiting 3D verification' }],
  ])('does not make one paid by an approved code with %s', async (_name, more) => {
    shop.answering({ responseCode: 'B0000', ...more, conversationId });
    expect(await shop.payments.inquire(conversationId)).toMatchObject({ state: 'pending' });
  });

  it('does not free one by a code that nobody has heard of, however often it is said', async () => {
    shop.answering({ responseCode: 'E5000' });
    expect(await shop.payments.abandon(conversationId)).toMatchObject({ state: 'pending' });
    await shop.pass(3 * HOUR);
    expect(await state()).toBe('pending');
  });

  it.each([
    ['a status that says so', { responseCode: 'B0000', transactionStatus: 'PENDING' }, 200],
    ['a record that is not on file', { responseCode: 'B0025' }, 404],
  ])('frees one that was not paid by %s', async (_name, fields, status) => {
    shop.answering(fields, status);
    await shop.pass(2 * HOUR);
    expect(await state()).toBe('expired');
  });

  it('puts one in review that an operator had ended, when it is paid after all', async () => {
    const silence = shop.answering({}, 503);
    await shop.pass(30 * HOUR);
    expect(await state()).toBe('unknown');
    await shop.payments.resolve(conversationId, 'failed', 'not in the panel');
    silence.release();
    shop.simulator.payAtPage(conversationId, { callback: 'none' });
    await shop.pass(2 * HOUR);
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'review', reason: 'moved_after_all' });
  });

  it('does not tell a buyer whose second card was taken that the first was declined', async () => {
    await bring(shop.simulator.payAtPage(conversationId, { cardNo: DECLINED_CARD }));
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'pending', reason: 'declined' });
    const paid = shop.simulator.payAtPage(conversationId);
    shop.answering({}, 503);
    expect((await bring(paid)).headers.get('location')).toContain('/pending?');
  });
});

async function untilStored(shop: Shop, reference: string): Promise<Payment> {
  for (;;) {
    const [payment] = await shop.payments.findByReference(reference);
    if (payment) return payment;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a dialect without it refuses it, with nothing recorded', async () => {
  const simulator = await startSimulator({ dialect: 'standard' });
  const merchant = await startMerchant('express', simulator);
  const sale = order();
  await expect(merchant.payments.startHosted(sale)).rejects.toMatchObject({ code: 'PAYMENT_UNSUPPORTED' });
  expect(await merchant.payments.findByReference(sale.reference)).toEqual([]);
  await merchant.app.close();
  await simulator.close();
});
