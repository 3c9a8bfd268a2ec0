import { Controller, Get, Header, Inject, Post, Query, Redirect, Req, Res } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { BANK_PAGE_HEADERS, BankPage, PaymentService } from 'nestjs-card-payment';
import { SMS_CODE } from 'nestjs-card-payment/simulator';
import type { BrowserContext, Frame, Page } from 'playwright-core';
import { sale, useMerchant } from '../e2e/merchant.js';
import { payAtPage } from './browser.js';
import { useBrowser } from './shared-browser.js';

type Headers = Readonly<Record<string, string>>;

/** What helmet 8 sets unless configured. */
const HELMET = {
  'Content-Security-Policy':
    "default-src 'self';base-uri 'self';font-src 'self' https: data:;form-action 'self';frame-ancestors 'self';" +
    "img-src 'self' data:;object-src 'none';script-src 'self';script-src-attr 'none';" +
    "style-src 'self' https: 'unsafe-inline';upgrade-insecure-requests",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'SAMEORIGIN',
};

/** A page that tries to read the shop, and lists what it could read. */
const CURIOUS_PAGE = `<!doctype html><title>bank</title><script>
  const attempt = async (read) => { try { return String(await read()); } catch (error) { return error.name; } };
  (async () => {
    const seen = {
      cookie: await attempt(() => document.cookie),
      storage: await attempt(() => localStorage.getItem('basket')),
      session: await attempt(() => sessionStorage.length),
      answer: await attempt(() => fetch('/secret', { credentials: 'include' }).then((answer) => answer.text())),
      opener: await attempt(() => window.opener.document.title),
      frame: await attempt(() => new Promise((resolve, reject) => {
        const frame = document.body.appendChild(document.createElement('iframe'));
        frame.onload = () => { try { resolve(frame.contentDocument.body.textContent); } catch (error) { reject(error); } };
        frame.src = '/secret';
      })),
      worker: await attempt(() => navigator.serviceWorker.register('/worker.js').then(() => 'registered')),
    };
    document.body.dataset.seen = JSON.stringify(seen);
  })();
</script><body></body>`;

/** What the shop serves in the test that is running. */
const shop = {
  headers: {} as Headers,
  frame: false,
  asked: [] as Request['headers'][],
  everywhere: {} as Headers,
  /** The cookies of each request, by method and path without the token. */
  cookies: {} as Record<string, string | undefined>,
};

/** What pays at the bank, and at the gateway's own page, as in the README and in docs/ways-to-pay.md. */
const WAYS = `<form method="post" action="/pay"><button>Pay</button></form>
  <form method="post" action="/page"><button>Pay at the bank</button></form>
  <form method="post" action="/form"><button>Pay here</button></form>`;

@Controller()
class ShopController {
  constructor(@Inject(PaymentService) private readonly payments: PaymentService) {}

  @Get()
  front(@Res() response: Response): void {
    response.cookie('plain', 'secret').cookie('session', 'secret', { httpOnly: true, sameSite: 'lax' });
    response.cookie('strict', 'secret', { httpOnly: true, sameSite: 'strict' });
    response.type('html').send(`<title>the shop</title>${WAYS}`);
  }

  @Get('secret')
  secret(@Req() request: Request): string {
    shop.asked.push(request.headers);
    return request.headers.cookie?.includes('session=secret') ? 'the secret' : 'who are you?';
  }

  @Get('worker.js')
  worker(@Res() response: Response): void {
    response.type('js').send('');
  }

  @Get('bank')
  bank(@Res() response: Response): void {
    response.type('html').set(shop.headers).send(CURIOUS_PAGE);
  }

  /** The pages of some gateways open the bank in a frame. */
  @Post('pay')
  async pay(@Res() response: Response): Promise<void> {
    const { html } = await this.payments.init3d(sale('10.00', { language: 'en' }));
    const framed = html.replace('<form', '<iframe name="acs" width="600" height="700"></iframe><form target="acs"');
    response
      .type('html')
      .set(shop.headers)
      .send(shop.frame ? framed : html);
  }

  /** The same ways to pay, under a policy that names a host. */
  @Get('named')
  named(@Query('host') host = ''): string {
    return `<meta http-equiv="Content-Security-Policy" content="form-action 'self' ${host}">${WAYS}`;
  }

  @Get('around')
  around(): string {
    return '<iframe name="form" src="/framed" width="600" height="900"></iframe>';
  }

  @Post('page')
  @Redirect(undefined, 303)
  async page(): Promise<{ url: string }> {
    const { redirectUrl } = await this.payments.startHosted(hostedSale());
    return { url: redirectUrl! };
  }

  @Post('form')
  @BankPage()
  async form(): Promise<string> {
    const { html } = await this.payments.startHosted({ ...hostedSale(), form: 'embedded' });
    return html!;
  }

  @Get('framed')
  @Header('Content-Security-Policy', "sandbox allow-forms allow-scripts allow-top-navigation; frame-ancestors 'self'")
  async framed(): Promise<string> {
    return this.form();
  }

  @Get('paid')
  paid(): string {
    return '<p id="paid">paid</p>';
  }
}

function hostedSale() {
  const { reference, transactionDetails } = sale('10.00');
  return { reference, transactionDetails, language: 'en' };
}

let page: Page;

describe('the pages of the bank and of the gateway', () => {
  const used = useBrowser();
  const merchant = useMerchant({
    platform: 'express',
    gateway: { host: 'localhost' },
    metadata: { controllers: [ShopController] },
    options: { successUrl: () => '/paid' },
    configure: (app) =>
      app.use(({ method, path, headers }: Request, response: Response, next: NextFunction) => {
        shop.cookies[`${method} ${path.replace(/^\/payments\/[^/]+/, '')}`] = headers.cookie;
        response.set(shop.everywhere);
        next();
      }),
  });
  let context: BrowserContext;

  beforeEach(async () => {
    Object.assign(shop, { headers: BANK_PAGE_HEADERS, frame: false, asked: [], everywhere: {} });
    merchant.simulator.reset();
    context = await used.browser.newContext();
    page = await context.newPage();
    await page.goto(merchant.url);
    await page.evaluate("localStorage.setItem('basket', 'the basket')");
  });

  afterEach(() => context.close());

  const charged = (): readonly string[] => merchant.simulator.ledger.charges.map(({ amount }) => amount);

  async function comesBackPaid(): Promise<void> {
    await page.locator('#paid').waitFor();
    expect(page.url()).toMatch(`${merchant.url}/paid?conversationId=`);
    expect(charged()).toEqual(['10.00']);
  }

  describe('the bank’s page', () => {
    it('without the headers can read the shop as the shop itself can', async () => {
      shop.headers = {};
      expect(await whatTheBankSees()).toEqual({
        cookie: 'plain=secret',
        storage: 'the basket',
        session: '0',
        answer: 'the secret',
        opener: 'the shop',
        frame: 'the secret',
        worker: 'registered',
      });
    });

    it('with the headers can read nothing of the shop', async () => {
      expect(await whatTheBankSees()).toEqual({
        cookie: 'SecurityError',
        storage: 'SecurityError',
        session: 'SecurityError',
        answer: 'TypeError',
        opener: 'SecurityError',
        frame: 'TypeError',
        worker: expect.stringMatching(/Error$/) as string,
      });
      expect(shop.asked.map(({ cookie }) => cookie)).toEqual([undefined, undefined]);
      expect(shop.asked.map((headers) => headers['sec-fetch-site'])).toEqual(['cross-site', 'cross-site']);
    });
  });

  describe('with the headers, the bank', () => {
    // What docs/callback.md says about cookies, with a bank on another site.
    it('is reached in place of what helmet sets, and comes back with the cookies without SameSite', async () => {
      shop.everywhere = HELMET;
      await page.goto(merchant.url);
      await press('Pay');
      await confirm(page);
      await comesBackPaid();
      const [plain, lax, strict] = ['plain=secret', 'session=secret', 'strict=secret'];
      expect(shop.cookies).toMatchObject({
        'POST /pay': `${plain}; ${lax}; ${strict}`,
        'POST /return': plain,
        'GET /paid': `${plain}; ${lax}`,
      });
    });

    it('is reached in a frame, and returns there', async () => {
      shop.frame = true;
      await press('Pay');
      await confirm(await frameNamed('acs'));
      await page.frameLocator('iframe').locator('#paid').waitFor();
      expect(charged()).toEqual(['10.00']);
    });

    it('is blocked by helmet’s policy in place of them: neither its script nor its button works', async () => {
      shop.headers = HELMET;
      await complaintAbout(() => press('Pay'), /inline script violates/);
      await complaintAbout(() => press('Continue'), /Sending form data to/);
      expect(page.url()).toBe(`${merchant.url}/pay`);
      expect(merchant.simulator.ledger.calls('Auth3d')).toBe(0);
    });
  });

  describe('the gateway’s own page', () => {
    it('is reached by a redirect if form-action names its host, not with ‘self’ alone', async () => {
      await page.goto(`${merchant.url}/named`);
      await complaintAbout(() => press('Pay at the bank'), /form-action/);
      expect(page.url()).toBe(`${merchant.url}/named`);
      await page.goto(`${merchant.url}/named?host=${merchant.simulator.publicUrl}`);
      await press('Pay at the bank');
      await payAtPage(page);
      await comesBackPaid();
    });

    it('is a form to embed, which is paid as a document of its own, in a sandbox', async () => {
      await press('Pay here');
      await page.getByLabel('Card number').waitFor();
      expect(await page.evaluate('origin')).toBe('null');
      await payAtPage(page);
      await comesBackPaid();
    });

    it('is paid in a frame of the shop, which the buyer leaves for the page of the result', async () => {
      await page.goto(`${merchant.url}/around`);
      const frame = await frameNamed('form');
      await frame.getByLabel('Card number').waitFor();
      expect(await frame.evaluate('origin')).toBe('null');
      await payAtPage(frame);
      await comesBackPaid();
      expect(page.frames()).toHaveLength(1);
    });
  });
});

/** What that page could read, when it is opened by the shop's own page. */
async function whatTheBankSees(): Promise<Record<string, string>> {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate("void window.open('/bank')")]);
  await popup.waitForSelector('body[data-seen]');
  return JSON.parse((await popup.getAttribute('body', 'data-seen')) ?? '') as Record<string, string>;
}

function press(name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

/** Types the code where the bank asks for it. */
async function confirm(place: Page | Frame): Promise<void> {
  await place.getByLabel('SMS code').fill(SMS_CODE);
  await place.getByRole('button', { name: 'Confirm' }).click();
}

async function frameNamed(name: string): Promise<Frame> {
  await page.waitForSelector('iframe');
  const frame = page.frame(name);
  if (!frame) throw new Error('There is no frame');
  return frame;
}

/** What the browser reports after this was done. */
async function complaintAbout(done: () => Promise<unknown>, about: RegExp): Promise<void> {
  const complaint = page.waitForEvent('console', (message) => about.test(message.text()));
  // A click on a blocked form would wait for ever.
  done().catch(() => undefined);
  await complaint;
}
