import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { barriersOf } from './accessible-page.js';
import { launchBrowser } from './browser.js';
import { Buyer } from './buyer.js';
import { openShop, type Shop } from './shop.js';

// Each page is looked at four times, in two widths and two colour schemes.

let browser: Browser;
let shop: Shop;
let buyer: Buyer;
let page: Page;

describe('refunds', () => {
  beforeAll(async () => {
    [browser, shop] = await Promise.all([launchBrowser(), openShop()]);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });

  beforeEach(async () => {
    shop.simulator.reset();
    buyer = await Buyer.enter(browser, shop);
    page = buyer.page;
    page.setDefaultTimeout(8_000);
  });

  afterEach(async () => {
    await buyer.leave();
    expect(buyer.complaints).toEqual([]);
    expect(shop.simulator.ledger.violations).toEqual([]);
  });

  const givenBack = (): string[] => shop.simulator.ledger.refunds.map(({ kind, amount }) => `${kind} ${amount}`);

  const amount = (): Locator => page.getByLabel('Amount').first();
  const button = (name: string | RegExp): Locator => page.getByRole('button', { name });
  const focused = (): Promise<string> => page.locator(':focus').innerText();

  it('staff give a part back, click twice, give the rest back, and the buyer sees it', async () => {
    const orderId = await openPaidOrder();
    expect(await totals()).toEqual(['₺420.00', '₺0.00', '₺0.00', '₺420.00']);
    await isForEveryone('untouched');

    await amount().fill('20,50');
    await page.getByLabel('Note').first().fill('A chip in the glaze, agreed with the buyer on the phone');
    await button('Refund this amount').dblclick();
    await says('₺20.50 has been given back.');
    expect(await focused()).toContain('₺20.50 has been given back.');
    expect(givenBack()).toEqual(['refund 20.50']);
    expect(await totals()).toEqual(['₺420.00', '₺20.50', '₺0.00', '₺399.50']);
    await page.reload();
    await says('₺20.50 has been given back.');

    await button('Refund all: ₺399.50').click();
    await says('₺399.50 has been given back.');
    expect(givenBack()).toEqual(['refund 20.50', 'refund 399.50']);
    expect(await totals()).toEqual(['₺420.00', '₺420.00', '₺0.00', '₺0.00']);
    expect(await button(/Refund|Void|Record/).count()).toBe(0);
    await isForEveryone('refunded');

    await page.goto(`${shop.url}/orders/${orderId}`);
    await buyer.sees('refunded');
    expect(await buyer.text()).toMatch(/Given back\s+Refund, .*\s+₺20\.50\s+Refund, .*\s+₺399\.50/);
    expect(await buyer.text()).not.toContain('glaze');
    await isForEveryone('buyer');
    expect(givenBack()).toHaveLength(2);
  });

  it('staff void another order', async () => {
    const orderId = await openPaidOrder();
    expect(await button('Void the payment').count()).toBe(0);
    await page.getByText('Void the whole payment').click();
    await page.getByText('The gateway takes it on the day of the payment only').waitFor();
    await page.locator('details').evaluateAll((all: { open: boolean }[]) => all.forEach((each) => (each.open = true)));
    await isForEveryone('void');
    await button('Void the payment').click();
    await says('₺420.00 has been given back.');
    expect(givenBack()).toEqual(['void 420.00']);
    await page.goto(`${shop.url}/admin`);
    await page.locator(`[data-order="${orderId}"][data-status="refunded"]`).waitFor();
    await isForEveryone('list');
  });

  it('the Back button shows what was given back, and an empty form', async () => {
    await openPaidOrder();
    await amount().fill('10');
    await button('Refund this amount').click();
    await says('₺10.00 has been given back.');
    await buyer.goBack();
    await button('Refund this amount').waitFor();
    // An old page has its old key; a page that was loaded anew has no amount, so that the browser does not send it.
    await button('Refund this amount').click();
    await page.waitForLoadState();
    expect(givenBack()).toEqual(['refund 10.00']);
    await buyer.goBack();
    expect(givenBack()).toEqual(['refund 10.00']);
  });

  it('a refund with an unclear answer is said to be unknown, and the gateway is asked', async () => {
    await openPaidOrder();
    await amount().fill('10.82');
    await button('Refund this amount').click();
    await says('It is not known whether ₺10.82 has been given back.');
    expect(await totals()).toEqual(['₺420.00', '₺0.00', '₺10.82', '₺409.18']);
    expect(await button(/Refund|Void|Record/).count()).toBe(0);
    await isForEveryone('unknown');
    await button(/^Ask the gateway/).click();
    await says('₺10.82 has been given back.');
    expect(givenBack()).toEqual(['refund 10.82']);
  });

  it.each([true, false])(
    'a refused form says why, and keeps what was typed (scripts: %s)',
    async (javaScriptEnabled) => {
      const orderId = await openPaidOrder();
      await buyer.leave();
      buyer = await Buyer.enter(browser, shop, { javaScriptEnabled });
      page = buyer.page;
      await page.goto(`${shop.url}/admin/orders/${orderId}`);
      await amount().fill('4.200,00');
      await page.getByLabel('Note').first().fill('A long story');
      await button('Refund this amount').click();
      await page.getByRole('alert').waitFor();
      expect(await focused()).toMatch(/^Nothing was given back\s+Type the amount in digits/);
      expect(await page.title()).toMatch(/^Nothing was given back · Money back/);
      expect(await amount().inputValue()).toBe('4.200,00');
      expect(await page.getByLabel('Note').first().inputValue()).toBe('A long story');
      const description = await amount().getAttribute('aria-describedby');
      expect(await page.locator(`[id="${description}"]`).innerText()).toContain('Type the amount in digits');
      if (javaScriptEnabled) await isForEveryone('refused');

      await amount().fill('4,20');
      await button('Refund this amount').click();
      await says('₺4.20 has been given back.');
      expect(givenBack()).toEqual(['refund 4.20']);
    },
  );

  it('is in Turkish for staff who chose Turkish', async () => {
    await openPaidOrder();
    await page.getByRole('link', { name: 'TR', exact: true }).click();
    await page.getByRole('heading', { name: /^İade ve iptal/ }).waitFor();
    await page.getByLabel('Tutar').first().fill('12,34');
    await button('Bu tutarı iade et').click();
    await says('₺12,34 iade edildi.');
    await page.locator('details').evaluateAll((all: { open: boolean }[]) => all.forEach((each) => (each.open = true)));
    await isForEveryone('turkish');
    expect(givenBack()).toEqual(['refund 12.34']);
  });

  it('a refund that is under way is looked at again without a reload', async () => {
    const orderId = await openPaidOrder();
    const stall = shop.simulator.fail({ operation: 'refund', kind: 'stall' });
    await amount().fill('10');
    const other = await buyer.secondTab();
    await button('Refund this amount').click({ noWaitAfter: true });
    await stall.played;
    page = other.page;
    await page.goto(`${shop.url}/admin/orders/${orderId}`);
    await page.getByRole('link', { name: 'Look again' }).click();
    await says('The refund of ₺10.00 is under way.');
    expect(await button(/Refund|Void|Record/).count()).toBe(0);
    await isForEveryone('under-way');
    stall.release();
    await says('₺10.00 has been given back.');
    expect(await totals()).toEqual(['₺420.00', '₺10.00', '₺0.00', '₺410.00']);
    expect(givenBack()).toEqual(['refund 10.00']);
  });
});

/** Pays an order of a cup, and opens its page for staff. */
async function openPaidOrder(): Promise<string> {
  const orderId = await buyer.order('Coffee cup');
  await buyer.pay('Direct');
  await buyer.sees('paid');
  await page.goto(`${shop.url}/admin`);
  await page.locator(`[data-order="${orderId}"]`).getByRole('link', { name: 'Refunds and voids' }).click();
  await page.getByRole('heading', { name: /^Money back/ }).waitFor();
  return orderId;
}

async function totals(): Promise<string[]> {
  return page.locator('[data-total] dd').allInnerTexts();
}

async function says(text: string): Promise<void> {
  await page.locator('.notice').getByText(text).waitFor();
}

/** Saves pictures for a person to look at, where a folder is given. */
async function picture(name: string): Promise<void> {
  const folder = process.env.SHOP_PICTURES;
  if (!folder) return;
  const before = page.viewportSize();
  for (const width of [360, 1300]) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: join(folder, `${name}-${width}.png`), fullPage: true });
  }
  if (before) await page.setViewportSize(before);
}

async function isForEveryone(name: string): Promise<void> {
  await picture(name);
  expect(await barriersOf(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1300, height: 900 });
}
