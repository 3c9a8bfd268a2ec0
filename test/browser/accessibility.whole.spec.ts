import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Page, Route } from 'playwright-core';
import { buyerPage, type PageName } from '../../lib/http/pages.js';
import { until } from '../services/until.js';
import { barriersOf } from './accessible-page.js';
import { type Buyer, DECLINED_CARD, TEST_CARD, useBuyer } from './buyer.js';
import { useShop } from './shop.js';

/** The browser reports refusals. */
const REFUSED = /status of (4\d\d|500)/;

/** The titles of all pages that were seen. Each names the page and its state. */
const titles = new Set<string>();

async function isForEveryone(page: Page, title: string): Promise<void> {
  expect(await page.title()).toBe(title);
  expect(titles).not.toContain(title);
  titles.add(title);
  expect(await barriersOf(page)).toEqual([]);
}

const focused = (page: Page): Promise<string> => page.locator(':focus').innerText();

/** The pages that submit themselves or go on by themselves: the browser stays, since the answer has no content. */
async function stays(page: Page, addresses: string): Promise<void> {
  await page.route(addresses, (route) => route.fulfill({ status: 204 }));
}

describe('accessibility', () => {
  const shop = useShop({ SHOP_ATTEMPTS_PER_ORDER: '2' });
  const buyer = useBuyer(shop, REFUSED);

  /** The title of a page of an order. */
  const ofOrder = (title: string, id = buyer.orderId()): string => `${title} · Order ${id} · Toprak`;

  describe('every page is accessible', () => {
    it('the shop, the basket and the card form', async () => {
      const { page } = buyer;
      await isForEveryone(page, 'Stoneware made by hand · Toprak');
      await page.goto(`${shop.url}/basket`);
      await isForEveryone(page, 'Your basket is empty · Toprak');
      await page.goto(shop.url);
      await buyer.button('Add to basket: Olive-branch vase').click();
      await isForEveryone(page, 'Your basket (1) · Toprak');
      await buyer.order('Coffee cup');
      await isForEveryone(page, ofOrder('Payment'));
    });

    it('the pages on the way to the bank and back, and the bank', async () => {
      const { page } = buyer;
      const orderId = await buyer.order('Coffee cup');
      await buyer.fillIn('3D Secure');
      await stays(page, '**/acs/*');
      await buyer.submit();
      await page.getByText('You are being taken to').waitFor();
      await isForEveryone(page, 'You are being taken to the verification page of your bank.');
      await page.unrouteAll();
      await buyer.button('Continue').click();
      await page.getByLabel('SMS code').waitFor();
      await isForEveryone(page, '3D Secure verification');

      const bank = page.url();
      const other = await buyer.inTab(`${shop.url}/orders/${orderId}`);
      await isForEveryone(other.page, ofOrder('Waiting for your bank', orderId));
      await other.page.close();

      await buyer.confirm('999999');
      await page.getByText('Wrong code').waitFor();
      await isForEveryone(page, 'Wrong code. Tries left: 2. · 3D Secure verification');
      expect(await page.getByLabel('SMS code').and(page.locator(':focus')).count()).toBe(1);

      await stays(page, '**/payments/**');
      await buyer.confirm();
      await page.getByText('You are being taken back').waitFor();
      await isForEveryone(page, 'You are being taken back to the merchant.');
      await page.goto(bank.replace(/[^/]+$/, 'gone?lang=en'));
      await isForEveryone(page, 'There is no such verification, or it has expired.');
    });

    it.each([
      ['unpaid', 'Coffee cup', 'Your order is not paid yet'],
      ['paid', 'Teapot', 'Thank you, your order is paid'],
      ['pending', 'Unclear answer', 'Your payment is being processed'],
      ['checking', 'Partial approval', 'We are checking your payment'],
      ['failed', 'Insufficient funds', 'Your payment was not completed'],
    ])('an order: %s', async (outcome, product, title) => {
      const orderId = await buyer.order(product);
      if (outcome === 'unpaid') await buyer.page.goto(`${shop.url}/orders/${orderId}`);
      else await buyer.pay('Direct');
      await buyer.sees(outcome);
      await isForEveryone(buyer.page, ofOrder(title));
    });

    it('the pages of refused requests', async () => {
      const { page } = buyer;
      await page.goto(`${shop.url}/nowhere`);
      await isForEveryone(page, 'This page does not exist · Toprak');
      const orderId = await buyer.order('Insufficient funds');
      for (const _attempt of [1, 2]) {
        await buyer.pay('Direct');
        await page.getByRole('link', { name: 'Try again' }).click();
      }
      await buyer.pay('Direct');
      await page.getByText('Too many attempts').waitFor();
      await isForEveryone(page, 'Too many attempts · Toprak');
      // The module's own answer to an unknown token.
      await page.goto(`${shop.url}/payments/${'0'.repeat(32)}/return`);
      await isForEveryone(page, 'This page cannot be shown');

      const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
      const broken = jest.spyOn(shop.payments, 'findByReference').mockRejectedValue(new Error('the store is away'));
      await page.goto(`${shop.url}/orders/${orderId}`);
      broken.mockRestore();
      logged.mockRestore();
      await isForEveryone(page, 'Just a moment · Toprak');
    });

    it.each<[PageName, string]>([
      ['success', 'Payment received'],
      ['failure', 'Payment not completed'],
      ['pending', 'Payment in progress'],
      ['reload', 'Just a moment'],
    ])('the module’s own page: %s', async (kind, title) => {
      await buyer.page.goto('about:blank');
      await buyer.page.setContent(buyerPage(kind, 'en', '/'));
      await isForEveryone(buyer.page, title);
    });
  });

  describe('a card form with errors', () => {
    it.each([true, false])('has the focus on the list of errors (scripts: %s)', async (javaScriptEnabled) => {
      const { page } = await buyer.enter({ javaScriptEnabled });
      await buyer.order('Coffee cup');
      await buyer.typeIn({ number: '5246 7763 5690 3507', expiry: '01/20' });
      await buyer.submit();
      await page.getByRole('alert').waitFor();
      expect(await focused(page)).toMatch(/^Please check your details\s+Nothing was charged/);

      await page.keyboard.press('Tab');
      expect(await focused(page)).toBe('Card number has a mistyped digit');
      await page.keyboard.press('Enter');
      expect(await page.getByLabel('Card number').and(page.locator(':focus')).count()).toBe(1);
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
      if (javaScriptEnabled) await isForEveryone(page, ofOrder('Please check your details · Payment'));
    });
  });

  it('a changed quantity keeps the focus, and the new total is read out', async () => {
    const { page } = buyer;
    await buyer.button('Add to basket: Coffee cup').click();
    const quantity = page.getByLabel('Quantity of Coffee cup');
    await quantity.focus();
    await quantity.selectOption('3');
    await page.getByRole('status').getByText('₺1,260.00').waitFor();
    expect(await page.title()).toBe('Your basket (3) · Toprak');
    expect(await quantity.and(page.locator(':focus')).count()).toBe(1);
  });

  it('a quantity that is changed before the script is loaded is sent, too', async () => {
    const held: Route[] = [];
    await buyer.page.route('**/basket.js', (route) => void held.push(route));
    await buyer.button('Add to basket: Coffee cup').click();
    await buyer.page.getByLabel('Quantity of Coffee cup').selectOption('3');
    await until(() => held.length === 1);
    await held[0]!.continue();
    await buyer.page.getByRole('status').getByText('₺1,260.00').waitFor();
  });
});

describe('accessibility of a shop with a real gateway', () => {
  const shop = useShop({ PAYMENT_SESSION_TTL_MS: '1000' }, true);
  const buyer = useBuyer(shop, REFUSED);

  it('an order whose verification took too long: the page shows it without a reload', async () => {
    const orderId = await buyer.order('Coffee cup');
    await buyer.typeIn();
    await buyer.submit();
    await buyer.page.getByLabel('SMS şifresi').waitFor();
    await buyer.page.goto(`${shop.url}/orders/${orderId}`);
    await buyer.sees('expired');
    await isForEveryone(buyer.page, `The payment timed out · Order ${orderId} · Toprak`);
  });

  it.each([
    [undefined, 'wrong', 'Access denied · Toprak'],
    ['right', 'wrong', 'Please sign in · Toprak'],
    ['right', 'right', 'Overview · Payment desk'],
  ])('its desk: the password is %s, and %s is given', async (wanted, password, title) => {
    if (wanted !== undefined) process.env.SHOP_ADMIN_PASSWORD = wanted;
    const { page } = await buyer.enter({ httpCredentials: { username: 'me', password } });
    await page.goto(`${shop.url}/desk`);
    await isForEveryone(page, title);
  });
});

describe('accessibility of the payment page of the gateway', () => {
  // Each time that the page is opened counts as an attempt.
  const shop = useShop();
  const buyer = useBuyer(shop, REFUSED);
  const statesOf = async (orderId: string): Promise<string[]> =>
    (await shop.payments.findByReference(orderId)).map(({ state }) => state);

  it('the choice, the way there, and each of its own pages', async () => {
    const { page } = buyer;
    await buyer.order('Olive-branch vase');
    await stays(page, '**/hosted/*');
    await buyer.button('Pay at the bank’s page').click();
    await page.getByRole('heading', { name: 'You are being taken to the payment page' }).waitFor();
    await isForEveryone(page, 'You are being taken to the payment page · Toprak');
    await page.unrouteAll();
    await page.getByRole('link', { name: 'Continue at the payment page' }).click();
    await buyer.seesPaymentPage();
    expect(await barriersOf(page)).toEqual([]);
    await buyer.payAtPage('4000 0000 0000 0001');
    await page.getByRole('alert').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    const address = page.url();
    shop.simulator.closePage(address);
    await page.goto(address);
    expect(await barriersOf(page)).toEqual([]);
  });

  it('with the keyboard alone, on a phone: declined, given up, opened again, and paid', async () => {
    const { page } = await buyer.enter({ viewport: { width: 360, height: 740 } });
    const orderId = await buyer.order('Coffee cup');
    await press(buyer, 'Pay at the bank’s page');
    await buyer.seesPaymentPage();
    await type(page, DECLINED_CARD);
    await buyer.sees('declinedAtPage');
    await press(buyer, 'Pay in another way');
    await page.waitForURL('**/pay');
    await press(buyer, 'Pay at the bank’s page');
    await buyer.seesPaymentPage();
    await type(page, TEST_CARD);
    await buyer.sees('paid');
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    expect(await statesOf(orderId)).toEqual(['expired', 'succeeded']);
  });

  it('in Turkish', async () => {
    const { page } = await buyer.enter({ locale: 'tr-TR' });
    await buyer.button('Sepete ekle: Kahve fincanı').click();
    await buyer.button('Ödemeye geç').click();
    await page.getByText('Kartla burada öde').waitFor();
    const orderId = buyer.orderId();
    await isForEveryone(page, `Ödeme · Sipariş ${orderId} · Toprak`);
    await buyer.button('Bankanın sayfasında öde').click();
    await buyer.seesPaymentPage();
    expect(await page.locator('html').getAttribute('lang')).toBe('tr');
    await type(page, DECLINED_CARD);
    await buyer.sees('declinedAtPage');
    await isForEveryone(page, `Kartınız reddedildi · Sipariş ${orderId} · Toprak`);
    await buyer.button('Ödeme sayfasında başka bir kart dene').click();
    await buyer.seesPaymentPage();
    await buyer.button('İptal').click();
    await buyer.sees('declinedAtPage');
    // While the gateway does not say whether it was paid, the page cannot be given up.
    shop.simulator.fail({ operation: 'CheckPayment', kind: 'status', status: 503 });
    await buyer.button('Başka bir şekilde öde').click();
    await page.waitForURL('**/orders/*?page=open');
    expect(await barriersOf(page)).toEqual([]);
    await buyer.button('Başka bir şekilde öde').click();
    await buyer.button('Bankanın sayfasında öde').click();
    await buyer.seesPaymentPage();
    await buyer.goBack();
    await buyer.sees('atPage');
    await isForEveryone(page, `Ödeme sayfası açık · Sipariş ${orderId} · Toprak`);
    await buyer.button('Ödeme sayfasında devam et').click();
    await buyer.seesPaymentPage();
    await type(page, TEST_CARD);
    await buyer.sees('paid');
    expect(await statesOf(orderId)).toEqual(['expired', 'succeeded']);
  });
});

/** Goes to a button with Tab, and presses it. */
async function press({ page }: Buyer, name: string): Promise<void> {
  const wanted = page.getByRole('button', { name }).and(page.locator(':focus'));
  await page.getByRole('button', { name }).waitFor();
  for (let steps = 0; steps < 40 && (await wanted.count()) === 0; steps += 1) await page.keyboard.press('Tab');
  expect(await focused(page)).toBe(name);
  await page.keyboard.press('Enter');
}

/** Types a card at the payment page, whose first field has the focus. */
async function type(page: Page, cardNumber: string): Promise<void> {
  await page
    .getByLabel(/^(Card number|Kart numarası)/)
    .and(page.locator(':focus'))
    .waitFor();
  await page.keyboard.type(cardNumber);
  await page.keyboard.press('Tab');
  await page.keyboard.type('12/30');
  await page.keyboard.press('Tab');
  await page.keyboard.type('792');
  await page.keyboard.press('Enter');
}
