import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { goBack } from './browser.js';
import type { Shop } from './shop.js';

export type Method = '3D Secure' | 'Direct';

/** A buyer who reads English, in a separate browser session. */
export class Buyer {
  private constructor(
    readonly page: Page,
    readonly shop: Shop,
    /**
     * What the browser complained about: scripts that threw, content that a policy blocked, files that were missing.
     */
    readonly complaints: string[],
  ) {}

  static async enter(browser: Browser, shop: Shop, options: BrowserContextOptions = {}): Promise<Buyer> {
    const context = await browser.newContext({ locale: 'en-GB', ...options });
    const complaints: string[] = [];
    context.on('page', (page) => {
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        const isExpected = message.text().includes('status of 422') || message.location().url.endsWith('/favicon.ico');
        if (message.type() === 'error' && !isExpected) complaints.push(message.text());
      });
    });
    const page = await context.newPage();
    await page.goto(shop.url);
    return new Buyer(page, shop, complaints);
  }

  /** Another tab of the same browser, at the same address. */
  async secondTab(): Promise<Buyer> {
    const page = await this.page.context().newPage();
    await page.goto(this.page.url());
    return new Buyer(page, this.shop, this.complaints);
  }

  /** From the shop's front page to the checkout form. @returns the order's number */
  async order(...products: string[]): Promise<string> {
    for (const product of products) {
      if (new URL(this.page.url()).href !== new URL(this.shop.url).href) await this.page.goto(this.shop.url);
      await this.page.getByRole('button', { name: `Add to basket: ${product}` }).click();
    }
    await this.page.getByRole('button', { name: 'Go to payment' }).click();
    await this.page.getByLabel('Card number').waitFor();
    return this.orderId();
  }

  orderId(): string {
    return new URL(this.page.url()).pathname.split('/')[2] ?? '';
  }

  async fillIn(method: Method): Promise<void> {
    await this.page.getByRole('button', { name: /^5246 7763 5690 3508 .*Fill in this test card$/ }).click();
    await this.page.getByRole('radio', { name: method }).check();
  }

  async submit(): Promise<void> {
    await this.page.getByRole('button', { name: /^Pay ₺/ }).click();
  }

  async pay(method: Method): Promise<void> {
    await this.fillIn(method);
    await this.submit();
    if (method === '3D Secure') await this.page.getByLabel('SMS code').waitFor();
  }

  /** Types the code on the bank's page. */
  async confirm(code: string): Promise<void> {
    await this.page.getByLabel('SMS code').fill(code);
    await this.page.getByRole('button', { name: 'Confirm' }).click();
  }

  /** Chooses the gateway's own payment page, and waits until it is shown. */
  async goToPaymentPage(): Promise<void> {
    await this.page.getByRole('button', { name: 'Pay at the bank’s page' }).click();
    await this.seesPaymentPage();
  }

  async seesPaymentPage(): Promise<void> {
    await this.page.waitForURL(`${this.shop.simulator.publicUrl}/hosted/**`);
  }

  /** Types a card on the payment page, and pays. */
  async payAtPage(cardNumber: string): Promise<void> {
    await this.page.getByLabel('Card number').fill(cardNumber);
    await this.page.getByLabel('Expiry').fill('12/30');
    await this.page.getByLabel('Security code').fill('792');
    await this.page.getByRole('button', { name: 'Pay', exact: true }).click();
  }

  goBack(): Promise<void> {
    return goBack(this.page);
  }

  /** Waits until the order's page shows this outcome. */
  async sees(outcome: string): Promise<void> {
    await this.page.locator(`[data-outcome="${outcome}"]`).waitFor();
  }

  text(): Promise<string> {
    return this.page.locator('main').innerText();
  }

  leave(): Promise<void> {
    return this.page.context().close();
  }
}
