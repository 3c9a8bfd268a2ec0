import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { startSimulator, type Simulator } from 'nestjs-card-payment/simulator';
import type { Browser, Page, Route } from 'playwright-core';
import { buyerPage, type PageName } from '../../lib/http/pages.js';
import { until } from '../services/until.js';
import { barriersOf } from './accessible-page.js';
import { launchBrowser } from './browser.js';
import { Buyer } from './buyer.js';
import { openShop, type Shop } from './shop.js';

const RIGHT_CODE = '123456';

let browser: Browser;
let shop: Shop;
let buyer: Buyer;
let page: Page;

describe('accessibility', () => {
  beforeAll(async () => {
    [browser, shop] = await Promise.all([launchBrowser(), openShop({ SHOP_ATTEMPTS_PER_ORDER: '2' })]);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });

  beforeEach(async () => {
    buyer = await Buyer.enter(browser, shop);
    page = buyer.page;
  });

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
    let gateway: Simulator;
    let live: Shop;

    beforeAll(async () => {
      gateway = await startSimulator({ dialect: 'morpos' });
      live = await openShop({ PAYMENT_SESSION_TTL_MS: '1000' }, gateway);
    });

    afterAll(async () => {
      delete process.env.SHOP_ADMIN_PASSWORD;
      await live?.close();
      await gateway?.close();
    });

    it('an order whose verification took too long: the page shows it without a reload', async () => {
      const other = await Buyer.enter(browser, live);
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
        const guest = await Buyer.enter(browser, live, { httpCredentials: { username: 'me', password } });
        await guest.page.goto(`${live.url}/desk`);
        await isForEveryone(title, guest.page);
        await guest.leave();
      }
    });
  });

  describe('a card form with errors', () => {
    it.each([true, false])('has the focus on the list of errors (scripts: %s)', async (javaScriptEnabled) => {
      await buyer.leave();
      buyer = await Buyer.enter(browser, shop, { javaScriptEnabled });
      page = buyer.page;
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
