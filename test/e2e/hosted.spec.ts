import { EVENT_STATES, OnPayment, type PaymentEvent } from 'nestjs-card-payment';
import type { JsonObject, Simulator } from 'nestjs-card-payment/simulator';
import { SkippingClock } from '../rigs/clock-set-ahead.js';
import { showInInquiries } from '../rigs/odd-gateway.js';
import { startTimelessGateway } from '../rigs/simulated-gateway.js';
import { bring, type Merchant, startMerchant } from './merchant.js';

const DECLINED_CARD = '4111111111111111';
let orders = 0;

/** An order without a card. */
function order(amount = '149.90', more: object = {}) {
  orders += 1;
  return { reference: `hosted-${orders}`, transactionDetails: { amount, currencyCode: 949 }, ...more };
}

/** A shop whose clock moves when a call pauses, or by {@link Shop.pass}. */
class Shop {
  private constructor(
    readonly clock: SkippingClock,
    readonly simulator: Simulator,
    private readonly merchant: Merchant,
    private readonly events: readonly (readonly [conversationId: string, type: string])[],
  ) {}

  static async open() {
    const clock = new SkippingClock();
    const simulator = await startTimelessGateway({ clock: () => clock.now() });
    const heard: [string, string][] = [];
    class Handler {
      @OnPayment([...EVENT_STATES])
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

  async page(more: object = {}): Promise<string> {
    return (await this.payments.startHosted({ ...order(), ...more })).conversationId;
  }

  /** What the background work would do in this time, a pass every few minutes. */
  async pass(hours: number): Promise<void> {
    for (let step = 0; step < 12 * hours; step += 1) {
      this.clock.aheadMs += 5 * 60_000;
      await this.payments.reconcile();
    }
  }

  async stateOf(conversationId: string) {
    const { state, reason } = (await this.payments.find(conversationId))!;
    return reason === null ? state : `${state}, ${reason}`;
  }

  eventsOf(conversationId: string): string[] {
    return this.events.filter(([id]) => id === conversationId).map(([, type]) => type);
  }

  /** What the gateway answers to every inquiry from now on. */
  answering(fields: object, status = 200) {
    const play = { kind: 'reply', status, body: JSON.stringify(fields) } as const;
    return this.simulator.fail({ operation: 'CheckPayment', times: Infinity, ...play });
  }

  /** Posts to the merchant's callback, as the gateway got it. */
  forge(conversationId: string, field: 'returnUrl' | 'failUrl', fields: Readonly<Record<string, string>>) {
    const sent = this.simulator.requests.map(({ body }) => body as Readonly<Record<string, string>> | undefined);
    const url = sent.find((one) => one?.conversationId === conversationId && one[field])![field]!;
    return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  }

  /** Of a buyer who pays, and whose browser brings no callback. */
  payUnseen(conversationId: string): void {
    this.simulator.payAtPage(conversationId, { callback: 'none' });
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
    const id = await shop.page();
    const fields = { ResultCode: 'B0000', Message: 'Approved', ConversationId: id, Amount: '149.90' };
    const answer = await shop.forge(id, 'returnUrl', fields);
    expect(answer.headers.get('location')).toContain('/pending?');
    expect(await shop.stateOf(id)).toBe('pending');
    expect((await shop.forge(id, 'returnUrl', { ConversationId: 'ABC9' })).status).toBe(400);
  });

  it('is paid although the buyer comes back by the fail URL, with no field that names it', async () => {
    const id = await shop.page();
    shop.payUnseen(id);
    const answer = await shop.forge(id, 'failUrl', { Code: 'R0099', Message: 'failed' });
    expect(answer.headers.get('location')).toContain('/paid?');
    expect(await shop.stateOf(id)).toBe('succeeded');
  });

  it('is given up only after the gateway was asked again, two seconds after it was asked last', async () => {
    const id = await shop.page();
    await shop.payments.inquire(id);
    const asked = () => shop.simulator.ledger.calls('CheckPayment', id);
    const [before, began] = [asked(), shop.clock.monotonic()];
    expect(await shop.payments.abandon(id)).toMatchObject({ state: 'expired', reason: 'abandoned' });
    expect(asked()).toBe(before + 1);
    expect(shop.clock.monotonic() - began).toBeGreaterThan(1_500);
  });

  it('cannot be completed by Auth3d', async () => {
    const completed = shop.payments.auth3d({ conversationId: await shop.page(), fields: { a: '1' } });
    await expect(completed).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
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

describe('what the gateway answers about a page', () => {
  let shop: Shop;
  let id: string;
  beforeEach(async () => {
    shop = await Shop.open();
    id = await shop.page();
  });
  afterEach(() => shop.close());

  it.each(['unknown', 'pending'] as const)('"%s" for ever: it ends, and its order is free', async (word) => {
    const edit = (fields: JsonObject) => word === 'pending' && (fields.transactionStatus = 'PENDING');
    shop.simulator.fail({ operation: 'CheckPayment', times: Infinity, kind: 'edit', edit });
    const { reference } = (await shop.payments.find(id))!;
    await shop.pass(2);
    expect([await shop.stateOf(id), shop.eventsOf(id)]).toEqual(['expired', ['payment.expired']]);
    expect(await shop.stateOf(await shop.page({ reference }))).toBe('pending');
  });

  it.each([
    ['code', 'pending'],
    ['text', 'succeeded'],
    [null, 'succeeded'],
  ] as const)('that it was paid, showing its %s: %s', async (shown, state) => {
    if (shown !== null) showInInquiries(shop.simulator, shown);
    // The buyer may choose instalments, whose total is judged by the answer itself.
    await bring(shop.simulator.payAtPage(id, shown === null ? { installmentCount: 3 } : {}));
    expect(await shop.stateOf(id)).toBe(state);
    await shop.pass(2);
    expect(await shop.stateOf(id)).toBe(state);
  });

  it.each([
    ['an error of its own', { responseCode: 'E5000', responseDescription: 'Internal system error' }, 200],
    ['a code about the merchant', { responseCode: 'B0003' }, 200],
    ['a code about the day', { responseCode: 'B0090' }, 200],
    ["the gateway's own validation", { responseCode: 'RVV0000000012' }, 200],
    ['validation with status 400', { responseCode: 'RVV0000000012' }, 400],
    ['a path that a proxy does not know', { responseCode: '404' }, 404],
    ['a status of the sale that nobody has heard of', { responseCode: 'B0000', transactionStatus: 'CAPTURED' }, 200],
    ['a partial approval', { responseCode: 'B0010' }, 200],
  ])('%s: one that was paid is not ended as unpaid, since it does not say so', async (_name, fields, status) => {
    shop.payUnseen(id);
    const answers = shop.answering(fields, status);
    expect((await shop.payments.abandon(id)).state).not.toBe('expired');
    await shop.pass(3);
    expect(await shop.stateOf(id)).toMatch(/^(pending|review)/);
    answers.release();
    await shop.pass(6);
    expect(await shop.stateOf(id)).toMatch(/^(succeeded|review)/);
  });

  it.each([
    ['our id and amount', { conversationId: true, amount: '149.90', responseDescription: 'Success' }],
    ['our id alone', { conversationId: true }],
    ['another text', { amount: '149.90', responseDescription: 'Awaiting 3D verification' }],
  ])('an approved code with %s: not paid', async (_name, more) => {
    shop.answering({ responseCode: 'B0000', ...more, conversationId: id });
    expect(await shop.payments.inquire(id)).toMatchObject({ state: 'pending' });
  });

  it.each([
    [
      'a status that says that it was not paid',
      'expired',
      { responseCode: 'B0000', transactionStatus: 'PENDING' },
      200,
    ],
    ['a record that is not on file', 'expired', { responseCode: 'B0025' }, 404],
    ['a code that nobody has heard of, however often', 'pending', { responseCode: 'E5000' }, 200],
  ])('%s: %s', async (_name, state, fields, status) => {
    shop.answering(fields, status);
    await shop.pass(3);
    expect(await shop.stateOf(id)).toBe(state);
  });

  it('that one was paid after all which an operator had ended: for a person to look at', async () => {
    const silence = shop.answering({}, 503);
    await shop.pass(30);
    expect(await shop.stateOf(id)).toBe('unknown, no_answer');
    await shop.payments.resolve(id, 'failed', 'not in the panel');
    silence.release();
    shop.payUnseen(id);
    await shop.pass(2);
    expect(await shop.stateOf(id)).toBe('review, moved_after_all');
  });

  it('nothing of a second card: the buyer is not told that the first was declined', async () => {
    const declined = await bring(shop.simulator.payAtPage(id, { cardNo: DECLINED_CARD }));
    expect(declined.headers.get('location')).toContain('/failed?');
    expect(await shop.stateOf(id)).toBe('pending, declined');
    const paid = shop.simulator.payAtPage(id);
    shop.answering({}, 503);
    expect((await bring(paid)).headers.get('location')).toContain('/pending?');
  });
});
