import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startSimulator } from 'nestjs-card-payment/simulator';
import { WHOLE } from '../rigs/extent.js';
import { ODD } from '../rigs/odd-answers.js';
import { until } from '../services/until.js';
import { barriersOf } from './accessible-page.js';
import { launchBrowser } from './browser.js';
import { Buyer } from './buyer.js';
import { openShop, type Shop } from './shop.js';

const CARD = '5246 7763 5690 3508';
/** No test card, so the payment page declines it. */
const DECLINED_CARD = '4111 1111 1111 1111';
const PHONE = { width: 360, height: 740 };

let browser: Browser;
let shop: Shop;
let buyer: Buyer;
let page: Page;
/** What the browser sent to the shop: addresses, headers, forms. */
let sentToShop: string[];

describe('hosted', () => {
  beforeAll(async () => {
    [browser, shop] = await Promise.all([launchBrowser(), openShop()]);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });

  beforeEach(async () => {
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
      await isForEveryone(`Your card was declined · Order ${orderId} · Toprak`, 'declined');

      await button('Try another card at the payment page').click();
      await buyer.seesPaymentPage();
      expect(page.url()).toBe(opened);
      await buyer.payAtPage(CARD);
      await buyer.sees('paid');
      expect(charges()).toEqual(['420.00']);
      expect(await statesOf(orderId)).toEqual(['hosted succeeded null']);
    });

    it('a buyer cancels, continues, and pays', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      const opened = page.url();
      await button('Cancel').click();
      await buyer.sees('atPage');
      expect(await buyer.text()).not.toContain('Nothing was charged');
      await isForEveryone(`The payment page is open · Order ${orderId} · Toprak`, 'open');
      await isSeenByStaff(orderId);

      await page.goto(`${shop.url}/orders/${orderId}`);
      await button('Continue at the payment page').click();
      await buyer.seesPaymentPage();
      expect(page.url()).toBe(opened);
      await buyer.payAtPage(CARD);
      await buyer.sees('paid');
      expect(pagesOpened()).toBe(1);
      expect(charges()).toEqual(['420.00']);
    });

    async function isSeenByStaff(orderId: string): Promise<void> {
      await page.goto(`${shop.url}/desk/payments?q=${orderId}`);
      await page.locator('li a').first().click();
      await page.locator('h1 [data-state="pending"]').waitFor();
      expect(await button('Ask the gateway').count()).toBe(1);
      await isForEveryone('420.00 TRY, Page open · Payment desk', 'desk');
    }

    it('a buyer closes the window, and another tab shows that the order was paid', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      const other = await page.context().newPage();
      await other.goto(`${shop.url}/orders/${orderId}`);
      await other.locator('[data-outcome="atPage"]').waitFor();
      await buyer.payAtPage(CARD);
      await other.locator('[data-outcome="paid"]').waitFor();
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
      await isForEveryone(null, 'kept');

      shop.simulator.fail({ operation: 'CheckPayment', kind: 'status', status: 503 });
      await button('Pay in another way').click();
      await page.getByText('so you cannot pay in another way now').waitFor();
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
      await page.waitForURL((url) => url.pathname.startsWith('/hosted/') || url.pathname === `/orders/${orderId}`);
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

    it('counts as an attempt', async () => {
      const limited = await openShop({ SHOP_ATTEMPTS_PER_ORDER: '2' });
      const tester = await Buyer.enter(browser, limited);
      const orderId = await tester.order('Coffee cup');
      const statuses: number[] = [];
      for (let count = 0; count < 3; count += 1) {
        statuses.push((await tester.page.request.post(`${limited.url}/orders/${orderId}/payment-page`)).status());
      }
      expect(statuses).toEqual([200, 200, 429]);
      await tester.leave();
      await limited.close();
    });
  });

  it('a page whose time is over is not opened again, and can be given up', async () => {
    const hasty = await openShop({ PAYMENT_SESSION_TTL_MS: '500' });
    const late = await Buyer.enter(browser, hasty);
    const orderId = await late.order('Coffee cup');
    await late.goToPaymentPage();
    await late.page.waitForTimeout(500);
    await late.page.goto(`${hasty.url}/orders/${orderId}`);
    await late.page.getByRole('button', { name: 'Continue at the payment page' }).click();
    await late.sees('atPage');
    expect(await late.text()).toContain('If the payment page no longer opens, pay in another way.');
    expect(hasty.simulator.ledger.calls('hostedPage')).toBe(1);
    await late.page.getByRole('button', { name: 'Pay in another way' }).click();
    await late.goToPaymentPage();
    await late.payAtPage(CARD);
    await late.sees('paid');
    expect(hasty.simulator.ledger.calls('hostedPage')).toBe(2);
    await late.leave();
    expect(late.complaints).toEqual([]);
    await hasty.close();
  });

  it('with a real gateway the payment page is in Turkish, the only language that is documented', async () => {
    const gateway = await startSimulator({ dialect: 'morpos' });
    const live = await openShop({}, gateway);
    const other = await Buyer.enter(browser, live);
    await other.order('Coffee cup');
    await other.goToPaymentPage();
    expect(await other.page.locator('html').getAttribute('lang')).toBe('tr');
    gateway.payAtPage(other.page.url(), { callback: 'none' });
    await other.page.reload();
    await other.sees('paid');
    expect(gateway.ledger.charges).toMatchObject([{ amount: '420.00' }]);
    await other.leave();
    expect(other.complaints).toEqual([]);
    await live.close();
    await gateway.close();
  });

  describe('for everyone', () => {
    it('the choice and the way to the payment page', async () => {
      const orderId = await buyer.order('Coffee cup');
      await isForEveryone(`Payment · Order ${orderId} · Toprak`, 'choice');
      // The browser goes on by itself. With an answer that has no content, it stays.
      await page.route('**/hosted/*', (route) => route.fulfill({ status: 204 }));
      await button('Pay at the bank’s page').click();
      await page.getByRole('heading', { name: 'You are being taken to the payment page' }).waitFor();
      await isForEveryone('You are being taken to the payment page · Toprak', 'going');
      await page.unrouteAll();
      await page.getByRole('link', { name: 'Continue at the payment page' }).click();
      await buyer.seesPaymentPage();
    });

    it('with the keyboard alone, on a phone: declined, given up, opened again, and paid', async () => {
      await enterAgain({ viewport: PHONE });
      await buyer.order('Coffee cup');
      await press('Pay at the bank’s page');
      await buyer.seesPaymentPage();
      await type(DECLINED_CARD);
      await buyer.sees('declinedAtPage');
      await press('Pay in another way');
      await page.waitForURL('**/pay');
      await press('Pay at the bank’s page');
      await buyer.seesPaymentPage();
      await type(CARD);
      await buyer.sees('paid');
      expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      expect(charges()).toEqual(['420.00']);
    });

    it('without scripts, on a phone', async () => {
      await enterAgain({ javaScriptEnabled: false, viewport: PHONE });
      await buyer.order('Coffee cup');
      await buyer.goToPaymentPage();
      await button('Cancel').click();
      await button('Continue').click();
      await buyer.sees('atPage');
      await page.getByRole('link', { name: 'Look again' }).click();
      await buyer.sees('atPage');
      await button('Continue at the payment page').click();
      await buyer.seesPaymentPage();
      await buyer.payAtPage(CARD);
      await button('Continue').click();
      await buyer.sees('paid');
    });

    it('in Turkish', async () => {
      await enterAgain({ locale: 'tr-TR' });
      await page.getByRole('button', { name: 'Sepete ekle: Kahve fincanı' }).click();
      await button('Ödemeye geç').click();
      await page.getByText('Kartla burada öde').waitFor();
      const orderId = buyer.orderId();
      await isForEveryone(`Ödeme · Sipariş ${orderId} · Toprak`, 'choice-tr');
      await button('Bankanın sayfasında öde').click();
      await buyer.seesPaymentPage();
      expect(await page.locator('html').getAttribute('lang')).toBe('tr');
      await typeInTurkish(DECLINED_CARD);
      await buyer.sees('declinedAtPage');
      await isForEveryone(`Kartınız reddedildi · Sipariş ${orderId} · Toprak`, 'declined-tr');
      await button('Ödeme sayfasında başka bir kart dene').click();
      await buyer.seesPaymentPage();
      await button('İptal').click();
      await buyer.sees('declinedAtPage');
      await button('Başka bir şekilde öde').click();
      await button('Bankanın sayfasında öde').click();
      await buyer.seesPaymentPage();
      await buyer.goBack();
      await buyer.sees('atPage');
      await isForEveryone(`Ödeme sayfası açık · Sipariş ${orderId} · Toprak`, 'open-tr');
      await button('Ödeme sayfasında devam et').click();
      await buyer.seesPaymentPage();
      await typeInTurkish(CARD);
      await buyer.sees('paid');
      expect(await statesOf(orderId)).toContain('hosted expired abandoned');
    });

    async function typeInTurkish(cardNumber: string): Promise<void> {
      await page.getByLabel('Kart numarası').fill(cardNumber);
      await page.getByLabel('Son kullanma').fill('12/30');
      await page.getByLabel('Güvenlik kodu').fill('792');
      await page.getByRole('button', { name: 'Öde', exact: true }).click();
    }

    /** Goes to a button with Tab, and presses it. */
    async function press(name: string): Promise<void> {
      const wanted = button(name).and(page.locator(':focus'));
      await button(name).waitFor();
      for (let steps = 0; steps < 40 && (await wanted.count()) === 0; steps += 1) await page.keyboard.press('Tab');
      expect(await page.locator(':focus').innerText()).toBe(name);
      await page.keyboard.press('Enter');
    }

    /** Types a card at the payment page, whose first field has the focus. */
    async function type(cardNumber: string): Promise<void> {
      await page.getByLabel('Card number').and(page.locator(':focus')).waitFor();
      await page.keyboard.type(cardNumber);
      await page.keyboard.press('Tab');
      await page.keyboard.type('12/30');
      await page.keyboard.press('Tab');
      await page.keyboard.type('792');
      await page.keyboard.press('Enter');
    }
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

/**
 * The title tells the page, and in the whole tests axe finds nothing. Where a folder is given, pictures are saved for a
 * person to look at.
 *
 * @param title null where another state has it, too
 */
async function isForEveryone(title: string | null, name: string): Promise<void> {
  const before = page.viewportSize();
  if (title !== null) expect(await page.evaluate<string>('document.title')).toBe(title);
  const folder = process.env.SHOP_PICTURES;
  for (const width of folder ? [360, 1280] : []) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: join(folder!, `${name}-${width}.png`), fullPage: true });
  }
  if (WHOLE) expect(await barriersOf(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: null });
  if (before) await page.setViewportSize(before);
}
