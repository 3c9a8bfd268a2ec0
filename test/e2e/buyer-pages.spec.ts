import { instanceToPlain } from 'class-transformer';
import { jest } from '@jest/globals';
import {
  Body,
  Catch,
  ConflictException,
  Controller,
  Get,
  Header,
  Headers,
  HttpException,
  Inject,
  type INestApplication,
  Param,
  Post,
  Redirect,
} from '@nestjs/common';
import {
  BANK_PAGE_HEADERS,
  BankPage,
  CheckoutDto,
  MemoryPaymentStore,
  PaymentExceptionFilter,
  type PaymentOptions,
  PaymentService,
  paymentValidationPipe,
} from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { loggerInto } from '../operations/log-lines.js';
import { type Merchant, type Platform, PLATFORMS, startMerchant } from './merchant.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const SHOP_POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'";
const CARD_NUMBER = '4508034508034509';
const TYPED = {
  'cardDetails[cardNo]': CARD_NUMBER,
  'cardDetails[expDate]': '12/36',
  'cardDetails[cvv]': '737',
  'cardHolderInfo[cardHolderName]': 'ADA YILMAZ',
  'cardHolderInfo[buyerGsm]': '905551112233',
};
type Field = keyof typeof TYPED;
const PATH_OF = Object.fromEntries(
  Object.keys(TYPED).map((name) => [name, name.replace(/\[(\w+)\]/, '.$1')]),
) as Record<Field, string>;

@Controller()
class ShopController {
  constructor(@Inject(PaymentService) private readonly payments: PaymentService) {}

  @Post('orders/:id/pay')
  @Header('Content-Security-Policy', SHOP_POLICY)
  @BankPage()
  async pay(@Param('id') id: string, @Body() checkout: CheckoutDto): Promise<string> {
    const { html } = await this.payments.init3d({
      reference: id,
      transactionDetails: { amount: '149.90', currencyCode: 949, installmentCount: checkout.installmentCount },
      cardDetails: checkout.cardDetails,
      cardHolderInfo: checkout.cardHolderInfo,
    });
    return html;
  }

  /** Mistakes of the shop itself. */
  @Post('careless/:id')
  @Header('Content-Security-Policy', SHOP_POLICY)
  @BankPage()
  async careless(@Param('id') id: string, @Body() { cardDetails, cardHolderInfo }: CheckoutDto): Promise<string> {
    const transactionDetails = { amount: '149,90', currencyCode: 949 };
    return (await this.payments.init3d({ reference: id, transactionDetails, cardDetails, cardHolderInfo })).html;
  }

  /** What a ValidationPipe without `transform` may give: a copy, which is masked. */
  @Post('copied/:id')
  @BankPage()
  async copied(@Param('id') id: string, @Body() { cardDetails, cardHolderInfo }: CheckoutDto): Promise<string> {
    const copy = instanceToPlain(cardDetails) as CheckoutDto['cardDetails'];
    const transactionDetails = { amount: '149.90', currencyCode: 949 };
    return (await this.payments.init3d({ reference: id, transactionDetails, cardDetails: copy, cardHolderInfo })).html;
  }

  @Post('paid/:id')
  // @ts-expect-error it returns no page: an object is sent to the buyer as JSON, unless the route redirects
  @BankPage()
  @Redirect()
  alreadyPaid(): { url: string; statusCode: number } {
    return { url: '/orders/1', statusCode: 303 };
  }

  @Get('limited')
  @Header('Retry-After', '60')
  @Header('Content-Disposition', 'attachment')
  limited(): never {
    throw new HttpException({ statusCode: 429, message: 'Too many attempts', limit: 20 }, 429);
  }

  @Get('conflict')
  conflict(@Headers('x-sent') sent: string): never {
    throw new ConflictException(sent);
  }

  @Get('bug')
  bug(): never {
    throw new TypeError(`a bug of ${CARD_NUMBER}`);
  }
}

@Catch()
class ShopFilter extends PaymentExceptionFilter {}

type Form = Record<string, string> | [string, string][];

let orders = 0;

function newOrder(): string {
  orders += 1;
  return `shop-${orders}`;
}

describe.each(PLATFORMS)('what buyers read on %s', (platform: Platform) => {
  const log: string[] = [];
  let simulator: Simulator;
  let merchant: Merchant;

  async function start(options: PaymentOptions = {}): Promise<Merchant> {
    return startMerchant(platform, simulator, {
      options,
      metadata: { controllers: [ShopController] },
      configure: (app: INestApplication) => {
        app.useGlobalPipes(paymentValidationPipe());
        app.useGlobalFilters(new ShopFilter({ language: 'en', shopUrl: '/shop?from="pay"' }));
      },
      application: { logger: loggerInto(log) },
    });
  }

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    merchant = await start();
  });
  beforeEach(() => {
    log.length = 0;
  });
  afterEach(() => simulator.reset());
  afterAll(async () => {
    await merchant.app.close();
    await simulator.close();
  });

  interface Sent {
    readonly path?: string;
    readonly accept?: string;
    readonly language?: string;
    readonly at?: Merchant;
  }

  function postForm(
    form: Form,
    { path = `orders/${newOrder()}/pay`, accept = BROWSER, language = 'tr-TR,tr;q=0.9', at = merchant }: Sent = {},
  ): Promise<Response> {
    return fetch(`${at.url}/${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { accept, 'accept-language': language },
      body: new URLSearchParams(form),
    });
  }

  function get(path: string, headers: Record<string, string> = { accept: BROWSER }): Promise<Response> {
    return fetch(`${merchant.url}/${path}`, { headers });
  }

  async function expectPage(answer: Response, status: number, text: RegExp): Promise<string> {
    const page = await answer.text();
    expect([answer.status, page]).toEqual([status, expect.stringMatching(text)]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
      ),
      'x-content-type-options': 'nosniff',
    });
    expect(page).toContain('<a href="/shop?from=&#34;pay&#34;" target="_top">');
    return page;
  }

  it('is the bank’s page, with the headers of that page alone', async () => {
    const answer = await postForm(TYPED);
    expect(answer.status).toBe(200);
    for (const [name, value] of Object.entries(BANK_PAGE_HEADERS)) expect(answer.headers.get(name)).toBe(value);
    expect(await answer.text()).toContain(`action="${simulator.url}/acs/`);
  });

  it('is where a route of the bank’s page redirects to, without its headers', async () => {
    const answer = await postForm(TYPED, { path: 'paid/1' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/orders/1']);
    expect(answer.headers.get('content-security-policy')).toBeNull();
  });

  it.each<[language: string, messages: Record<string, string>, tellBuyer: string]>([
    [
      'tr',
      {
        'cardDetails.cardNo': 'Kart numarası yanlış yazılmış bir rakam içeriyor',
        'cardDetails.expDate': 'Son kullanma tarihi geçmiş: kartın süresi dolmuş',
        'cardDetails.cvv': 'Güvenlik kodu 3 veya 4 rakam olmalı',
        'cardHolderInfo.cardHolderName': 'Kart üzerindeki ad',
      },
      'Lütfen girdiğiniz bilgileri kontrol edin.',
    ],
    [
      'en-GB,en;q=0.8,tr;q=0.5',
      {
        'cardDetails.cardNo': 'Card number has a mistyped digit',
        'cardDetails.expDate': 'Expiry date is in the past: the card has expired',
        'cardDetails.cvv': 'Security code must be 3 or 4 digits',
        'cardHolderInfo.cardHolderName': 'Name on the card',
      },
      'Please check what you entered.',
    ],
  ])('is what to check in %s, with a message for each wrong field and nothing of the card', async (...given) => {
    const [language, messages, tellBuyer] = given;
    const wrong = {
      ...TYPED,
      'cardDetails[cardNo]': '4508034508034508',
      'cardDetails[expDate]': '11/24',
      'cardDetails[cvv]': '98765',
      'cardHolderInfo[cardHolderName]': ' ',
    };
    const page = await expectPage(await postForm(wrong, { language }), 400, new RegExp(`<p>${tellBuyer}`));
    const json = await (await postForm(wrong, { language, accept: 'application/json' })).text();
    const { issues } = JSON.parse(json) as { issues: { path: string; message: string }[] };
    expect(issues.map(({ path }) => path)).toEqual(Object.keys(messages));
    for (const { path, message } of issues) expect(message.startsWith(messages[path]!)).toBe(true);
    for (const secret of ['4508034508034508', '98765', '11/24', '1124']) expect(page + json).not.toContain(secret);
    expect(log.join()).not.toMatch(/4508034508034508|98765/);
  });

  it('is JSON for a program, with field names and messages in its language', async () => {
    const answer = await postForm(
      { ...TYPED, 'cardDetails[cvv]': '1' },
      { accept: 'application/json', language: 'en' },
    );
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual({
      statusCode: 400,
      code: 'PAYMENT_VALIDATION',
      message: expect.any(String) as string,
      tellBuyer: 'Please check what you entered. Nothing was charged.',
      issues: [
        {
          path: 'cardDetails.cvv',
          field: 'Security code',
          rule: 'securityCode',
          message: 'Security code must be 3 or 4 digits',
        },
      ],
    });
  });

  it('is a page for a declined card, without the reason', async () => {
    const body = JSON.stringify({ code: 'B0041', message: 'Kayip kart' });
    const headers = { 'content-type': 'application/json' };
    simulator.fail({ operation: 'Init3d', kind: 'reply', status: 200, headers, body });
    const page = await expectPage(
      await postForm(TYPED),
      402,
      /Bankanız ödemeyi reddetti. Lütfen başka bir kart deneyin/,
    );
    expect(page).not.toMatch(/B0041|Kayip/);
  });

  it('is a page for a second payment', async () => {
    const path = `orders/${newOrder()}/pay`;
    const first = await (await postForm(TYPED, { path })).text();
    const { url, fields } = simulator.approve(first);
    await fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
    await expectPage(await postForm(TYPED, { path }), 409, /ödenmiş ya da ödenmekte.*yeniden ödeme yapmayın/);
  });

  it('is a page when the gateway does not answer', async () => {
    simulator.fail({ operation: 'Init3d', at: 'before', kind: 'reset' });
    await expectPage(await postForm(TYPED, { language: 'en' }), 502, /nothing was charged by it.*few minutes/);
  });

  it.each([
    ['careless/1', /^warn A buyer was shown a page\. .*transactionDetails\.amount: /],
    ['copied/1', /^warn A buyer was shown a page\. .*cardDetails.*transform: true/],
  ])('is a page when the shop made the mistake, and the log says which (%s)', async (path, line) => {
    const answer = await postForm(TYPED, { path, language: 'en' });
    const page = await expectPage(answer, 400, /Nothing was charged\. Please contact the shop/);
    expect(page).not.toContain('amount');
    expect(log).toEqual([expect.stringMatching(line)]);
  });

  it('is a page with Retry-After when too many pay, and a page when the store is down', async () => {
    const store = new MemoryPaymentStore();
    const busy = await start({ maxInFlight: 1, store });
    try {
      const hung = simulator.fail({ operation: 'Init3d', at: 'before', kind: 'stall' });
      const first = postForm(TYPED, { at: busy });
      await hung.played;
      const answer = await postForm(TYPED, { at: busy, language: 'en' });
      expect(answer.headers.get('retry-after')).toBe('5');
      await expectPage(answer, 503, /Too many are paying right now\. Nothing was charged/);
      hung.release();
      await first;
      const away = jest.spyOn(store, 'insert').mockRejectedValue(new Error(`down ${CARD_NUMBER}`));
      await expectPage(
        await postForm(TYPED, { at: busy, language: 'en' }),
        503,
        /Nothing was charged by this\. If you have paid before/,
      );
      away.mockRestore();
      expect(log.join()).not.toContain(CARD_NUMBER);
    } finally {
      await busy.app.close();
    }
  });

  it('is a fixed text for errors of the application itself, with their status and their Retry-After', async () => {
    const english = { accept: BROWSER, 'accept-language': 'en', 'x-sent': '<script>' };
    await expectPage(await get('nowhere', english), 404, /The request was not understood/);
    await expectPage(await get('conflict', english), 409, /The request was not understood/);
    const limited = await get('limited');
    expect(limited.headers.get('retry-after')).toBe('60');
    expect(limited.headers.get('content-disposition')).toBeNull();
    await expectPage(limited, 429, /not understood/);
    expect(log).toEqual([]);
    await expectPage(await get('bug'), 500, /contact the shop before you pay again/);
    expect(log).toEqual([
      expect.stringMatching(/^error A request failed: TypeError: a bug of, at .*buyer-pages\.spec\.ts/),
    ]);
    const json = async (path: string): Promise<unknown> => (await get(path, { accept: 'application/json' })).json();
    expect(await json('limited')).toEqual({ statusCode: 429, message: 'Too Many Requests' });
    expect(await json('nowhere')).toEqual({ statusCode: 404, message: 'Not Found' });
    expect(await json('bug')).toEqual({ statusCode: 500, message: 'Internal Server Error' });
  });

  it.each<[string, number, string, RequestInit]>([
    [
      'is too large',
      413,
      'Payload Too Large',
      { body: new URLSearchParams({ more: `${CARD_NUMBER}&`.repeat(99_999) }) },
    ],
    [
      'is no JSON',
      400,
      'Bad Request',
      { body: `{"n":${CARD_NUMBER}x`, headers: { 'content-type': 'application/json' } },
    ],
  ])('is a fixed text for a body that %s, since the parser’s may quote it', async (_how, status, message, request) => {
    const send = (accept: string): Promise<Response> =>
      fetch(`${merchant.url}/orders/1/pay`, { method: 'POST', ...request, headers: { ...request.headers, accept } });
    expect(await expectPage(await send(BROWSER), status, /not understood|anlaşılamadı/)).not.toContain('4508');
    expect(await (await send('*/*')).json()).toEqual({ statusCode: status, message });
    expect(log).toEqual([]);
  });

  it.each<[string, string, boolean]>([
    ['a browser', BROWSER, true],
    ['an older browser', 'text/html, */*', true],
    ['html alone', 'text/html;q=0.1', true],
    ['fetch', '*/*', false],
    ['axios', 'application/json, text/plain, */*', false],
    ['a client that also takes JSON', 'text/html,application/json;q=0.5', false],
    ['nonsense', ';;,q', false],
  ])('is a page or JSON for %s (%s)', async (_who, accept, isPage) => {
    const type = (await postForm({}, { accept })).headers.get('content-type');
    expect(type).toBe(isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8');
  });

  describe('a hostile form', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, 'x']));

    it.each<[string, Form]>([
      [
        'markup',
        { ...TYPED, 'cardDetails[cvv]': 'x', 'cardHolderInfo[cardHolderName]': '"><script>alert(1)</script>' },
      ],
      ['markup as names', { ...TYPED, '<script>alert(1)</script>': '1', 'cardDetails[<script>]': '1' }],
      ['the number as the name', { ...TYPED, 'cardHolderInfo[cardHolderName]': CARD_NUMBER }],
      ['the number in groups, as the name', { ...TYPED, 'cardHolderInfo[cardHolderName]': '4508 0345 0803 4509' }],
      ['the number as the name alone', { 'cardHolderInfo[cardHolderName]': CARD_NUMBER }],
      ['the number as the phone', { ...TYPED, 'cardHolderInfo[buyerGsm]': '+450803450803450', 'cardDetails[cvv]': '' }],
      ['the code as the name', { ...TYPED, 'cardHolderInfo[cardHolderName]': '737', 'cardDetails[cvv]': '' }],
      ['names of every object', { ...TYPED, __proto__x: '1', ['__proto__']: 'polluted', constructor: 'x' }],
      [
        'names of every object, nested',
        { ...TYPED, '__proto__[cardNo]': '1', 'cardDetails[__proto__]': 'x', 'a.constructor': 'x' },
      ],
      ['a field twice', [...Object.entries(TYPED), ['cardDetails[cardNo]', CARD_NUMBER]]],
      ['lists', { ...TYPED, 'cardDetails[cardNo][]': CARD_NUMBER, 'cardHolderInfo[]': 'x' }],
      ['deeper objects', { ...TYPED, 'cardDetails[cvv][x][y]': '1' }],
      ['flat and nested', { ...TYPED, 'cardDetails.cardNo': CARD_NUMBER }],
      ['an object as text as well', { ...TYPED, cardDetails: CARD_NUMBER }],
      ['1,000 fields', many],
      ['nothing', {}],
      ['instalments that are none', { ...TYPED, installmentCount: '3.5e1<script>' }],
    ])('%s: is refused or harmless, and nothing of it is shown', async (_what, form) => {
      for (const accept of [BROWSER, 'application/json']) {
        const answer = await postForm(form, { accept });
        const text = await answer.text();
        // Express drops some of these names itself, and the rest is a payment.
        const isPaid = answer.status === 200;
        if (!isPaid) {
          expect(answer.status).toBe(400);
          for (const sent of ['<script', 'polluted', CARD_NUMBER, '4508 0345', '45080345', '"737"', 'f999']) {
            expect(text).not.toContain(sent);
          }
        }
        expect(log.join()).not.toContain('450803450803450');
      }
      expect(({} as { cardNo?: string }).cardNo).toBeUndefined();
    });

    it.each<[string, Form, string]>([
      ['flat and nested', { ...TYPED, 'cardDetails.cardNo': CARD_NUMBER }, 'cardDetails.cardNo'],
      ['a field twice', [...Object.entries(TYPED), ['cardDetails[cvv]', '737']], 'cardDetails.cvv'],
      [
        'the number as the name',
        { ...TYPED, 'cardHolderInfo[cardHolderName]': CARD_NUMBER },
        'cardHolderInfo.cardHolderName',
      ],
    ])('%s: is refused at its field, on each adapter alike', async (_what, form, path) => {
      const answer = await postForm(form, { accept: 'application/json' });
      expect(((await answer.json()) as { issues: { path: string }[] }).issues.map((issue) => issue.path)).toEqual([
        path,
      ]);
      expect(simulator.requests.map(({ text }) => text).join()).not.toContain(`"cardHolderName":"${CARD_NUMBER}"`);
    });
  });

  it('takes the instalments of a form, and the same names with dots', async () => {
    const form = Object.fromEntries(Object.entries(TYPED).map(([name, value]) => [PATH_OF[name as Field], value]));
    const path = `orders/${newOrder()}/pay`;
    expect((await postForm({ ...form, installmentCount: '3' }, { path })).status).toBe(200);
    const [payment] = await merchant.payments.findByReference(path.split('/')[1]!);
    expect(payment).toMatchObject({ state: 'awaiting', installmentCount: 3 });
  });
});
