import { Validator } from '@seriousme/openapi-schema-validator';
import { useBrowser } from './shared-browser.js';
import { Buyer } from './buyer.js';
import { useShop } from './shop.js';

const CARD = { cardNo: '4508 0345 0803 4509', expDate: '12/36', cvv: '000' };
const HOLDER = { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' };

describe('the API of the sample shop', () => {
  const used = useBrowser();
  const shop = useShop();
  let buyer: Buyer;

  beforeAll(async () => {
    buyer = await Buyer.enter(used.browser, shop);
  });
  afterAll(() => buyer.leave());

  function pay(orderId: string, body: object): Promise<Response> {
    return fetch(`${shop.url}/api/orders/${orderId}/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-language': 'en' },
      body: JSON.stringify(body),
    });
  }

  it('has a page, which shows its routes and the fields of a card', async () => {
    await buyer.page.goto(`${shop.url}/docs`);
    await buyer.page.getByText('Starts a 3D Secure payment of an order.').waitFor();
    expect(await buyer.page.getByText('CardDetailsDto').count()).toBeGreaterThan(0);
    expect(buyer.complaints).toEqual([]);
  });

  it('is described by a valid document, which contains the API only', async () => {
    const document = (await (await fetch(`${shop.url}/docs-json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toEqual(['/api/orders/{id}/pay', '/api/orders/{id}/payment-page']);
    expect(await new Validator().validate(structuredClone(document) as Record<string, unknown>)).toEqual({
      valid: true,
    });
  });

  it('starts a payment with the order’s amount, and refuses with JSON', async () => {
    await buyer.page.goto(shop.url);
    const orderId = await buyer.order('Insufficient funds');
    const refused = await pay(orderId, { cardDetails: { ...CARD, cvv: '1' }, cardHolderInfo: HOLDER });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      code: 'PAYMENT_VALIDATION',
      tellBuyer: 'Please check what you entered. Nothing was charged.',
      issues: [{ path: 'cardDetails.cvv', field: 'Security code', rule: 'securityCode' }],
    });
    const forged = await pay(orderId, { cardDetails: CARD, cardHolderInfo: HOLDER, amount: '0.01' });
    expect(forged.status).toBe(400);
    expect((await pay('none', { cardDetails: CARD, cardHolderInfo: HOLDER })).status).toBe(404);
    const started = await pay(orderId, { cardDetails: CARD, cardHolderInfo: HOLDER, installmentCount: 3 });
    expect(started.status).toBe(200);
    const { conversationId, html } = (await started.json()) as { conversationId: string; html: string };
    expect(html).toContain('<html');
    expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'awaiting', installmentCount: 3 });
  });

  it('opens the payment page of an order with the order’s amount, once, and refuses a card meanwhile', async () => {
    // Without the basket of the test before.
    await buyer.page.context().clearCookies();
    await buyer.page.goto(shop.url);
    const orderId = await buyer.order('Coffee cup');
    const openPage = (): Promise<Response> =>
      fetch(`${shop.url}/api/orders/${orderId}/payment-page`, { method: 'POST' });
    const opened = (await (await openPage()).json()) as { conversationId: string; redirectUrl: string };
    expect(opened.redirectUrl).toMatch(new RegExp(`^${shop.simulator.publicUrl}/hosted/`));
    expect(await (await openPage()).json()).toEqual(opened);
    expect(await shop.payments.find(opened.conversationId)).toMatchObject({ state: 'pending', amount: '420.00' });
    expect((await pay(orderId, { cardDetails: CARD, cardHolderInfo: HOLDER })).status).toBe(409);

    shop.simulator.payAtPage(opened.conversationId, { callback: 'none' });
    expect(await shop.payments.inquire(opened.conversationId)).toMatchObject({ state: 'succeeded' });
    expect((await openPage()).status).toBe(409);
    expect((await fetch(`${shop.url}/api/orders/none/payment-page`, { method: 'POST' })).status).toBe(404);
  });
});
