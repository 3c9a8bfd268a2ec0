import { Controller, Get, Inject, Post, Res } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { BANK_PAGE_HEADERS, PaymentService } from 'nestjs-card-payment';
import { SMS_CODE, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import type { Browser } from 'playwright-core';
import { type Merchant, sale, startMerchant } from '../e2e/merchant.js';
import { launchBrowser } from './browser.js';

@Controller()
class ShopController {
  constructor(@Inject(PaymentService) private readonly payments: PaymentService) {}

  @Get()
  front(@Res() response: Response): void {
    response.set('Set-Cookie', ['plain=1', 'lax=1; SameSite=Lax', 'strict=1; SameSite=Strict']);
    response.type('html').send('<form method="post" action="/pay"><button>Pay</button></form>');
  }

  @Post('pay')
  async pay(@Res() response: Response): Promise<void> {
    const { html } = await this.payments.init3d(sale('10.00', { language: 'en' }));
    response.set(BANK_PAGE_HEADERS).send(html);
  }

  @Get('paid')
  paid(): string {
    return '<p id="paid">paid</p>';
  }
}

/** What docs/callback.md says about cookies, with a bank on another site. */
describe('the cookies that come with the bank’s post', () => {
  const received: [string, string | undefined][] = [];
  let simulator: Simulator;
  let merchant: Merchant;
  let browser: Browser;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos', host: 'localhost' });
    merchant = await startMerchant('express', simulator, {
      metadata: { controllers: [ShopController] },
      options: { successUrl: () => '/paid' },
      configure: (app) =>
        app.use(({ method, path, headers }: Request, _response: Response, next: NextFunction) => {
          received.push([`${method} ${path.replace(/^\/payments\/[^/]+/, '')}`, headers.cookie]);
          next();
        }),
    });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await merchant.app.close();
    await simulator.close();
  });

  it('are those without SameSite that were set just now; the payment needs none', async () => {
    const page = await browser.newPage();
    await page.goto(merchant.url);
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.getByLabel('SMS code').fill(SMS_CODE);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.locator('#paid').waitFor();
    expect(received.filter(([what]) => /POST \/(?:pay|return)|\/paid/.test(what))).toEqual([
      ['POST /pay', 'plain=1; lax=1; strict=1'],
      ['POST /return', 'plain=1'],
      ['GET /paid', 'plain=1; lax=1'],
    ]);
  });
});
