import { OnPayment, type Payment, type PaymentEvent } from 'nestjs-card-payment';
import { type JsonObject, type Simulator } from 'nestjs-card-payment/simulator';
import { SkippingClock } from '../rigs/clock-set-ahead.js';
import { showInInquiries } from '../rigs/odd-gateway.js';
import { startTimelessGateway } from '../rigs/simulated-gateway.js';
import { bring, type Merchant, startMerchant, useMerchant } from './merchant.js';

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

/** A shop whose clock moves when a call pauses, or by {@link pass}. */
class Shop {
  private constructor(
    readonly clock: SkippingClock,
    readonly simulator: Simulator,
    readonly merchant: Merchant,
    private readonly events: readonly (readonly [conversationId: string, type: string])[],
  ) {}

  static async open() {
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
      clock,
      options: { background: false },
      metadata: { providers: [Handler] },
    });
    return new Shop(clock, simulator, merchant, heard);
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

// What comes of pages that are paid, declined, given up, left open or paid late is in
// test/scripts/expected/hosted.txt, on every engine; of every fault at the opening, in test/faults/page.spec.ts.
describe("the gateway's own page", () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await Shop.open();
  });
  afterAll(() => shop.close());

  it('in a frame takes the whole window to the page of the shop', async () => {
    const { conversationId, html } = await shop.payments.startHosted(order('81.00', { form: 'embedded' }));
    const { request } = shop.simulator.payAtPage(html!);
    const headers = { ...request.headers, 'sec-fetch-dest': 'iframe' };
    const answer = await fetch(request.url, { ...request, headers, redirect: 'manual' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
    const link = `href="https://shop.example/paid?conversationId=${conversationId}" target="_top"`;
    expect(await answer.text()).toContain(link);
  });

  it('is opened once by forty starts at once, and is the same for forty more', async () => {
    const sale = order('62.00', { idempotencyKey: 'key-of-forty' });
    const sent = shop.simulator.ledger.calls('hostedPage');
    const fortyTimes = () => Promise.allSettled(Array.from({ length: 40 }, () => shop.payments.startHosted(sale)));
    const [starts, again] = [await fortyTimes(), await fortyTimes()];
    expect(shop.simulator.ledger.calls('hostedPage')).toBe(sent + 1);
    const pages = [...starts, ...again].flatMap((start) =>
      start.status === 'fulfilled' ? [start.value.redirectUrl] : [],
    );
    expect([pages.length > 40, new Set(pages).size]).toEqual([true, 1]);
    for (const start of starts) {
      if (start.status === 'rejected') expect(start.reason).toMatchObject({ reason: 'page_open' });
    }
    expect(again.map(({ status }) => status)).not.toContain('rejected');
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

  it('is given up only after the gateway was asked again, two seconds after it was asked last', async () => {
    const { conversationId } = await shop.payments.startHosted(order());
    await shop.payments.inquire(conversationId);
    const asked = () => shop.simulator.ledger.calls('CheckPayment', conversationId);
    const [before, began] = [asked(), shop.clock.monotonic()];
    expect(await shop.payments.abandon(conversationId)).toMatchObject({ state: 'expired', reason: 'abandoned' });
    expect(asked()).toBe(before + 1);
    expect(shop.clock.monotonic() - began).toBeGreaterThan(1_500);
  });

  it('cannot be completed by Auth3d', async () => {
    const { conversationId } = await shop.payments.startHosted(order());
    await expect(shop.payments.auth3d({ conversationId, fields: { a: '1' } })).rejects.toMatchObject({
      code: 'PAYMENT_STATE',
    });
    expect(shop.simulator.ledger.calls('Auth3d')).toBe(0);
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
});

describe('in the course of time', () => {
  const shops: Shop[] = [];
  const open = async (): Promise<Shop> => {
    const shop = await Shop.open();
    shops.push(shop);
    return shop;
  };
  afterEach(() => Promise.all(shops.splice(0).map((shop) => shop.close())));

  it.each(['unknown', 'pending'] as const)(
    'abandoned baskets leave no unknown and free their orders, if the gateway says "%s" for ever',
    async (word) => {
      const shop = await open();
      const edit = (fields: JsonObject) => word === 'pending' && (fields.transactionStatus = 'PENDING');
      shop.simulator.fail({ operation: 'CheckPayment', times: Infinity, kind: 'edit', edit });
      const sales = Array.from({ length: 5 }, () => order());
      const starts = await Promise.all(sales.map((sale) => shop.payments.startHosted(sale)));
      await shop.pass(2 * HOUR);
      for (const { conversationId } of starts) {
        expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'expired', reason: null });
        expect(await shop.eventsOf(conversationId)).toEqual(['payment.expired']);
      }
      expect(await shop.payments.startHosted(sales[0]!)).toMatchObject({ payment: { state: 'pending' } });
    },
  );

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
    const declined = await bring(shop.simulator.payAtPage(conversationId, { cardNo: DECLINED_CARD }));
    expect(declined.headers.get('location')).toContain('/failed?');
    expect(await shop.stateOf(conversationId)).toMatchObject({ state: 'pending', reason: 'declined' });
    const paid = shop.simulator.payAtPage(conversationId);
    shop.answering({}, 503);
    expect((await bring(paid)).headers.get('location')).toContain('/pending?');
  });
});

describe('a dialect without the page', () => {
  const shop = useMerchant({ gateway: { dialect: 'standard' } });

  it('refuses it, with nothing recorded', async () => {
    const sale = order();
    await expect(shop.payments.startHosted(sale)).rejects.toMatchObject({ code: 'PAYMENT_UNSUPPORTED' });
    expect(await shop.payments.findByReference(sale.reference)).toEqual([]);
  });
});
