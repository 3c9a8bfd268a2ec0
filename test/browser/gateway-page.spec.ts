import { Controller, Get, Header, Inject, Post, Query, Redirect } from '@nestjs/common';
import { BankPage, PaymentService } from 'nestjs-card-payment';
import { TEST_CARDS } from 'nestjs-card-payment/simulator';
import type { BrowserContext, Frame, Page } from 'playwright-core';
import { useMerchant } from '../e2e/merchant.js';
import { useBrowser } from './shared-browser.js';

const FRAMED = "sandbox allow-forms allow-scripts allow-top-navigation; frame-ancestors 'self'";
let orders = 0;

/** The shop of docs/ways-to-pay.md. */
@Controller()
class ShopController {
  constructor(@Inject(PaymentService) private readonly payments: PaymentService) {}

  @Get()
  front(): string {
    return `<title>shop</title><form method="post" action="/page"><button>Pay at the bank</button></form>
      <form method="post" action="/form"><button>Pay here</button></form>`;
  }

  @Get('strict')
  @Header('Content-Security-Policy', "form-action 'self'")
  strict(): string {
    return this.front();
  }

  @Get('named')
  named(@Query('host') host: string): string {
    return `<meta http-equiv="Content-Security-Policy" content="form-action 'self' ${host}">${this.front()}`;
  }

  @Get('around')
  around(@Query('host') host = ''): string {
    return `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; frame-src 'self' ${host}">
      <p id="around">the shop</p><iframe name="form" src="/framed" width="600" height="900"></iframe>`;
  }

  @Post('page')
  @Redirect(undefined, 303)
  async page(): Promise<{ url: string }> {
    const { redirectUrl } = await this.payments.startHosted(order());
    return { url: redirectUrl! };
  }

  @Post('form')
  @BankPage()
  async form(): Promise<string> {
    const { html } = await this.payments.startHosted({ ...order(), form: 'embedded' });
    return html!;
  }

  @Get('framed')
  @Header('Content-Security-Policy', FRAMED)
  async framed(): Promise<string> {
    return this.form();
  }

  @Get('paid')
  paid(): string {
    return '<p id="paid">paid</p>';
  }
}

function order() {
  orders += 1;
  return {
    reference: `order-${orders}`,
    transactionDetails: { amount: '10.00', currencyCode: 949 },
    language: 'en',
  };
}

describe('gateway page', () => {
  const used = useBrowser();
  const merchant = useMerchant({
    platform: 'express',
    gateway: { host: 'localhost' },
    metadata: { controllers: [ShopController] },
    options: { successUrl: () => '/paid' },
  });
  let context: BrowserContext;
  let page: Page;

  beforeEach(async () => {
    merchant.simulator.reset();
    context = await used.browser.newContext();
    page = await context.newPage();
  });

  afterEach(() => context.close());

  describe("the gateway's own page", () => {
    it.each([
      ['without a policy', () => '/'],
      ["with form-action that names the page's host", () => `/named?host=${merchant.simulator.publicUrl}`],
    ])('is reached by a redirect and comes back, %s', async (_how, path) => {
      await page.goto(merchant.url + path());
      await page.getByRole('button', { name: 'Pay at the bank' }).click();
      await pay(page);
      await page.locator('#paid').waitFor();
      expect(page.url()).toMatch(`${merchant.url}/paid?conversationId=`);
      expect(merchant.simulator.ledger.charges).toHaveLength(1);
    });

    it("is not reached with form-action 'self'", async () => {
      await page.goto(`${merchant.url}/strict`);
      const complaint = page.waitForEvent('console', (message) => message.text().includes('form-action'));
      page
        .getByRole('button', { name: 'Pay at the bank' })
        .click()
        .catch(() => undefined);
      await complaint;
      expect(page.url()).toBe(`${merchant.url}/strict`);
    });
  });

  describe("the gateway's form to embed", () => {
    it('is paid as a document of its own, in a sandbox', async () => {
      await page.goto(merchant.url);
      await page.getByRole('button', { name: 'Pay here' }).click();
      await page.getByLabel('Card number').waitFor();
      expect(await page.evaluate('origin')).toBe('null');
      await pay(page);
      await page.locator('#paid').waitFor();
      expect(merchant.simulator.ledger.charges).toHaveLength(1);
    });

    async function openFrame(query: string): Promise<Frame> {
      await page.goto(`${merchant.url}/around${query}`);
      await page.waitForSelector('iframe');
      const frame = page.frame('form')!;
      await frame.getByLabel('Card number').waitFor();
      return frame;
    }

    it('cannot be posted from a frame, if frame-src does not name the gateway', async () => {
      const frame = await openFrame('');
      const complaint = page.waitForEvent('console', (message) => message.text().includes('frame-src'));
      pay(frame).catch(() => undefined);
      await complaint;
    });

    it('is paid in a frame of the shop, which the buyer leaves for the page of the result', async () => {
      const frame = await openFrame(`?host=${merchant.simulator.publicUrl}`);
      expect(await frame.evaluate('origin')).toBe('null');
      await pay(frame);
      await page.locator('#paid').waitFor();
      expect(page.url()).toMatch(`${merchant.url}/paid?conversationId=`);
      expect(merchant.simulator.ledger.charges).toHaveLength(1);
      expect(page.frames()).toHaveLength(1);
    });
  });
});

async function pay(place: Page | Frame): Promise<void> {
  const [{ cardNo, expDate, cvv }] = TEST_CARDS as readonly [(typeof TEST_CARDS)[number]];
  await place.getByLabel('Card number').fill(cardNo);
  await place.getByLabel('Expiry').fill(`${expDate.slice(0, 2)}/${expDate.slice(2)}`);
  await place.getByLabel('Security code').fill(cvv);
  await place.getByRole('button', { name: 'Pay' }).click();
}
