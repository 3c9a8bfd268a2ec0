import { Controller, Get, Header, Query } from '@nestjs/common';
import { PaymentService } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import type { Browser, Page } from 'playwright-core';
import { type Merchant, PLATFORMS, startMerchant } from '../e2e/merchant.js';
import { launchBrowser } from './browser.js';

/** A shop that shows the gateway's form in a frame of its own checkout. */
@Controller()
class EmbeddingShop {
  constructor(private readonly payments: PaymentService) {}

  @Get('checkout')
  @Header('Content-Type', 'text/html; charset=utf-8')
  checkout(): string {
    return '<!doctype html><title>checkout</title><h1>Checkout</h1><iframe src="/form" width="500" height="900"></iframe>';
  }

  @Get('form')
  @Header('Content-Type', 'text/html; charset=utf-8')
  async form(): Promise<string> {
    const transactionDetails = { amount: '149.90', currencyCode: 949 };
    const { html } = await this.payments.startHosted({ reference: 'order-1', transactionDetails, form: 'embedded' });
    return html!;
  }

  @Get('thanks')
  @Header('Content-Type', 'text/html; charset=utf-8')
  thanks(@Query('conversationId') conversationId: string): string {
    return `<!doctype html><title>thanks</title><h1>Thanks for ${conversationId}</h1>`;
  }
}

describe.each(PLATFORMS)("the gateway's form in a frame of a shop on %s", (platform) => {
  let simulator: Simulator;
  let merchant: Merchant;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await launchBrowser();
    simulator = await startSimulator({ dialect: 'morpos' });
    merchant = await startMerchant(platform, simulator, {
      options: { successUrl: '/thanks' },
      metadata: { controllers: [EmbeddingShop] },
    });
  });
  afterAll(async () => {
    await browser.close();
    await merchant.app.close();
    await simulator.close();
  });

  it('is paid, and then the shop has the whole window', async () => {
    page = await browser.newPage();
    await page.goto(`${merchant.url}/checkout`);
    const form = page.frameLocator('iframe');
    await form.getByLabel(/Card number|Kart numarası/).fill('4508 0345 0803 4509');
    await form.getByLabel(/Expiry|Son kullanma/).fill('12/36');
    await form.getByLabel(/Security code|Güvenlik kodu|CVV/).fill('000');
    await form.getByRole('button', { name: /Pay|Öde/ }).click();
    await page.waitForURL(/\/thanks\?conversationId=/);
    const [payment] = await merchant.payments.findByReference('order-1');
    expect(await page.locator('h1').textContent()).toBe(`Thanks for ${payment!.conversationId}`);
    expect(payment).toMatchObject({ state: 'succeeded', kind: 'hosted' });
    expect(page.frames()).toHaveLength(1);
  });
});
