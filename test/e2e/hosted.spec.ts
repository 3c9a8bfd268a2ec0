import { SkippingClock } from '../rigs/clock-set-ahead.js';
import { bring, useMerchant } from './merchant.js';

const DECLINED_CARD = '4111111111111111';
let orders = 0;

/** An order without a card. */
function order(amount = '149.90', more: object = {}) {
  orders += 1;
  return { reference: `hosted-${orders}`, transactionDetails: { amount, currencyCode: 949 }, ...more };
}

// What comes of pages that are paid, declined, given up, left open or paid late is in
// test/scripts/expected/hosted.txt, on every engine; of every fault at the opening, in test/faults; of each word about
// a page, in test/settlement/expected/pages.txt, and which answer is which word in test/gateway/readings.
describe("the gateway's own page", () => {
  const clock = new SkippingClock();
  const shop = useMerchant({
    clock,
    gateway: { clock: () => clock.now(), timestampToleranceMs: Infinity },
    structure: { callback: { waitMs: 3_000 } },
    options: { background: false },
  });
  beforeEach(() => shop.simulator.reset());

  const open = async (): Promise<string> => (await shop.payments.startHosted(order())).conversationId;

  async function stateOf(conversationId: string): Promise<string> {
    const { state, reason } = (await shop.payments.find(conversationId))!;
    return reason === null ? state : `${state}, ${reason}`;
  }

  /** Posts to the merchant's callback, as the gateway got it. */
  function forge(conversationId: string, field: 'returnUrl' | 'failUrl', fields: Readonly<Record<string, string>>) {
    const sent = shop.simulator.requests.map(({ body }) => body as Readonly<Record<string, string>> | undefined);
    const url = sent.find((one) => one?.conversationId === conversationId && one[field])![field]!;
    return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  }

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

  it('is not paid by a forged return, and the buyer is told that it is not known yet', async () => {
    const id = await open();
    const fields = { ResultCode: 'B0000', Message: 'Approved', ConversationId: id, Amount: '149.90' };
    const answer = await forge(id, 'returnUrl', fields);
    expect(answer.headers.get('location')).toContain('/pending?');
    expect(await stateOf(id)).toBe('pending');
    expect((await forge(id, 'returnUrl', { ConversationId: 'ABC9' })).status).toBe(400);
  });

  it('is paid although the buyer comes back by the fail URL, with no field that names it', async () => {
    const id = await open();
    shop.simulator.payAtPage(id, { callback: 'none' });
    const answer = await forge(id, 'failUrl', { Code: 'R0099', Message: 'failed' });
    expect(answer.headers.get('location')).toContain('/paid?');
    expect(await stateOf(id)).toBe('succeeded');
  });

  it('is paid in instalments of the buyer’s choice, whose total is judged by the answer itself', async () => {
    const id = await open();
    await bring(shop.simulator.payAtPage(id, { installmentCount: 3 }));
    expect(await stateOf(id)).toBe('succeeded');
  });

  it('is given up only after the gateway was asked again, two seconds after it was asked last', async () => {
    const id = await open();
    await shop.payments.inquire(id);
    const asked = () => shop.simulator.ledger.calls('CheckPayment', id);
    const [before, began] = [asked(), clock.monotonic()];
    expect(await shop.payments.abandon(id)).toMatchObject({ state: 'expired', reason: 'abandoned' });
    expect(asked()).toBe(before + 1);
    expect(clock.monotonic() - began).toBeGreaterThan(1_500);
  });

  it('cannot be completed by Auth3d', async () => {
    const completed = shop.payments.auth3d({ conversationId: await open(), fields: { a: '1' } });
    await expect(completed).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
    expect(shop.simulator.ledger.calls('Auth3d')).toBe(0);
  });

  it.each([
    ['a card', { cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' } }, 'cardDetails'],
    ['the holder of a card', { cardHolderInfo: { cardHolderName: 'ADA' } }, 'cardHolderInfo'],
    ['an amount of 0', { transactionDetails: { amount: '0', currencyCode: 949 } }, 'transactionDetails.amount'],
    ['a URL that is none', { returnUrl: 'shop.example/back' }, 'returnUrl'],
  ])('refuses %s, with nothing recorded or sent', async (_name, wrong, path) => {
    const input = { ...order(), ...wrong } as unknown as Parameters<typeof shop.payments.startHosted>[0];
    await expect(shop.payments.startHosted(input)).rejects.toMatchObject({
      code: 'PAYMENT_VALIDATION',
      issues: [expect.objectContaining({ path })],
    });
    expect(shop.simulator.requests).toEqual([]);
    expect(await shop.payments.findByReference(input.reference!)).toEqual([]);
  });

  it('paid with a second card: the buyer is not told that the first was declined', async () => {
    const id = await open();
    const declined = await bring(shop.simulator.payAtPage(id, { cardNo: DECLINED_CARD }));
    expect(declined.headers.get('location')).toContain('/failed?');
    expect(await stateOf(id)).toBe('pending, declined');
    const paid = shop.simulator.payAtPage(id);
    shop.simulator.fail({ operation: 'CheckPayment', kind: 'status', status: 503, times: Infinity });
    expect((await bring(paid)).headers.get('location')).toContain('/pending?');
  });
});
