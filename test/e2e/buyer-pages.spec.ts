import { instanceToPlain } from 'class-transformer';
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
  PaymentService,
  paymentValidationPipe,
} from 'nestjs-card-payment';
import type { FaultPlay } from 'nestjs-card-payment/simulator';
import { loggerInto } from '../operations/log-lines.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';
import { interceptCalls } from '../rigs/store-calls.js';
import { wrapped } from '../rigs/wrapped.js';
import { bring, type MerchantOfSuite, type Platform, PLATFORMS, useMerchant } from './merchant.js';

const TEXTS = new ExpectedTexts(import.meta.url);
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
const MISTYPED = {
  ...TYPED,
  'cardDetails[cardNo]': '4508034508034508',
  'cardDetails[expDate]': '11/24',
  'cardDetails[cvv]': '98765',
  'cardHolderInfo[cardHolderName]': ' ',
};
/** Of any answer and of the log. */
const NEVER_SHOWN = /4508 ?0345|45080345|\b737\b|98765|11\/24|1124|<script|polluted|f999/;
/** Those of an answer that say nothing of the module. */
const PLAIN_HEADERS = /^(connection|content-length|date|etag|keep-alive|transfer-encoding|vary|x-powered-by)$/;
/** Those of each page, and of each JSON. */
const USUAL_HEADERS = /^(cache-control|content-security-policy|content-type|referrer-policy|x-content-type-options)$/;

@Controller()
class ShopController {
  constructor(@Inject(PaymentService) private readonly payments: PaymentService) {}

  @Post('orders/:id/pay')
  @Header('Content-Security-Policy', SHOP_POLICY)
  @BankPage()
  pay(@Param('id') reference: string, @Body() checkout: CheckoutDto): Promise<string> {
    return this.start(reference, checkout, '149.90');
  }

  /** A mistake of the shop itself. */
  @Post('careless/:id')
  @Header('Content-Security-Policy', SHOP_POLICY)
  @BankPage()
  careless(@Param('id') reference: string, @Body() checkout: CheckoutDto): Promise<string> {
    return this.start(reference, checkout, '149,90');
  }

  /** What a ValidationPipe without `transform` may give: a copy, which is masked. */
  @Post('copied/:id')
  @BankPage()
  copied(@Param('id') reference: string, @Body() checkout: CheckoutDto): Promise<string> {
    const cardDetails = instanceToPlain(checkout.cardDetails) as CheckoutDto['cardDetails'];
    return this.start(reference, { ...checkout, cardDetails }, '149.90');
  }

  private async start(reference: string, checkout: CheckoutDto, amount: string): Promise<string> {
    const { cardDetails, cardHolderInfo, installmentCount } = checkout;
    const transactionDetails = { amount, currencyCode: 949, installmentCount };
    return (await this.payments.init3d({ reference, transactionDetails, cardDetails, cardHolderInfo })).html;
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

/** What a buyer's browser sends: by default the form, in Turkish, for an order of its own. */
interface Visit {
  readonly path?: string;
  readonly form?: Form;
  readonly language?: string;
  readonly request?: RequestInit;
  /** What the gateway answers to Init3d. */
  readonly gateway?: FaultPlay;
  /** @returns what ends it */
  readonly before?: (shop: MerchantOfSuite) => unknown;
}

let isStoreDown = false;

const VISITS: Readonly<Record<string, Visit>> = {
  'a right card': {},
  'a right card, in three instalments': { form: { ...TYPED, installmentCount: '3' } },
  'a right card, under names with dots': { form: renamed(TYPED, '.$1') },
  'a redirect in place of the page': { path: 'paid/1' },
  'a mistyped card': { form: MISTYPED },
  'a mistyped card, in English': { form: MISTYPED, language: 'en-GB,en;q=0.8,tr;q=0.5' },
  nothing: { form: {} },
  'a field with brackets and with a dot': { form: { ...TYPED, 'cardDetails.cardNo': CARD_NUMBER } },
  'a field twice': { form: [...Object.entries(TYPED), ['cardDetails[cvv]', '737']] },
  'the number as the name': { form: { ...TYPED, 'cardHolderInfo[cardHolderName]': CARD_NUMBER } },
  'a declined card': {
    gateway: { kind: 'reply', status: 200, body: JSON.stringify({ code: 'B0041', message: 'Kayip kart' }) },
  },
  'a gateway that does not answer': { gateway: { kind: 'reset', at: 'before' } as FaultPlay, language: 'en' },
  'an order that was paid': { path: 'orders/paid/pay', before: payOrder },
  'an amount that the shop got wrong': { path: 'careless/1', language: 'en' },
  'a masked copy of the card': { path: 'copied/1', language: 'en' },
  'too many payments': { before: payAnother, language: 'en' },
  'a store that is down': { before: breakStore, language: 'en' },
  'no such route': { path: 'nowhere', request: { method: 'GET' }, language: 'de' },
  'an error of the shop that repeats what was sent': {
    path: 'conflict',
    request: { method: 'GET', headers: { 'x-sent': '<script>' } },
    language: 'en',
  },
  'an error of the shop for too many attempts': { path: 'limited', request: { method: 'GET' } },
  'a bug of the shop': { path: 'bug', request: { method: 'GET' } },
  'a body that is too large': { form: { more: `${CARD_NUMBER}&`.repeat(99_999) } },
  'a body that is no JSON': {
    request: { body: `{"n":${CARD_NUMBER}x`, headers: { 'content-type': 'application/json' } },
  },
};

/** In which Express and Fastify differ: some of these names Express drops itself, and the rest is a payment. */
const HOSTILE: Readonly<Record<string, Form>> = {
  markup: { ...TYPED, 'cardDetails[cvv]': 'x', 'cardHolderInfo[cardHolderName]': '"><script>alert(1)</script>' },
  'the number in groups, as the name': { ...TYPED, 'cardHolderInfo[cardHolderName]': '4508 0345 0803 4509' },
  'the number as the phone': { ...TYPED, 'cardHolderInfo[buyerGsm]': '+450803450803450', 'cardDetails[cvv]': '' },
  'the code as the name': { ...TYPED, 'cardHolderInfo[cardHolderName]': '737', 'cardDetails[cvv]': '' },
  'names of every object': { ...TYPED, __proto__x: '1', ['__proto__']: 'polluted', constructor: 'x' },
  lists: { ...TYPED, 'cardDetails[cardNo][]': CARD_NUMBER, 'cardHolderInfo[]': 'x' },
  '1,000 fields': Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, 'x'])),
};

describe.each(PLATFORMS)('what buyers read on %s', (platform: Platform) => {
  const log: string[] = [];
  const store = interceptCalls(new MemoryPaymentStore(), ({ method, proceed }) =>
    isStoreDown && method === 'insert' ? Promise.reject(new Error(`down ${CARD_NUMBER}`)) : proceed(),
  );
  const shop = useMerchant({
    platform,
    options: { store, maxInFlight: 1 },
    metadata: { controllers: [ShopController] },
    configure(app) {
      app.useGlobalPipes(paymentValidationPipe());
      app.useGlobalFilters(new ShopFilter({ language: 'en', shopUrl: '/shop?from="pay"' }));
    },
    application: { logger: loggerInto(log) },
  });

  async function visit(accept: string, { gateway, before, ...sent }: Visit): Promise<Response> {
    log.length = 0;
    if (gateway) shop.simulator.fail({ operation: 'Init3d', ...gateway });
    const end = (await before?.(shop)) as (() => unknown) | undefined;
    const answer = await send(shop, accept, sent);
    await end?.();
    return answer;
  }

  /** The answer, and what the log says of it. */
  async function shown(answer: Response): Promise<string[]> {
    const text = await answer.text();
    const isBanks = text.includes(`action="${shop.simulator.url}/acs/`);
    expect(log.join() + (isBanks ? '' : text)).not.toMatch(NEVER_SHOWN);
    expect(text).not.toMatch(/B0041|Kayip/);
    const headers = [...answer.headers].filter(([name]) => !PLAIN_HEADERS.test(name) && !USUAL_HEADERS.test(name));
    const more = headers.map(([name, value]) => `, ${name} ${value}`).join('');
    const warnings = log.filter((line) => !line.startsWith('log '));
    const lines = warnings.map((line) =>
      line.replace(/at .*(buyer-pages)\.spec\.ts:\d+:\d+\)?/, 'at $1').replace(/127\.0\.0\.1:\d+/, 'GATEWAY'),
    );
    return [`${answer.status} ${isBanks ? bankPage(answer) : kindOf(answer, text)}${more}`, ...lines];
  }

  function bankPage({ headers }: Response): string {
    for (const [name, value] of Object.entries(BANK_PAGE_HEADERS)) expect(headers.get(name)).toBe(value);
    const sale = /"installmentCount":\d+|"expDate":"\d+"|"cardNo":"\d{6}/g;
    return `the bank's page, for ${shop.simulator.requests.at(-1)!.text.match(sale)!.join(', ')}`;
  }

  function kindOf({ headers }: Response, text: string): string {
    const policy = headers.get('content-security-policy');
    if (headers.has('location')) return `no page, policy ${policy}`;
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
    if (!text.startsWith('<')) {
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      return text.replace(/"conversationId":"\w+"/, '"conversationId":"…"');
    }
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    const [, language, title, tellBuyer, link] = PAGE.exec(text) ?? [];
    expect(link).toBe('<a href="/shop?from=&#34;pay&#34;" target="_top">');
    return `page in ${language}: "${title}", "${tellBuyer}"`;
  }

  it('is a page for a browser, and JSON for a program', async () => {
    const texts: string[] = [];
    for (const [title, sent] of Object.entries(VISITS)) {
      const answers = [await visit(BROWSER, sent).then(shown), await visit('*/*', sent).then(shown)];
      texts.push([title, ...new Set(answers.flat().map((line) => wrapped(line, '  ')))].join('\n'));
    }
    TEXTS.expect('buyer-pages.txt', `${texts.join('\n\n')}\n`);
  });

  it.each<[string, string, boolean]>([
    ['a browser', BROWSER, true],
    ['an older browser', 'text/html, */*', true],
    ['fetch', '*/*', false],
    ['nonsense', ';;,q', false],
  ])('is a page or JSON for %s (%s)', async (_who, accept, isPage) => {
    const type = (await visit(accept, { form: {} })).headers.get('content-type');
    expect(type).toBe(isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8');
  });

  it.each(Object.keys(HOSTILE))('%s: is refused or harmless, and nothing of it is shown', async (what) => {
    for (const accept of [BROWSER, 'application/json']) {
      const answer = await visit(accept, { form: HOSTILE[what]! });
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 400) await shown(answer);
      expect(log.join()).not.toContain('450803450803450');
    }
    expect(({} as { cardNo?: string }).cardNo).toBeUndefined();
    expect(shop.simulator.requests.map(({ text }) => text).join()).not.toContain(`"cardHolderName":"${CARD_NUMBER}"`);
  });
});

const PAGE = /<html lang="(\w+)">.*<h1>(.*)<\/h1><p>(.*?)<\/p>.*(<a href=.*target="_top">)/;
let orders = 0;

function send({ url }: MerchantOfSuite, accept: string, sent: Omit<Visit, 'before' | 'gateway'>): Promise<Response> {
  orders += 1;
  const { path = `orders/shop-${orders}/pay`, form = TYPED, language = 'tr-TR,tr;q=0.9', request = {} } = sent;
  const { method = 'POST' } = request;
  return fetch(`${url}/${path}`, {
    redirect: 'manual',
    method,
    ...(method === 'POST' && { body: new URLSearchParams(form) }),
    ...request,
    headers: { accept, 'accept-language': language, ...(request.headers as Record<string, string>) },
  });
}

async function payOrder(shop: MerchantOfSuite): Promise<void> {
  const page = await (await send(shop, BROWSER, { path: 'orders/paid/pay' })).text();
  if (page.includes('/acs/')) await bring(shop.simulator.approve(page));
}

/** The only payment that may run. */
async function payAnother(shop: MerchantOfSuite): Promise<() => Promise<unknown>> {
  const stall = shop.simulator.fail({ operation: 'Init3d', at: 'before', kind: 'stall' });
  const paying = send(shop, BROWSER, {});
  await stall.played;
  return () => (stall.release(), paying);
}

function breakStore(): () => void {
  isStoreDown = true;
  return () => (isStoreDown = false);
}

function renamed(form: Record<string, string>, to: string): Record<string, string> {
  return Object.fromEntries(Object.entries(form).map(([name, value]) => [name.replace(/\[(\w+)\]/, to), value]));
}
