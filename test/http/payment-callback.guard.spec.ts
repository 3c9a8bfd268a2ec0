import {
  Controller,
  Get,
  Post,
  UseFilters,
  UseGuards,
  ValidationPipe,
  type ValidationPipeOptions,
} from '@nestjs/common';
import {
  PaymentCallback,
  PaymentCallbackGuard,
  PaymentExceptionFilter,
  PaymentModule,
  paymentSimulatorToken,
  paymentToken,
  type PaymentService,
  ReceivedCallback,
} from 'nestjs-card-payment';
import type { BankCallback, Simulator } from 'nestjs-card-payment/simulator';
import { type Platform, PLATFORMS, sale, useMerchant } from '../e2e/merchant.js';

const ROUTE = 'https://shop.example/checkout/{token}/back';

/** The callback routes of a merchant. */
@Controller('checkout')
class CheckoutController {
  @Post(':token/back')
  @UseGuards(PaymentCallbackGuard)
  @UseFilters(PaymentExceptionFilter)
  post(@PaymentCallback() received: ReceivedCallback): ReceivedCallback {
    return received;
  }

  @Get('back')
  @UseGuards(PaymentCallbackGuard)
  get(@PaymentCallback() received: ReceivedCallback): ReceivedCallback {
    return received;
  }

  @Post(':token/eu')
  @UseGuards(PaymentCallbackGuard.for('eu'))
  eu(@PaymentCallback() received: ReceivedCallback): ReceivedCallback {
    return received;
  }

  @Post(':token/unguarded')
  unguarded(@PaymentCallback() received: ReceivedCallback): ReceivedCallback {
    return received;
  }
}

/** The merchant's pipe, which leaves a checked callback as it is. */
const PIPES = {
  express: { whitelist: true, transform: true, transformOptions: { enableImplicitConversion: true } },
  fastify: { whitelist: true, forbidNonWhitelisted: true },
} as const satisfies Record<Platform, ValidationPipeOptions>;

describe.each(PLATFORMS)('a route of the merchant with PaymentCallbackGuard on %s', (platform) => {
  const shop = useMerchant({
    platform,
    structure: { callback: false },
    options: { publicUrl: undefined, returnUrl: ROUTE, failUrl: ROUTE },
    metadata: {
      imports: [PaymentModule.forRoot({ baseUrl: 'simulator:', name: 'eu' })],
      controllers: [CheckoutController],
    },
    configure: (app) => app.useGlobalPipes(new ValidationPipe({ ...PIPES[platform], validateCustomDecorators: true })),
  });
  let callback: BankCallback;
  let conversationId: string;
  let token: string;

  beforeEach(() => startPayment(shop.payments, shop.simulator));

  async function startPayment(payments: PaymentService, simulator: Pick<Simulator, 'approve'>): Promise<void> {
    ({ conversationId } = await payments.init3d(sale()));
    callback = simulator.approve(conversationId);
    token = callback.url.split('/').at(-2)!;
  }

  function post(route: string, more: Record<string, string> = {}, routeToken = token): Promise<Response> {
    const { body, headers } = callback.request;
    return fetch(`${shop.url}/checkout/${routeToken}/${route}`, {
      method: 'POST',
      body,
      headers: { ...headers, ...more },
    });
  }

  async function expectUnchanged(): Promise<void> {
    expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'awaiting' });
    expect(shop.simulator.ledger.calls('Auth3d', conversationId)).toBe(0);
  }

  it('receives the payment and the fields, and the payment is unchanged', async () => {
    const answer = await post('back');
    expect(answer.status).toBe(201);
    const received = (await answer.json()) as ReceivedCallback;
    const createdAt = expect.stringMatching(/^20\d\d-/);
    expect(received).toMatchObject({ conversationId, payment: { conversationId, state: 'awaiting', createdAt } });
    expect(received.fields).toEqual(callback.fields);
    await expectUnchanged();
    const { fields } = received;
    expect((await shop.payments.auth3d({ conversationId, fields })).state).toBe('succeeded');
  });

  it('accepts token and fields in the query', async () => {
    const query = new URLSearchParams({ token, ...callback.fields });
    const answer = await fetch(`${shop.url}/checkout/back?${query.toString()}`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ conversationId, fields: callback.fields });
  });

  it('refuses a prefetch, even with a valid token and fields', async () => {
    const headers = { 'sec-purpose': 'prefetch' };
    expect((await post('back', headers)).status).toBe(400);
    const query = new URLSearchParams({ token, ...callback.fields });
    const answer = await fetch(`${shop.url}/checkout/back?${query.toString()}`, { headers });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ message: 'The callback was refused: not a callback.' });
    expect((await fetch(answer.url, { method: 'HEAD' })).status).toBe(400);
    await expectUnchanged();
  });

  it('answers 404 to a wrong token, and to one of another account', async () => {
    expect((await post('back', {}, 'A'.repeat(43))).status).toBe(404);
    expect((await post('eu')).status).toBe(404);
    await expectUnchanged();
  });

  it('of a named account finds only the payments of that account', async () => {
    const { app } = shop;
    await startPayment(app.get<PaymentService>(paymentToken('eu')), app.get(paymentSimulatorToken('eu')));
    expect((await post('back')).status).toBe(404);
    const answer = await post('eu');
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({ conversationId, payment: { account: 'eu' } });
  });

  it('refuses invalid fields without repeating them in the answer', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const fields of [{ conversationId: 'EVIL' }, { Code: ['EVIL'] }, {}]) {
      const request = { method: 'POST', body: JSON.stringify(fields), headers };
      const answer = await fetch(`${shop.url}/checkout/${token}/back`, request);
      expect(answer.status).toBe(400);
      expect(await answer.text()).not.toContain('EVIL');
    }
    await expectUnchanged();
  });

  it('answers 400 with the missing guard if it has none', async () => {
    const answer = await post('unguarded');
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('@UseGuards(PaymentCallbackGuard)');
  });
});
