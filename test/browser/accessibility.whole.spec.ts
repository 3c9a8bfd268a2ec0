import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { BrowserContextOptions, Page, Route } from 'playwright-core';
import { buyerPage, type PageName } from '../../lib/http/pages.js';
import { until } from '../services/until.js';
import { barriersOf } from './accessible-page.js';
import { useBrowser } from './shared-browser.js';
import { Buyer } from './buyer.js';
import { type Shop, useShop } from './shop.js';

const RIGHT_CODE = '123456';

/** No test card, so the payment page declines it. */
const DECLINED_CARD = '4111 1111 1111 1111';
const PAYING_CARD = '5246 7763 5690 3508';

let buyer: Buyer;
let page: Page;

describe('accessibility', () => {
  const used = useBrowser();
  const shop = useShop({ SHOP_ATTEMPTS_PER_ORDER: '2' });

  beforeEach(() => enter());

  async function enter(options?: BrowserContextOptions, at: Shop = shop): Promise<void> {
    buyer = await Buyer.enter(used.browser, at, options);
    page = buyer.page;
  }

  async function enterAgain(options: BrowserContextOptions, at?: Shop): Promise<void> {
    await buyer.leave();
    await enter(options, at);
  }

  afterEach(async () => {
    await buyer.leave();
    // The browser reports refusals.
    expect(buyer.complaints.filter((text) => !/status of (4\d\d|500)/.test(text))).toEqual([]);
  });

  /** The titles of all pages that were seen. Each names the page and its state. */
  const titles = new Set<string>();

  async function isForEveryone(title: string, seen = page): Promise<void> {
    expect(await seen.title()).toBe(title);
    expect(titles).not.toContain(title);
    titles.add(title);
    expect(await barriersOf(seen)).toEqual([]);
  }

  /** The title of a page of an order. */
  const ofOrder = (title: string): string => `${title} · Order ${buyer.orderId()} · Toprak`;

  const focused = (): Promise<string> => page.locator(':focus').innerText();

  describe('every page is accessible', () => {
    it('the shop and the basket', async () => {
      await isForEveryone('Stoneware made by hand · Toprak');
      await page.goto(`${shop.url}/basket`);
      await isForEveryone('Your basket is empty · Toprak');
      await page.goto(shop.url);
      await page.getByRole('button', { name: 'Add to basket: Olive-branch vase' }).click();
      await isForEveryone('Your basket (1) · Toprak');
    });

    it('the card form, with and without errors', async () => {
      await buyer.order('Coffee cup');
      await isForEveryone(ofOrder('Payment'));
      await buyer.fillIn('Direct');
      await page.getByLabel('Card number').fill('5246 7763 5690 3507');
      await buyer.submit();
      await page.getByRole('alert').waitFor();
      await isForEveryone(ofOrder('Please check your details · Payment'));
    });

    it('the pages on the way to the bank and back, and the bank', async () => {
      const orderId = await buyer.order('Coffee cup');
      await buyer.fillIn('3D Secure');
      // These pages submit themselves. With an answer that has no content, the browser stays on them.
      await page.route('**/acs/*', (route) => route.fulfill({ status: 204 }));
      await buyer.submit();
      await page.getByText('You are being taken to').waitFor();
      await isForEveryone('You are being taken to the verification page of your bank.');
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByLabel('SMS code').waitFor();
      await isForEveryone('3D Secure verification');

      const bank = page.url();
      const other = await buyer.secondTab();
      await other.page.goto(`${shop.url}/orders/${orderId}`);
      await isForEveryone(`Waiting for your bank · Order ${orderId} · Toprak`, other.page);
      await other.page.close();

      await buyer.confirm('999999');
      await page.getByText('Wrong code').waitFor();
      await isForEveryone('Wrong code. Tries left: 2. · 3D Secure verification');
      expect(await page.getByLabel('SMS code').and(page.locator(':focus')).count()).toBe(1);

      await page.route('**/payments/**', (route) => route.fulfill({ status: 204 }));
      await buyer.confirm(RIGHT_CODE);
      await page.getByText('You are being taken back').waitFor();
      await isForEveryone('You are being taken back to the merchant.');
      await page.goto(bank.replace(/[^/]+$/, 'gone?lang=en'));
      await isForEveryone('There is no such verification, or it has expired.');
    });

    it('an order that is not paid', async () => {
      const orderId = await buyer.order('Coffee cup');
      await page.goto(`${shop.url}/orders/${orderId}`);
      await isForEveryone(ofOrder('Your order is not paid yet'));
    });

    it.each([
      ['paid', 'Teapot', 'Thank you, your order is paid'],
      ['pending', 'Unclear answer', 'Your payment is being processed'],
      ['checking', 'Partial approval', 'We are checking your payment'],
      ['failed', 'Insufficient funds', 'Your payment was not completed'],
    ])('an order: %s', async (outcome, product, title) => {
      await buyer.order(product);
      await buyer.pay('Direct');
      await buyer.sees(outcome);
      await isForEveryone(ofOrder(title));
    });

    it('the pages of refused requests', async () => {
      await page.goto(`${shop.url}/nowhere`);
      await isForEveryone('This page does not exist · Toprak');
      const orderId = await buyer.order('Insufficient funds');
      await buyer.pay('Direct');
      await page.getByRole('link', { name: 'Try again' }).click();
      await buyer.pay('Direct');
      await page.getByRole('link', { name: 'Try again' }).click();
      await buyer.pay('Direct');
      await page.getByText('Too many attempts').waitFor();
      await isForEveryone('Too many attempts · Toprak');
      // The module's own answer to an unknown token.
      await page.goto(`${shop.url}/payments/${'0'.repeat(32)}/return`);
      await isForEveryone('This page cannot be shown');

      const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
      const broken = jest.spyOn(shop.payments, 'findByReference').mockRejectedValue(new Error('the store is away'));
      await page.goto(`${shop.url}/orders/${orderId}`);
      broken.mockRestore();
      logged.mockRestore();
      await isForEveryone('Just a moment · Toprak');
    });

    it.each<[PageName, string]>([
      ['success', 'Payment received'],
      ['failure', 'Payment not completed'],
      ['pending', 'Payment in progress'],
      ['reload', 'Just a moment'],
    ])('the module’s own page: %s', async (kind, title) => {
      await page.goto('about:blank');
      await page.setContent(buyerPage(kind, 'en', '/'));
      await isForEveryone(title);
    });
  });

  describe('with a real gateway', () => {
    const live = useShop({ PAYMENT_SESSION_TTL_MS: '1000' }, true);

    it('an order whose verification took too long: the page shows it without a reload', async () => {
      const other = await Buyer.enter(used.browser, live);
      const orderId = await other.order('Coffee cup');
      await other.page.getByLabel('Card number').fill('4508 0345 0803 4509');
      await other.page.getByLabel('Expiry').fill('12 / 2036');
      await other.page.getByLabel('Security code').fill('000');
      await other.page.getByLabel('Name on the card').fill('ADA YILMAZ');
      await other.page.getByLabel('Mobile phone').fill('0555 111 22 33');
      await other.submit();
      await other.page.getByLabel('SMS şifresi').waitFor();
      await other.page.goto(`${live.url}/orders/${orderId}`);
      await other.sees('expired');
      await isForEveryone(`The payment timed out · Order ${orderId} · Toprak`, other.page);
      await other.leave();
    });

    it('its desk, and the refusals without the password', async () => {
      await page.goto(`${live.url}/desk`);
      await isForEveryone('Access denied · Toprak');
      process.env.SHOP_ADMIN_PASSWORD = 'right';
      for (const [password, title] of [
        ['wrong', 'Please sign in · Toprak'],
        ['right', 'Overview · Payment desk'],
      ] as const) {
        const guest = await Buyer.enter(used.browser, live, { httpCredentials: { username: 'me', password } });
        await guest.page.goto(`${live.url}/desk`);
        await isForEveryone(title, guest.page);
        await guest.leave();
      }
    });
  });

  describe('the payment page of the gateway', () => {
    // Each time that the page is opened counts as an attempt.
    const patient = useShop();
    const button = (name: string) => page.getByRole('button', { name });

    it('the choice, the way there, and each of its own pages', async () => {
      await enterAgain({}, patient);
      const orderId = await buyer.order('Olive-branch vase');
      await page.goto(`${patient.url}/orders/${orderId}/pay`);
      // The browser goes on by itself. With an answer that has no content, it stays.
      await page.route('**/hosted/*', (route) => route.fulfill({ status: 204 }));
      await button('Pay at the bank’s page').click();
      await page.getByRole('heading', { name: 'You are being taken to the payment page' }).waitFor();
      await isForEveryone('You are being taken to the payment page · Toprak');
      await page.unrouteAll();
      await page.getByRole('link', { name: 'Continue at the payment page' }).click();
      await buyer.seesPaymentPage();
      expect(await barriersOf(page)).toEqual([]);
      await buyer.payAtPage('4000 0000 0000 0001');
      await page.getByRole('alert').waitFor();
      expect(await barriersOf(page)).toEqual([]);
      const address = page.url();
      patient.simulator.closePage(address);
      await page.goto(address);
      expect(await barriersOf(page)).toEqual([]);
    });

    it('with the keyboard alone, on a phone: declined, given up, opened again, and paid', async () => {
      await enterAgain({ viewport: { width: 360, height: 740 } }, patient);
      const orderId = await buyer.order('Coffee cup');
      await press('Pay at the bank’s page');
      await buyer.seesPaymentPage();
      await type(DECLINED_CARD);
      await buyer.sees('declinedAtPage');
      await press('Pay in another way');
      await page.waitForURL('**/pay');
      await press('Pay at the bank’s page');
      await buyer.seesPaymentPage();
      await type(PAYING_CARD);
      await buyer.sees('paid');
      expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      expect((await patient.payments.findByReference(orderId)).map(({ state }) => state)).toEqual([
        'expired',
        'succeeded',
      ]);
    });

    it('in Turkish', async () => {
      await enterAgain({ locale: 'tr-TR' }, patient);
      await page.getByRole('button', { name: 'Sepete ekle: Kahve fincanı' }).click();
      await button('Ödemeye geç').click();
      await page.getByText('Kartla burada öde').waitFor();
      const orderId = buyer.orderId();
      await isForEveryone(`Ödeme · Sipariş ${orderId} · Toprak`);
      await button('Bankanın sayfasında öde').click();
      await buyer.seesPaymentPage();
      expect(await page.locator('html').getAttribute('lang')).toBe('tr');
      await typeInTurkish(DECLINED_CARD);
      await buyer.sees('declinedAtPage');
      await isForEveryone(`Kartınız reddedildi · Sipariş ${orderId} · Toprak`);
      await button('Ödeme sayfasında başka bir kart dene').click();
      await buyer.seesPaymentPage();
      await button('İptal').click();
      await buyer.sees('declinedAtPage');
      await button('Başka bir şekilde öde').click();
      await button('Bankanın sayfasında öde').click();
      await buyer.seesPaymentPage();
      await buyer.goBack();
      await buyer.sees('atPage');
      await isForEveryone(`Ödeme sayfası açık · Sipariş ${orderId} · Toprak`);
      await button('Ödeme sayfasında devam et').click();
      await buyer.seesPaymentPage();
      await typeInTurkish(PAYING_CARD);
      await buyer.sees('paid');
      expect((await patient.payments.findByReference(orderId)).map(({ state }) => state)).toEqual([
        'expired',
        'succeeded',
      ]);
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

  describe('a card form with errors', () => {
    it.each([true, false])('has the focus on the list of errors (scripts: %s)', async (javaScriptEnabled) => {
      await enterAgain({ javaScriptEnabled });
      await buyer.order('Coffee cup');
      await page.getByLabel('Mobile phone').fill('0555 111 22 33');
      await page.getByLabel('Name on the card').fill('ADA YILMAZ');
      await page.getByLabel('Card number').fill('5246 7763 5690 3507');
      await page.getByLabel('Expiry').fill('01/20');
      await page.getByLabel('Security code').fill('000');
      await buyer.submit();
      await page.getByRole('alert').waitFor();
      expect(await focused()).toMatch(/^Please check your details\s+Nothing was charged/);

      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Card number has a mistyped digit');
      await page.keyboard.press('Enter');
      const number = page.getByLabel('Card number');
      expect(await number.and(page.locator(':focus')).count()).toBe(1);
      for (const [label, problem] of [
        ['Card number', 'Card number has a mistyped digit'],
        ['Expiry', 'Expiry date is in the past: the card has expired'],
      ] as const) {
        const field = page.getByLabel(label);
        expect(await field.getAttribute('aria-invalid')).toBe('true');
        const description = await field.getAttribute('aria-describedby');
        expect(await page.locator(`[id="${description}"]`).innerText()).toBe(problem);
      }
      expect(await page.locator('[aria-invalid]').count()).toBe(2);
    });
  });

  it('a changed quantity keeps the focus, and the new total is read out', async () => {
    await page.getByRole('button', { name: 'Add to basket: Coffee cup' }).click();
    const quantity = page.getByLabel('Quantity of Coffee cup');
    await quantity.focus();
    await quantity.selectOption('3');
    await page.getByRole('status').getByText('₺1,260.00').waitFor();
    expect(await page.title()).toBe('Your basket (3) · Toprak');
    expect(await quantity.and(page.locator(':focus')).count()).toBe(1);
  });

  it('a quantity that is changed before the script is loaded is sent, too', async () => {
    const held: Route[] = [];
    await page.route('**/basket.js', (route) => void held.push(route));
    await page.getByRole('button', { name: 'Add to basket: Coffee cup' }).click();
    await page.getByLabel('Quantity of Coffee cup').selectOption('3');
    await until(() => held.length === 1);
    await held[0]!.continue();
    await page.getByRole('status').getByText('₺1,260.00').waitFor();
  });
});
