import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { ODD } from '../rigs/odd-answers.js';
import { until } from '../services/until.js';
import { useBrowser } from './shared-browser.js';
import { Buyer } from './buyer.js';
import { type Shop, useShop } from './shop.js';

const CARD = '5246 7763 5690 3508';
/** No test card, so the payment page declines it. */
const DECLINED_CARD = '4111 1111 1111 1111';

let browser: Browser;
let shop: Shop;
let buyer: Buyer;
let page: Page;
/** What the browser sent to the shop: addresses, headers, forms. */
let sentToShop: string[];

describe('hosted', () => {
  const used = useBrowser();
  const opened = useShop();

  beforeEach(async () => {
    ({ browser } = used);
    shop = opened;
    shop.simulator.reset();
    await enter();
  });

  afterEach(async () => {
    await buyer.leave();
    expect(buyer.complaints).toEqual([]);
    expect(shop.simulator.ledger.violations).toEqual([]);
    // The card was typed at the payment page alone.
    expect(sentToShop.filter((sent) => /524677\D*5690|411111\D*1111|\b(cardNo|cvv)\b/i.test(sent))).toEqual([]);
  });

  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const heading = (): Promise<string> => page.locator('h1').innerText();
  const charges = (): readonly string[] => shop.simulator.ledger.charges.map(({ amount }) => amount);
  const pagesOpened = (): number => shop.simulator.ledger.calls('hostedPage');
  const statesOf = async (orderId: string): Promise<string[]> =>
    (await shop.payments.findByReference(orderId)).map(({ kind, state, reason }) => `${kind} ${state} ${reason}`);

  describe('at the payment page', () => {
    it('a buyer pays, and both sides see it', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      expect(new URL(page.url()).origin).not.toBe(new URL(shop.url).origin);
      expect(await buyer.text()).toContain('420.00');
      await buyer.payAtPage(CARD);
      await buyer.sees('paid');
      expect(page.url()).toMatch(`${shop.url}/orders/${orderId}`);
      expect(sentToShop.join('\n')).toContain('MaskedCardNumber=524677');
      expect(await buyer.text()).toMatch(/Result code\s+B0000/);
      expect(await buyer.text()).not.toContain('Instalments');
      expect(await page.locator('.basket-link b').count()).toBe(0);
      expect(charges()).toEqual(['420.00']);
      // What the shop itself sent to the gateway has no card either.
      expect(JSON.stringify(shop.simulator.requests.map(({ body }) => body))).not.toMatch(
        /cardDetails|5246776356903508/,
      );

      await until(() => shop.orders.get(orderId).status === 'paid');
      await page.goto(`${shop.url}/desk/payments?q=${orderId}`);
      await page.locator('li a').first().click();
      await page.locator('h1 [data-state="succeeded"]').waitFor();
      expect(await page.locator('main').innerText()).toMatch(/Kind\s+At the gateway’s page/);
    });

    it('a card is declined, and another one pays', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      const opened = page.url();
      await buyer.payAtPage(DECLINED_CARD);
      await buyer.sees('declinedAtPage');
      expect(await heading()).toBe('Your card was declined');
      expect(await buyer.text()).toContain('Nothing was charged. You can try another card');
      expect(charges()).toEqual([]);

      await button('Try another card at the payment page').click();
      await buyer.seesPaymentPage();
      expect(page.url()).toBe(opened);
      await buyer.payAtPage(CARD);
      await buyer.sees('paid');
      expect(charges()).toEqual(['420.00']);
      expect(await statesOf(orderId)).toEqual(['hosted succeeded null']);
    });

    it('a buyer cancels, continues, and pays', async () => {
      await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      const opened = page.url();
      await button('Cancel').click();
      await buyer.sees('atPage');
      expect(await buyer.text()).not.toContain('Nothing was charged');
      await button('Continue at the payment page').click();
      await buyer.seesPaymentPage();
      expect(page.url()).toBe(opened);
      await buyer.payAtPage(CARD);
      await buyer.sees('paid');
      expect(pagesOpened()).toBe(1);
      expect(charges()).toEqual(['420.00']);
    });

    it('Back leads to the order, not to a form that could pay twice', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      await buyer.goBack();
      await buyer.sees('atPage');
      expect(page.url()).toBe(`${shop.url}/orders/${orderId}`);
      await page.goto(`${shop.url}/orders/${orderId}/pay`);
      await buyer.sees('atPage');
      // Another browser, or a script, posts the card form nevertheless.
      const card = { number: '4508034508034509', expiry: '1236', cvv: '000', holder: 'ADA', phone: '05551112233' };
      const posted = await fetch(`${shop.url}/orders/${orderId}/pay`, {
        method: 'POST',
        body: new URLSearchParams({ ...card, method: 'direct' }),
      });
      expect(await posted.text()).toContain('data-outcome="atPage"');
      expect(charges()).toEqual([]);
      expect(await statesOf(orderId)).toEqual(['hosted pending null']);
    });

    it('the order’s amount counts, whatever is posted', async () => {
      const orderId = await buyer.order('Coffee cup');
      const form = {
        amount: '0.01',
        reference: 'x',
        'transactionDetails[amount]': '0.01',
        redirectUrl: 'https://x.test',
      };
      const answer = await page.request.post(`${shop.url}/orders/${orderId}/payment-page`, { form });
      expect(answer.headers()['cache-control']).toBe('no-store');
      expect(await answer.text()).toContain(`content="0; url=${shop.simulator.publicUrl}/hosted/`);
      expect(await shop.payments.findByReference(orderId)).toMatchObject([{ amount: '420.00', state: 'pending' }]);
    });
  });

  describe('paying in another way', () => {
    it('gives the page up, and the card form works', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      const opened = page.url();
      await buyer.goBack();
      await buyer.sees('atPage');
      await button('Pay in another way').click();
      await page.getByLabel('Card number').waitFor();
      expect(page.url()).toBe(`${shop.url}/orders/${orderId}/pay`);
      await page.goto(`${shop.url}/orders/${orderId}`);
      await buyer.sees('unpaid');
      await page.getByRole('link', { name: 'Go to payment' }).click();

      // The simulator's card is posted to the shop here, as it should be.
      await buyer.fillIn('Direct');
      await buyer.submit();
      await buyer.sees('paid');
      sentToShop = sentToShop.filter((sent) => !sent.includes('number=5246'));
      expect(await statesOf(orderId)).toEqual(['hosted expired abandoned', 'direct succeeded null']);
      expect(charges()).toEqual(['420.00']);

      // The page that was given up is paid after all, in another tab: the order stays paid, and staff see it.
      const late = await page.context().newPage();
      await late.goto(opened);
      const other = Object.assign(Object.create(buyer) as Buyer, { page: late });
      await other.payAtPage(CARD);
      await other.sees('paid');
      expect(await statesOf(orderId)).toEqual(['hosted review moved_after_all', 'direct succeeded null']);
    });

    it('finds out that the page was paid', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      await page.goto(`${shop.url}/orders/${orderId}`);
      const [payment] = await shop.payments.findByReference(orderId);
      shop.simulator.payAtPage(payment!.conversationId, { callback: 'none' });
      await button('Pay in another way').click();
      await buyer.sees('paid');
    });

    it('waits while the gateway does not say whether the page was paid', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      await page.goto(`${shop.url}/orders/${orderId}`);
      shop.simulator.fail({ operation: 'CheckPayment', kind: 'status', status: 503 });
      await button('Pay in another way').click();
      await page.getByText('so you cannot pay in another way now').waitFor();
      expect(await statesOf(orderId)).toEqual(['hosted pending null']);
      await button('Pay in another way').click();
      await page.getByLabel('Card number').waitFor();
    });

    it('changes nothing of an order without an open page, and needs a form of the shop', async () => {
      const orderId = await buyer.order('Coffee cup');
      const path = `${shop.url}/orders/${orderId}/payment-page`;
      const answer = await page.request.post(`${path}/leave`, { maxRedirects: 0 });
      expect([answer.status(), answer.headers().location]).toEqual([303, `/orders/${orderId}/pay`]);
      for (const url of [path, `${path}/leave`]) {
        const foreign = await page.request.post(url, { headers: { 'sec-fetch-site': 'cross-site' } });
        expect(foreign.status()).toBe(403);
        const unknown = await page.request.post(url.replace(orderId, 'none'));
        expect(unknown.status()).toBe(404);
      }
      expect(await statesOf(orderId)).toEqual([]);
      const shown = await page.request.get(path);
      expect(shown.url()).toBe(`${shop.url}/orders/${orderId}`);
    });
  });

  describe('opening the page', () => {
    it.each([true, false])('a double click opens one page (scripts: %s)', async (javaScriptEnabled) => {
      await enterAgain({ javaScriptEnabled });
      const orderId = await buyer.order('Coffee cup');
      await button('Pay at the bank’s page').dblclick();
      // The second click may find that the page is being opened: then the order page leads there.
      // The second click breaks the first one's navigation off.
      await until(() => [/\/hosted\//, new RegExp(`/orders/${orderId}$`)].some((path) => path.test(page.url())));
      await page.waitForLoadState();
      if (page.url().startsWith(shop.url)) await button('Continue at the payment page').click();
      await buyer.seesPaymentPage();
      expect(pagesOpened()).toBe(1);
      await buyer.payAtPage(CARD);
      if (!javaScriptEnabled) await button('Continue').click();
      await buyer.sees('paid');
      expect(await statesOf(orderId)).toEqual(['hosted succeeded null']);
    });

    it('fails: the order page says so, and that it can be tried again', async () => {
      const orderId = await buyer.order('Coffee cup');
      shop.simulator.fail({ operation: 'hostedPage', ...ODD['redirect-missing'] });
      await button('Pay at the bank’s page').click();
      await buyer.sees('failed');
      expect(await buyer.text()).toContain('The payment could not be started. Please try again.');
      expect(await buyer.text()).toContain('Nothing was charged.');
      await page.getByRole('link', { name: 'Try again' }).click();
      await buyer.goToPaymentPage();
      await buyer.payAtPage(CARD);
      await buyer.sees('paid');
      expect(await statesOf(orderId)).toEqual(['hosted failed unreadable', 'hosted succeeded null']);
    });

    it('is not done for an order that was paid', async () => {
      const orderId = await buyer.order('Coffee cup');
      const other = await buyer.secondTab();
      await buyer.goToPaymentPage();
      await buyer.payAtPage(CARD);
      await buyer.sees('paid');
      await other.page.getByRole('button', { name: 'Pay at the bank’s page' }).click();
      await other.sees('paid');
      expect(pagesOpened()).toBe(1);
      expect(orderId).toBe(other.orderId());
    });
  });
});

async function enter(options: BrowserContextOptions = {}): Promise<void> {
  buyer = await Buyer.enter(browser, shop, options);
  page = buyer.page;
  page.setDefaultTimeout(12_000);
  sentToShop = [];
  page.context().on('request', (request) => {
    if (!request.url().startsWith(shop.url)) return;
    sentToShop.push(`${request.url()} ${JSON.stringify(request.headers())} ${request.postData() ?? ''}`);
  });
}

async function enterAgain(options: BrowserContextOptions): Promise<void> {
  await buyer.leave();
  await enter(options);
}
