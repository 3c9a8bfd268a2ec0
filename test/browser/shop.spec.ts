import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startSimulator } from 'nestjs-card-payment/simulator';
import type { Browser, Page } from 'playwright-core';
import { until } from '../services/until.js';
import { useBrowser } from './shared-browser.js';
import { Buyer, type Method } from './buyer.js';
import { openShop, type Shop, useShop } from './shop.js';

const RIGHT_CODE = '123456';
const CARD = /5246[ ]?7763[ ]?5690[ ]?3508/;

let browser: Browser;
let shop: Shop;
let buyer: Buyer;

describe('shop', () => {
  const used = useBrowser();
  const opened = useShop();

  beforeEach(async () => {
    ({ browser } = used);
    shop = opened;
    shop.simulator.reset();
    buyer = await Buyer.enter(browser, shop);
  });

  afterEach(async () => {
    await buyer.leave();
    expect(buyer.complaints).toEqual([]);
    expect(shop.simulator.ledger.violations).toEqual([]);
  });

  const charges = (): readonly string[] => shop.simulator.ledger.charges.map(({ amount }) => amount);

  describe('paying', () => {
    it.each<[Method, string]>([
      ['Direct', 'Direct'],
      ['3D Secure', '3D Secure'],
    ])('%s: the order is paid, and both sides see how', async (method, shown) => {
      const orderId = await buyer.order('Teapot', 'Coffee cup', 'Coffee cup');
      expect(await buyer.text()).toContain('₺2,730.00');
      await buyer.pay(method);
      if (method === '3D Secure') await buyer.confirm(RIGHT_CODE);
      await buyer.sees('paid');

      const text = await buyer.text();
      expect(text).toContain('524677******3508');
      expect(text).toMatch(/Result code\s+B0000/);
      expect(text).toMatch(/Authorisation code\s+\w+/);
      expect(text).not.toMatch(CARD);
      expect(charges()).toEqual(['2730.00']);
      expect(await buyer.page.locator('.basket-link b').count()).toBe(0);

      const heard = await heardOf(orderId, 'succeeded');
      expect(heard).toMatchObject({ status: 'paid', invoiceNumber: expect.any(Number) as unknown });
      expect(heard.events.sort()).toEqual(['@OnEvent payment.succeeded', '@OnPayment payment.succeeded']);
      const desk = await atDesk(orderId);
      expect(await desk.locator('main').innerText()).toMatch(new RegExp(`Kind\\s+${shown}`));
      await desk.close();
    });

    it('without scripts', async () => {
      const plain = await Buyer.enter(browser, shop, { javaScriptEnabled: false });
      await plain.order('Breakfast bowl');
      await plain.page.getByLabel('Mobile phone').fill('0555 111 22 33');
      await plain.page.getByLabel('Name on the card').fill('ADA YILMAZ');
      await plain.page.getByLabel('Card number').fill('4508 0345 0803 4509');
      await plain.page.getByLabel('Expiry').fill('12/36');
      await plain.page.getByLabel('Security code').fill('000');
      await plain.submit();
      await plain.page.getByRole('button', { name: /Continue|Devam et/ }).click();
      await plain.confirm(RIGHT_CODE);
      await plain.page.getByRole('button', { name: /Continue|Devam et/ }).click();
      await plain.sees('paid');
      await plain.leave();
      expect(charges()).toEqual(['560.00']);
    });
  });

  describe('payments that fail', () => {
    it('declined for lack of funds', async () => {
      const orderId = await buyer.order('Insufficient funds');
      await buyer.pay('3D Secure');
      await buyer.confirm(RIGHT_CODE);
      await buyer.sees('failed');
      expect(await buyer.text()).toContain('The card’s funds or limit are not sufficient.');
      expect(charges()).toEqual([]);

      const heard = await heardOf(orderId, 'failed');
      expect(heard.status).toBe('open');
      expect(heard.events.sort()).toEqual(['@OnEvent payment.failed', '@OnPayment payment.failed']);
      const desk = await atDesk(orderId);
      expect(await desk.locator('main').innerText()).toMatch(/Not paid[\s\S]*B0051[\s\S]*the bank declined/);
      await desk.close();
    });

    it('cancelled at the bank, then paid after all', async () => {
      const orderId = await buyer.order('Carafe');
      await buyer.pay('3D Secure');
      await buyer.page.getByRole('button', { name: 'Cancel' }).click();
      await buyer.sees('failed');
      expect(await buyer.text()).toContain('You cancelled at your bank.');
      expect(charges()).toEqual([]);

      await buyer.page.getByRole('link', { name: 'Try again' }).click();
      await buyer.pay('3D Secure');
      await buyer.confirm(RIGHT_CODE);
      await buyer.sees('paid');
      expect(buyer.orderId()).toBe(orderId);
      expect(charges()).toEqual(['1240.00']);
      await heardOf(orderId, 'succeeded');
      const [first, second] = await shop.payments.findByReference(orderId);
      expect([first?.state, first?.code, second?.state, second?.code]).toEqual([
        'failed',
        'B0017',
        'succeeded',
        'B0000',
      ]);
    });

    it('an unclear answer: the buyer waits, the merchant asks the gateway, and the order is paid', async () => {
      // The shop itself asks after 12 s: until the merchant has asked, too, the gateway answers nobody.
      const inquiry = shop.simulator.fail({ operation: 'CheckPayment', kind: 'stall', times: Infinity });
      const orderId = await buyer.order('Unclear answer');
      await buyer.pay('Direct');
      await buyer.sees('pending');
      expect(await buyer.text()).toContain('Please do not pay again');
      await buyer.page.goto(`${shop.url}/orders/${orderId}/pay`);
      await buyer.sees('pending');
      expect((await heardOf(orderId, 'unknown')).status).toBe('checking');

      const desk = await atDesk(orderId);
      const ask = desk.getByRole('button', { name: 'Ask the gateway' });
      const before = inquiry.timesPlayed;
      await Promise.all([ask.click(), until(() => inquiry.timesPlayed > before).then(() => inquiry.release())]);
      await desk.locator('h1 [data-state="succeeded"]').waitFor();
      await desk.close();
      // The buyer's page asks again by itself.
      await buyer.sees('paid');
      expect(charges()).toEqual(['40.96']);
    });
  });

  describe('the card form', () => {
    it('says what is wrong, and does not show the card again', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.fillIn('Direct');
      await buyer.page.getByLabel('Card number').fill('5246 7763 5690 3507');
      await buyer.page.getByLabel('Expiry').fill('01/20');
      await buyer.submit();
      await buyer.page.getByRole('alert').waitFor();

      const problemOf = (label: string): Promise<string> =>
        buyer.page
          .locator('.field', { has: buyer.page.getByLabel(label) })
          .locator('.problem')
          .innerText();
      expect(await problemOf('Card number')).toBe('Card number has a mistyped digit');
      expect(await problemOf('Expiry')).toContain('in the past');
      expect(await buyer.page.locator('.problem').count()).toBe(2);
      for (const label of ['Card number', 'Expiry', 'Security code']) {
        expect(await buyer.page.getByLabel(label).inputValue()).toBe('');
      }
      expect(await buyer.page.getByLabel('Name on the card').inputValue()).toBe('ADA YILMAZ');
      expect(await buyer.page.getByRole('radio', { name: 'Direct' }).isChecked()).toBe(true);
      expect(await buyer.page.locator('.checkout').innerHTML()).not.toContain('5246');
      expect(buyer.page.url()).toBe(`${shop.url}/orders/${orderId}/pay`);
      // The instalments of the card may have been looked up.
      expect(shop.simulator.requests.filter(({ operation }) => operation !== 'CheckBin')).toEqual([]);
      expect(await shop.payments.findByReference(orderId)).toEqual([]);
    });

    it('is never kept by the browser', async () => {
      const orderId = await buyer.order('Coffee cup');
      const answer = await buyer.page.request.get(`${shop.url}/orders/${orderId}/pay`);
      expect(answer.headers()['cache-control']).toBe('no-store');
      await buyer.fillIn('3D Secure');
      const [posted] = await Promise.all([
        buyer.page.waitForResponse(
          (response) => response.url().endsWith('/pay') && response.request().method() === 'POST',
        ),
        buyer.submit(),
      ]);
      expect(posted.headers()).toMatchObject({
        'cache-control': 'no-store',
        'content-type': 'text/html; charset=utf-8',
      });
    });

    it('is not taken from another site', async () => {
      const orderId = await buyer.order('Coffee cup');
      const answer = await buyer.page.request.post(`${shop.url}/orders/${orderId}/pay`, {
        headers: { 'sec-fetch-site': 'cross-site' },
        form: { number: '5246776356903508' },
      });
      expect(answer.status()).toBe(403);
      expect(await answer.text()).not.toContain('5246');
    });
  });

  describe('with a real gateway', () => {
    it('every payment goes through 3D Secure, even if another way is posted', async () => {
      const gateway = await startSimulator({ dialect: 'morpos' });
      const live = await openShop({}, gateway);
      const other = await Buyer.enter(browser, live);
      const orderId = await other.order('Coffee cup');
      expect(await other.page.getByRole('radio').count()).toBe(0);
      expect(await other.page.getByRole('button', { name: /Fill in this test card$/ }).count()).toBe(0);

      const card = {
        number: '4508 0345 0803 4509',
        expiry: '12/36',
        cvv: '000',
        holder: 'ADA YILMAZ',
        phone: '0555 111 22 33',
      };
      const posted = await other.page.request.post(`${live.url}/orders/${orderId}/pay`, {
        form: { ...card, method: 'direct' },
      });
      expect(posted.status()).toBe(400);
      expect(await live.payments.findByReference(orderId)).toEqual([]);
      expect(gateway.requests).toEqual([]);

      await other.page.getByLabel('Card number').fill(card.number);
      await other.page.getByLabel('Expiry').fill('12 / 2036');
      await other.page.getByLabel('Security code').fill(card.cvv);
      await other.page.getByLabel('Name on the card').fill(card.holder);
      await other.page.getByLabel('Mobile phone').fill(card.phone);
      await other.submit();
      await other.page.getByLabel('SMS şifresi').fill(RIGHT_CODE);
      await other.page.getByRole('button', { name: 'Onayla' }).click();
      await other.sees('paid');
      expect(gateway.ledger.calls('DoPayment')).toBe(0);
      expect(gateway.ledger.charges).toMatchObject([{ amount: '420.00' }]);
      expect(other.complaints).toEqual([]);
      await other.leave();
      await live.close();
      await gateway.close();
    });
  });

  describe('card testing', () => {
    const CARD_FORM = {
      number: '4508034508034509',
      expiry: '1236',
      cvv: '000',
      holder: 'ADA YILMAZ',
      phone: '05551112233',
      method: 'direct',
    };

    /** The statuses of attempts at an order whose every payment is declined. */
    async function attempts(tester: Buyer, orderId: string, count: number): Promise<number[]> {
      const statuses: number[] = [];
      for (let attempt = 0; attempt < count; attempt += 1) {
        const form = { ...CARD_FORM, cvv: String(100 + attempt) };
        const url = `${tester.shop.url}/orders/${orderId}/pay`;
        const answer = await tester.page.request.post(url, { form, maxRedirects: 0 });
        statuses.push(answer.status());
      }
      return statuses;
    }

    it('has default limits', async () => {
      const orderId = await buyer.order('Insufficient funds');
      expect((await attempts(buyer, orderId, 9)).slice(-2)).toEqual([303, 429]);
    });
  });

  describe('once is enough', () => {
    it.each<Method>(['Direct', '3D Secure'])('%s: Back and refresh charge nothing more', async (method) => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.pay(method);
      if (method === '3D Secure') await buyer.confirm(RIGHT_CODE);
      await buyer.sees('paid');

      await buyer.page.reload();
      await buyer.sees('paid');
      await buyer.goBack();
      await buyer.sees('paid');
      await buyer.page.goto(`${shop.url}/orders/${orderId}/pay`);
      await buyer.sees('paid');
      expect(charges()).toEqual(['420.00']);
      const { ledger } = shop.simulator;
      expect(ledger.calls('DoPayment') + ledger.calls('Auth3d')).toBe(1);
    });

    it('the bank page of a finished payment leads to the same order page, Auth3d is not called again', async () => {
      await buyer.order('Coffee cup');
      await buyer.pay('3D Secure');
      const bank = buyer.page.url();
      await buyer.confirm(RIGHT_CODE);
      await buyer.sees('paid');
      await buyer.page.goto(bank);
      await buyer.sees('paid');
      expect(shop.simulator.ledger.calls('Auth3d')).toBe(1);
      expect(charges()).toEqual(['420.00']);
    });

    it('two tabs that pay one order directly', async () => {
      await buyer.order('Slow bank');
      const other = await buyer.secondTab();
      await Promise.all([buyer.fillIn('Direct'), other.fillIn('Direct')]);
      await Promise.all([buyer.submit(), other.submit()]);
      await Promise.all([buyer.sees('paid'), other.sees('paid')]);
      expect(charges()).toEqual(['40.61']);
    });

    it('an order that was paid stays paid over a restart', async () => {
      let other = await openShop();
      const before = await Buyer.enter(browser, other);
      const orderId = await before.order('Coffee cup');
      await before.pay('Direct');
      await before.sees('paid');
      other = await other.restart();
      await before.page.goto(`${other.url}/orders/${orderId}/pay`);
      await before.sees('paid');
      expect(other.simulator.requests).toEqual([]);
      await before.leave();
      await other.close();
    });
  });

  describe('the shop', () => {
    it('has a basket', async () => {
      const { page } = buyer;
      await page.goto(`${shop.url}/basket`);
      await page.getByText('Your basket is empty.').waitFor();
      await page.goto(shop.url);
      await page.getByRole('button', { name: 'Add to basket: Coffee cup' }).click();
      await page.getByLabel('Quantity of Coffee cup').selectOption('3');
      await page.locator('.total', { hasText: '₺1,260.00' }).waitFor();
      expect(await page.locator('.basket-link b').innerText()).toBe('3');
      await page.getByRole('button', { name: 'Remove: Coffee cup' }).click();
      await page.getByText('Your basket is empty.').waitFor();
      const answer = await page.request.post(`${shop.url}/orders`);
      expect(answer.url()).toBe(`${shop.url}/basket`);
    });

    it('speaks Turkish and English', async () => {
      const visitor = await Buyer.enter(browser, shop, { locale: 'tr-TR' });
      const { page } = visitor;
      expect(await page.locator('html').getAttribute('lang')).toBe('tr');
      await page.getByRole('button', { name: 'Sepete ekle: Kahve fincanı' }).click();
      await page.getByRole('button', { name: 'Ödemeye geç' }).click();
      expect(await page.locator('main').innerText()).toContain('₺420,00');
      await page.getByRole('link', { name: 'EN', exact: true }).click();
      await page.getByRole('button', { name: 'Pay ₺420.00' }).waitFor();
      await page.getByRole('link', { name: 'TR', exact: true }).click();

      await page.getByRole('button', { name: /^5246 .*Bu test kartını doldur$/ }).click();
      await page.getByRole('button', { name: '₺420,00 öde' }).click();
      await page.getByLabel('SMS şifresi').fill(RIGHT_CODE);
      await page.getByRole('button', { name: 'Onayla' }).click();
      await visitor.sees('paid');
      expect(await page.locator('h1').innerText()).toBe('Teşekkürler, siparişiniz ödendi');
      await visitor.leave();
      expect(visitor.complaints).toEqual([]);
    });

    it('escapes its input and shows strangers nothing', async () => {
      const answer = await buyer.page.request.get(`${shop.url}/orders/%3Cscript%3E`);
      expect(answer.status()).toBe(404);
      expect(await answer.text()).not.toContain('<script>');
    });

    it('looks like a shop', async () => {
      await buyer.page.setViewportSize({ width: 1200, height: 1150 });
      await buyer.page.goto(shop.url);
      expect(await buyer.page.locator('h1').innerText()).toBe('For the table you come home to');
      const pictures = await buyer.page.locator('main svg').all();
      expect(pictures.length).toBeGreaterThanOrEqual(6);
      for (const shown of pictures.slice(0, 6)) {
        const box = await shown.boundingBox();
        expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThan(100);
      }
      const picture = await buyer.page.screenshot();
      expect(picture.length).toBeLessThan(200 * 1024);
      // A picture of one colour would have a few kilobytes.
      expect(picture.length).toBeGreaterThan(40 * 1024);
      if (process.env.SHOP_PICTURE) writeFileSync(process.env.SHOP_PICTURE, picture);
    });
  });
});

/** What the shop has of an order once its handler, which may be late, has got this event. */
async function heardOf(orderId: string, event: string) {
  const eventsOf = () => shop.orders.eventsOf(orderId).map(({ via, type }) => `${via} ${type}`);
  // When it never is, what is there says more than a limit.
  await until(() => eventsOf().includes(`@OnPayment payment.${event}`)).catch(() => undefined);
  const { status, invoiceNumber } = shop.orders.get(orderId);
  return { status, invoiceNumber, events: eventsOf() };
}

/** The desk's page of the last payment of an order. */
async function atDesk(orderId: string): Promise<Page> {
  const page = await buyer.page.context().newPage();
  await page.goto(`${shop.url}/desk/payments?q=${orderId}`);
  await page.locator('li a').first().click();
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  return page;
}
