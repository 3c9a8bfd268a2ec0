// Written by generate-tutorial.js (npm run tutorial) from docs/getting-started.md and docs/testing.md. Do not edit it by hand.

/** A file of the tutorial. In CommonJS its relative imports need no `.js`. */
export interface TutorialFile {
  readonly path: string;
  /** The only adapter that it is for; null if it is the same on both. */
  readonly adapter: 'express' | 'fastify' | null;
  readonly isTest: boolean;
  readonly text: string;
}

/** A file of variables. */
export interface TutorialSettings {
  readonly path: string;
  readonly text: string;
}

/** The packages of the tutorial, as `npm install` takes them. */
export interface TutorialPackages {
  readonly needed: readonly string[];
  readonly development: readonly string[];
  readonly fastify: readonly string[];
}

export const PACKAGES: Readonly<Record<11 | 12, TutorialPackages>> = {
  11: {
    needed: [
      'nestjs-card-payment',
      '@nestjs/axios@4',
      '@nestjs/config@4',
      'axios',
      'class-validator',
      'class-transformer',
      'kysely@0.28',
      'better-sqlite3',
    ],
    development: ['@types/better-sqlite3'],
    fastify: ['@nestjs/platform-fastify@11'],
  },
  12: {
    needed: [
      'nestjs-card-payment',
      '@nestjs/axios@12',
      '@nestjs/config@12',
      'axios',
      'class-validator',
      'class-transformer',
      'kysely',
      'better-sqlite3',
    ],
    development: ['@types/better-sqlite3'],
    fastify: ['@nestjs/platform-fastify@12'],
  },
};

export const SETTINGS: readonly TutorialSettings[] = [
  {
    path: '.env',
    text: `PAYMENT_BASE_URL=simulator:
PAYMENT_STORE_URL=sqlite:payments.sqlite
ORDERS_DB=orders.sqlite
`,
  },
  {
    path: '.env.test',
    text: `PAYMENT_BASE_URL=simulator:
PAYMENT_STORE_URL=memory:
`,
  },
];

/** The lines that `.gitignore` needs. */
export const IGNORED: readonly string[] = ['.env', '*.sqlite*'];

/** What a buyer does, from the shop's page to the order that is paid. */
export const STEPS: readonly string[] = [
  'Card 4508034508034509, expiry 12/36, code 000, any name, phone 905551112233.',
  'The bank asks for the code that it sent by SMS: 123456.',
  "You return to the order's page, which says that the order is paid.",
];

export const FILES: readonly TutorialFile[] = [
  {
    path: 'src/app.module.ts',
    adapter: null,
    isTest: false,
    text: `import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { type Payment, PaymentModule, paymentValidationPipe } from 'nestjs-card-payment';
import { CheckoutController } from './checkout.controller.js';
import { ErrorPages } from './error-pages.filter.js';
import { OrderService } from './order.service.js';

/** The buyer always comes back to the order's page. */
const orderUrl = ({ reference }: Payment): string => \`/orders/\${reference}\`;

@Module({
  imports: [
    ConfigModule.forRoot({ envFilePath: process.env.NODE_ENV === 'test' ? '.env.test' : '.env' }),
    PaymentModule.forRoot({ successUrl: orderUrl, failureUrl: orderUrl, pendingUrl: orderUrl }),
  ],
  controllers: [CheckoutController],
  providers: [
    OrderService,
    { provide: APP_PIPE, useValue: paymentValidationPipe({ language: 'en' }) },
    { provide: APP_FILTER, useClass: ErrorPages },
  ],
})
export class AppModule {}
`,
  },
  {
    path: 'src/order.service.ts',
    adapter: null,
    isTest: false,
    text: `import { randomUUID } from 'node:crypto';
import { Injectable, NotFoundException } from '@nestjs/common';
import Database from 'better-sqlite3';
import { CheckoutDto, OnPayment, PaymentEvent, PaymentService, TRY } from 'nestjs-card-payment';

interface Order {
  readonly id: string;
  readonly total: string;
  readonly paidBy: string | null;
}

@Injectable()
export class OrderService {
  /** Use your shop's database instead. This one keeps orders across restarts, as the payments are kept. */
  private readonly database = new Database(process.env.ORDERS_DB ?? ':memory:');

  constructor(private readonly payments: PaymentService) {
    this.database.exec('create table if not exists orders (id text primary key, total text not null, paid_by text)');
  }

  /** Anyone who knows the id can see the order's page. It is random, so that nobody can try ids one by one. */
  place(): string {
    const id = randomUUID();
    this.database.prepare('insert into orders (id, total) values (?, ?)').run(id, '149.90');
    return id;
  }

  find(id: string): Order {
    const select = this.database.prepare('select id, total, paid_by as paidBy from orders where id = ?');
    const order = select.get(id) as Order | undefined;
    if (!order) throw new NotFoundException();
    return order;
  }

  /** The bank's page, for the buyer's browser. */
  async startPayment(id: string, checkout: CheckoutDto): Promise<string> {
    const order = this.find(id);
    const { html } = await this.payments.init3d({
      reference: order.id, // your own id: at most one payment of it can succeed
      transactionDetails: { amount: order.total, currencyCode: TRY }, // from your order, never from the buyer
      cardDetails: checkout.cardDetails,
      cardHolderInfo: checkout.cardHolderInfo,
    });
    return html;
  }

  /** All that the order's page shows: a payment also has the bank's references, which only your staff should see. */
  async stateOf(id: string): Promise<'not paid' | 'please wait' | 'paid'> {
    if (this.find(id).paidBy !== null) return 'paid';
    const payments = await this.payments.findByReference(id);
    if (payments.some(({ state }) => state === 'succeeded')) return 'paid';
    // \`awaiting\`: the buyer left the bank's page, and may start again.
    return payments.every(({ state, settled }) => settled || state === 'awaiting') ? 'not paid' : 'please wait';
  }

  /** Called again until it returns, even after a crash; so it may be called more than once. */
  @OnPayment('succeeded')
  markPaid({ eventId, payment }: PaymentEvent<'succeeded'>): void {
    const update = this.database.prepare('update orders set paid_by = ? where id = ? and paid_by is null');
    update.run(eventId, payment.reference);
  }
}
`,
  },
  {
    path: 'src/checkout.controller.ts',
    adapter: null,
    isTest: false,
    text: `import { Body, Controller, Get, Param, Post, Redirect, UseGuards } from '@nestjs/common';
import { BankPage, CheckoutDto } from 'nestjs-card-payment';
import { AttemptLimit } from './attempt-limit.guard.js';
import { OrderService } from './order.service.js';
import { cardForm, orderPage, ShopPage, shopPage } from './pages.js';

@Controller()
export class CheckoutController {
  constructor(private readonly orders: OrderService) {}

  @Get()
  @ShopPage()
  shop(): string {
    return shopPage();
  }

  @Post('orders')
  @UseGuards(AttemptLimit)
  @Redirect()
  order(): { url: string; statusCode: number } {
    return { url: \`/orders/\${this.orders.place()}/pay\`, statusCode: 303 };
  }

  @Get('orders/:id/pay')
  @ShopPage()
  form(@Param('id') id: string): string {
    return cardForm(this.orders.find(id).total);
  }

  @Post('orders/:id/pay')
  @UseGuards(AttemptLimit)
  @ShopPage() // the form again, when it is refused
  @BankPage() // otherwise
  pay(@Param('id') id: string, @Body() checkout: CheckoutDto): Promise<string> {
    return this.orders.startPayment(id, checkout);
  }

  @Get('orders/:id')
  @ShopPage()
  async show(@Param('id') id: string): Promise<string> {
    return orderPage(id, await this.orders.stateOf(id));
  }
}
`,
  },
  {
    path: 'src/error-pages.filter.ts',
    adapter: null,
    isTest: false,
    text: `import { type ArgumentsHost, Catch } from '@nestjs/common';
import { PaymentExceptionFilter, type RefusedForm } from 'nestjs-card-payment';
import { OrderService } from './order.service.js';
import { cardForm } from './pages.js';

/** Errors become pages in the buyer's language, refused input the form again. Programs still get JSON. */
@Catch()
export class ErrorPages extends PaymentExceptionFilter {
  constructor(private readonly orders: OrderService) {
    super({ language: 'en' });
  }

  protected override form(refused: RefusedForm, host: ArgumentsHost): string {
    const { params } = host.switchToHttp().getRequest<{ params: { id: string } }>();
    return cardForm(this.orders.find(params.id).total, refused);
  }
}
`,
  },
  {
    path: 'src/attempt-limit.guard.ts',
    adapter: null,
    isTest: false,
    text: `import { isIPv6 } from 'node:net';
import { type CanActivate, type ExecutionContext, HttpException, Injectable } from '@nestjs/common';

const AN_HOUR_MS = 3_600_000;

/** Limits orders and attempts to pay (mistyped ones, too) from one address in an hour, against card testing. */
@Injectable()
export class AttemptLimit implements CanActivate {
  private attempts = new Map<string, number>();
  private endsAt = 0;

  canActivate(context: ExecutionContext): boolean {
    const { ip = '' } = context.switchToHttp().getRequest<{ ip?: string }>();
    if (Date.now() >= this.endsAt) {
      this.attempts = new Map();
      this.endsAt = Date.now() + AN_HOUR_MS;
    }
    // An IPv6 user has all 2^64 addresses of a network.
    const [start = ''] = ip.split('::');
    const network = isIPv6(ip) && !ip.includes('.') ? start.split(':').slice(0, 4).join(':') : ip;
    const count = (this.attempts.get(network) ?? 0) + 1;
    this.attempts.set(network, count);
    if (count > 20) throw new HttpException('Too many attempts', 429);
    return true;
  }
}
`,
  },
  {
    path: 'src/pages.ts',
    adapter: null,
    isTest: false,
    text: `import { applyDecorators, Header } from '@nestjs/common';
import { escapeHtml, type RefusedForm } from 'nestjs-card-payment';

/** The headers of the shop's pages: no script, style or frame, and forms go to this shop only. */
export const ShopPage = () =>
  applyDecorators(
    Header('Content-Type', 'text/html; charset=utf-8'),
    Header('Cache-Control', 'no-store'),
    Header(
      'Content-Security-Policy',
      "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
  );

const page = (title: string, content: string): string => \`<!doctype html>
<html lang="en"><title>\${title}</title>
\${content}</html>\`;

export const shopPage = (): string =>
  page('Shop', '<form method="post" action="/orders"><button>Order for 149.90 TRY</button></form>');

export function cardForm(total: string, refused?: RefusedForm): string {
  const field = (name: string, label: string, attributes: string): string => \`
  <p><label>\${label} <input name="\${name}" value="\${escapeHtml(refused?.typed[name] ?? '')}" \${attributes} required></label>
    <strong>\${escapeHtml(refused?.messages[name] ?? '')}</strong>\`;
  return page(
    'Payment',
    \`<form method="post" autocomplete="on">
  <p>\${total} TRY
  <p role="alert">\${escapeHtml(refused?.tellBuyer ?? '')}
  \${field('cardDetails.cardNo', 'Card number', 'autocomplete="cc-number" inputmode="numeric"')}
  \${field('cardDetails.expDate', 'Expiry', 'autocomplete="cc-exp" placeholder="MM/YY"')}
  \${field('cardDetails.cvv', 'Code', 'autocomplete="cc-csc" inputmode="numeric"')}
  \${field('cardHolderInfo.cardHolderName', 'Name', 'autocomplete="cc-name"')}
  \${field('cardHolderInfo.buyerGsm', 'Phone', 'autocomplete="tel"')}
  <p><button>Pay</button>
</form>\`,
  );
}

export function orderPage(id: string, state: 'not paid' | 'please wait' | 'paid'): string {
  const texts = {
    'not paid': \`Not paid. <a href="/orders/\${id}/pay">Pay</a>\`,
    'please wait': 'We are waiting for your bank. Please do not pay again.',
    paid: 'Paid. Thank you!',
  };
  return page('Your order', \`<p>\${texts[state]}</p>\`);
}
`,
  },
  {
    path: 'src/main.ts',
    adapter: 'express',
    isTest: false,
    text: `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // the process ends only after its payments have
  await app.listen(process.env.PORT ?? 3000);
}

void bootstrap();
`,
  },
  {
    path: 'src/main.ts',
    adapter: 'fastify',
    isTest: false,
    text: `import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter());
  app.enableShutdownHooks(); // the process ends only after its payments have
  await app.listen(process.env.PORT ?? 3000);
}

void bootstrap();
`,
  },
  {
    path: 'src/order.service.spec.ts',
    adapter: null,
    isTest: true,
    text: `import { Test } from '@nestjs/testing';
import { type Payment, PaymentService } from 'nestjs-card-payment';
import { aPayment, aPaymentEvent } from 'nestjs-card-payment/testing';
import { OrderService } from './order.service.js';

describe('OrderService', () => {
  async function ordersWith(...payments: Payment[]): Promise<OrderService> {
    const service: Partial<PaymentService> = { findByReference: () => Promise.resolve(payments) };
    const module = await Test.createTestingModule({
      providers: [OrderService, { provide: PaymentService, useValue: service }],
    }).compile();
    return module.get(OrderService);
  }

  it('calls an order paid, of which one payment failed and one succeeded', async () => {
    const orders = await ordersWith(aPayment({ state: 'failed' }), aPayment({ state: 'succeeded' }));
    expect(await orders.stateOf(orders.place())).toBe('paid');
  });

  it('does not take an unknown outcome for a failure', async () => {
    const orders = await ordersWith(aPayment({ state: 'failed' }), aPayment({ state: 'unknown' }));
    expect(await orders.stateOf(orders.place())).toBe('please wait');
  });

  it('marks an order as paid once, however often it is called', async () => {
    const orders = await ordersWith();
    const id = orders.place();
    const event = aPaymentEvent({ state: 'succeeded', reference: id });
    orders.markPaid(event);
    orders.markPaid(event);
    expect(orders.find(id).paidBy).toBe(event.eventId);
  });
});
`,
  },
  {
    path: 'test/checkout.e2e-spec.ts',
    adapter: 'express',
    isTest: true,
    text: `import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { PaymentSimulator } from 'nestjs-card-payment';
import request from 'supertest';
import { AppModule } from '../src/app.module.js';

describe('checkout', () => {
  let app: INestApplication<Server>;
  let simulator: PaymentSimulator;
  let order: string;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication();
    await app.init();
    simulator = app.get(PaymentSimulator);
  });
  afterAll(() => app.close());

  beforeEach(async () => {
    const { headers } = await request(app.getHttpServer()).post('/orders').expect(303);
    order = headers.location.replace(/\\/pay$/, '');
  });

  /** What a browser sends. */
  function submit(path: string, fields: Record<string, string>) {
    return request(app.getHttpServer()).post(path).accept('text/html').type('form').send(fields);
  }

  function pay(cardNo = simulator.testCards[0].cardNo) {
    return submit(\`\${order}/pay\`, {
      'cardDetails.cardNo': cardNo,
      'cardDetails.expDate': '12/36',
      'cardDetails.cvv': '000',
      'cardHolderInfo.cardHolderName': 'Ada Yılmaz',
      'cardHolderInfo.buyerGsm': '905551112233',
    });
  }

  it('is paid, once', async () => {
    const { text: bankPage } = await pay().expect(200);
    const { url, fields } = simulator.approve(bankPage);
    const back = new URL(url).pathname;
    await submit(back, fields)
      .expect(303)
      .expect('location', new RegExp(\`^\${order}\`));
    await submit(back, fields).expect(303); // the buyer goes back and forth
    await request(app.getHttpServer())
      .get(order)
      .expect(200, /Paid\\. Thank you!/);
    await pay().expect(409, /has been paid/); // a page, not JSON
    expect(simulator.ledger.total()).toBe('149.90');
    expect(simulator.ledger.violations).toEqual([]);
  });

  it('shows the form again, without the card, when its number is mistyped', async () => {
    const { text } = await pay('4508034508034508').expect(400);
    expect(text).toContain('Card number has a mistyped digit');
    expect(text).toContain('value="Ada Yılmaz"');
    expect(text).not.toContain('4508');
  });

  it('is not paid, when the buyer cancels', async () => {
    const { text: bankPage } = await pay().expect(200);
    const { url, fields } = simulator.answer(bankPage, { code: 'cancel' });
    await submit(new URL(url).pathname, fields).expect(303);
    await request(app.getHttpServer())
      .get(order)
      .expect(200, /Not paid/);
  });
});
`,
  },
  {
    path: 'test/checkout-fastify.e2e-spec.ts',
    adapter: 'fastify',
    isTest: true,
    text: `import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { PaymentSimulator } from 'nestjs-card-payment';
import { AppModule } from '../src/app.module.js';

describe('checkout on Fastify', () => {
  let app: NestFastifyApplication;
  let simulator: PaymentSimulator;
  let url: string;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
    simulator = app.get(PaymentSimulator);
  });
  afterAll(() => app.close());

  it('is paid', async () => {
    const form = await fetch(\`\${url}/orders\`, { method: 'POST' });
    const [{ cardNo, expDate, cvv }] = simulator.testCards;
    const fields = {
      'cardDetails.cardNo': cardNo,
      'cardDetails.expDate': expDate,
      'cardDetails.cvv': cvv,
      'cardHolderInfo.cardHolderName': 'Ada Yılmaz',
      'cardHolderInfo.buyerGsm': '905551112233',
    };
    const bankPage = await fetch(form.url, { method: 'POST', body: new URLSearchParams(fields) });
    const { request } = simulator.approve(await bankPage.text());
    const orderPage = await fetch(request.url, request);
    expect(await orderPage.text()).toContain('Paid. Thank you!');
    expect(simulator.ledger.total()).toBe('149.90');
  });
});
`,
  },
];
