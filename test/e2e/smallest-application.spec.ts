import { Body, Controller, Injectable, Module, Param, Post } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { INestApplication } from '@nestjs/common';
import { BankPage, CheckoutDto, PaymentModule, PaymentService, PaymentSimulator, TRY } from 'nestjs-card-payment';

/** As in the README: without a pipe, a filter or a parser of its own. */
@Injectable()
class OrderService {
  constructor(private readonly payments: PaymentService) {}

  async startPayment(order: { id: string; total: string }, checkout: CheckoutDto): Promise<string> {
    const { html } = await this.payments.init3d({
      reference: order.id,
      transactionDetails: { amount: order.total, currencyCode: TRY },
      cardDetails: checkout.cardDetails,
      cardHolderInfo: checkout.cardHolderInfo,
    });
    return html;
  }
}

@Controller('orders')
class CheckoutController {
  constructor(private readonly orders: OrderService) {}

  @Post(':id/pay')
  @BankPage()
  pay(@Param('id') id: string, @Body() checkout: CheckoutDto): Promise<string> {
    return this.orders.startPayment({ id, total: '149.90' }, checkout);
  }
}

@Module({
  imports: [PaymentModule.forRoot({ baseUrl: 'simulator:', storeUrl: 'memory:' })],
  controllers: [CheckoutController],
  providers: [OrderService],
})
class AppModule {}

const CARD = {
  'cardDetails.cardNo': '4508 0345 0803 4509',
  'cardDetails.expDate': '12/36',
  'cardDetails.cvv': '000',
  'cardHolderInfo.cardHolderName': 'Ada Yılmaz',
  'cardHolderInfo.buyerGsm': '905551112233',
};
const inBrackets = (name: string): string => name.replace(/\.(\w+)$/, '[$1]');
const formOf = (fields: object): URLSearchParams => new URLSearchParams(Object.entries(fields) as [string, string][]);

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('the smallest application, on %s', (_name, createAdapter: () => AbstractHttpAdapter) => {
  let app: INestApplication;
  let orders = 0;

  beforeAll(async () => {
    app = await NestFactory.create(AppModule, createAdapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
  });
  afterAll(() => app.close());

  async function post(body: URLSearchParams | string): Promise<Response> {
    orders += 1;
    const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : undefined;
    return fetch(`${await app.getUrl()}/orders/${orders}/pay`, { method: 'POST', body, headers });
  }

  it.each([
    ['dotted names', CARD],
    ['names in brackets', Object.fromEntries(Object.entries(CARD).map(([name, text]) => [inBrackets(name), text]))],
  ])('takes a plain HTML form with %s', async (_, fields) => {
    const answer = await post(formOf(fields));
    expect(answer.status).toBe(200);
    const simulator = app.get(PaymentSimulator);
    const { request } = simulator.approve(await answer.text());
    expect(await (await fetch(request.url, request)).text()).toContain('Ödeme alındı');
    expect(simulator.ledger.violations).toEqual([]);
  });

  it.each([
    ['a form that lacks a field', formOf({ ...CARD, 'cardDetails.cvv': '' })],
    ['a field that is given twice', formOf({ ...CARD, 'cardDetails[cardNo]': '4111111111111111', cardDetails: 'x' })],
    ['a forged name', formOf({ ...CARD, '__proto__.cardNo': '4111111111111111' })],
    [
      'JSON with a wrong card',
      JSON.stringify({ cardDetails: { cardNo: '4508034508034508', expDate: '1236', cvv: '000' } }),
    ],
    ['no form', formOf({})],
    ['an array', '[]'],
  ])('refuses %s, and sends nothing', async (_, body) => {
    const calls = app.get(PaymentSimulator).ledger.calls('Init3d');
    const { status } = await post(body);
    expect(status).toBe(400);
    expect(app.get(PaymentSimulator).ledger.calls('Init3d')).toBe(calls);
  });
});
