import {
  Body,
  Controller,
  type INestApplication,
  Injectable,
  Module,
  Param,
  Post,
  ValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { BankPage, CheckoutDto, PaymentModule, PaymentService, PaymentSimulator, TRY } from 'nestjs-card-payment';
import { adapterOf, bring, PLATFORMS } from './merchant.js';

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
  'cardDetails.cardNo': '4508-0345 0803 4509',
  'cardDetails.expDate': '12 / 2036',
  'cardDetails.cvv': '000',
  'cardHolderInfo.cardHolderName': 'Ada Yılmaz',
  'cardHolderInfo.buyerGsm': '905551112233',
};
const formOf = (fields: object): URLSearchParams => new URLSearchParams(Object.entries(fields) as [string, string][]);
const inBrackets = formOf(
  Object.fromEntries(Object.entries(CARD).map(([name, text]) => [name.replace(/\.(\w+)$/, '[$1]'), text])),
);
const JSON_BODY = {
  cardDetails: { cardNo: '4508-0345 0803 4509', expDate: '12 / 2036', cvv: '000' },
  cardHolderInfo: { cardHolderName: 'Ada Yılmaz', buyerGsm: '905551112233' },
};
/** What a buyer may post beside the card. */
const FORGED = {
  transactionDetails: { amount: '0.01', currencyCode: 949 },
  allowRepeat: true,
  returnUrl: 'https://evil.example',
  reference: 'order-2',
};

/** Behind a pipe of the host's, or without one. What each pipe hands on is in test/dto/host-pipes.spec.ts. */
const PIPES: readonly (ValidationPipeOptions | null)[] = [null, { transform: true, whitelist: true }];

describe.each(PLATFORMS.flatMap((platform) => PIPES.map((pipe) => [platform, pipe] as const)))(
  'the smallest application, on %s with the pipe %j',
  (platform, pipe) => {
    let app: INestApplication;
    let orders = 0;

    beforeAll(async () => {
      app = await NestFactory.create(AppModule, adapterOf(platform), { logger: false });
      if (pipe) app.useGlobalPipes(new ValidationPipe(pipe));
      await app.listen(0, '127.0.0.1');
    });
    beforeEach(() => app.get(PaymentSimulator).reset());
    afterAll(() => app.close());

    async function post(body: URLSearchParams | string, order = (orders += 1)): Promise<Response> {
      const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : undefined;
      return fetch(`${await app.getUrl()}/orders/${order}/pay`, { method: 'POST', body, headers });
    }

    it.each([
      // Of a form that is not nested a pipe of Nest's own knows no field.
      ...(pipe ? [] : ([['a plain HTML form with dotted names', formOf(CARD)]] as const)),
      ...(pipe ? [] : ([['a plain HTML form with names in brackets', inBrackets]] as const)),
      ['JSON', JSON.stringify(JSON_BODY)],
      ['JSON with what is not the buyer’s to say', JSON.stringify({ ...JSON_BODY, ...FORGED })],
    ] as const)('takes %s, as people type it, and charges the order’s own amount once', async (_, body) => {
      const answer = await post(body);
      expect(answer.status).toBe(200);
      const simulator = app.get(PaymentSimulator);
      expect(await (await bring(simulator.approve(await answer.text()))).text()).toContain('Ödeme alındı');
      expect((await post(body, orders)).status).toBe(409);
      const { charges, violations } = simulator.ledger;
      expect([charges, violations]).toMatchObject([[{ amount: '149.90', installmentCount: 1 }], []]);
      const [payment] = await app.get(PaymentService).findByReference(String(orders));
      expect(payment).toMatchObject({ state: 'succeeded', maskedCardNumber: '450803******4509' });
    });

    it.each([
      ['a form that lacks a field', formOf({ ...CARD, 'cardDetails.cvv': '' })],
      ['a forged name', formOf({ ...CARD, '__proto__.cardNo': '4111111111111111' })],
      [
        'JSON with a wrong card',
        JSON.stringify({ cardDetails: { ...JSON_BODY.cardDetails, cardNo: '4508034508034508' } }),
      ],
      ['no form', formOf({})],
    ])('refuses %s, and sends nothing', async (_, body) => {
      expect((await post(body)).status).toBe(400);
      expect(app.get(PaymentSimulator).ledger.calls('Init3d')).toBe(0);
    });
  },
);
