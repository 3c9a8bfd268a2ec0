import {
  Module,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
  ValidationPipe,
  VersioningType,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { InjectPayment, PaymentModule, PaymentService } from 'nestjs-card-payment';
import type { BankCallback } from 'nestjs-card-payment/simulator';
import {
  bring,
  type Merchant,
  type MerchantSetup,
  type Platform,
  PLATFORMS,
  sale,
  simulatorOptions,
  useMerchants,
} from './merchant.js';

const Public = () => SetMetadata('public', true);

@Injectable()
class LockedGuard implements CanActivate {
  constructor(@Inject(Reflector) private readonly reflector: Reflector) {}
  canActivate(context: ExecutionContext): boolean {
    return this.reflector.getAllAndOverride('public', [context.getHandler(), context.getClass()]) === true;
  }
}

@Controller('eu')
class SecondAccountController {
  constructor(@InjectPayment('eu') readonly payments: PaymentService) {}
}

describe.each(PLATFORMS)('in a host on %s', (platform: Platform) => {
  const merchants = useMerchants();
  const start = (setup: MerchantSetup): Promise<Merchant> => merchants.start(platform, setup);

  async function payBy3d({ payments }: Merchant): Promise<{ callback: BankCallback; answer: Response }> {
    const { conversationId } = await payments.init3d(sale());
    const callback = merchants.simulator.approve(conversationId);
    return { callback, answer: await bring(callback) };
  }

  it('works below a global prefix, with versioning, a strict ValidationPipe, CORS and a global guard', async () => {
    const shop = await start({
      structure: { callback: { path: '/pay/', decorators: [Public()] } },
      metadata: { providers: [{ provide: APP_GUARD, useClass: LockedGuard }] },
      configure: (app) => {
        app.setGlobalPrefix('api');
        app.enableVersioning({ type: VersioningType.URI, defaultVersion: '2' });
        app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
        app.enableCors();
      },
    });
    const { callback, answer } = await payBy3d(shop);
    expect(callback.url).toMatch(new RegExp(`^${shop.url}/api/pay/[\\w-]{43}/return$`));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringContaining('/paid?')]);
  });

  it('leaves the prefix out when the host excludes the callback from it', async () => {
    const shop = await start({
      configure: (app) => app.setGlobalPrefix('api', { exclude: ['payments/{*rest}'] }),
    });
    const { callback, answer } = await payBy3d(shop);
    expect(callback.url).toMatch(`${shop.url}/payments/`);
    expect(answer.status).toBe(303);
  });

  it('takes result URLs from a function, and keeps their query', async () => {
    const shop = await start({
      options: { successUrl: (payment) => `/orders/${payment.reference}?lang=tr&conversationId=forged` },
    });
    const { callback, answer } = await payBy3d(shop);
    const { conversationId } = callback.fields;
    expect(answer.headers.get('location')).toMatch(
      new RegExp(`^/orders/order-\\d+\\?lang=tr&conversationId=${conversationId}$`),
    );
  });

  it('serves two accounts, each with its own path, variables and service', async () => {
    const { url, credentials } = merchants.simulator;
    const variables = {
      PAYMENT_EU_BASE_URL: url,
      PAYMENT_EU_DIALECT: 'morpos',
      PAYMENT_EU_MERCHANT_ID: credentials.merchantId,
      PAYMENT_EU_CLIENT_ID: credentials.clientId,
      PAYMENT_EU_CLIENT_SECRET: credentials.clientSecret,
      PAYMENT_EU_API_KEY: credentials.apiKey,
      PAYMENT_EU_CALLBACK_URL: 'https://shop.example/payments/eu',
    };
    Object.assign(process.env, variables);
    try {
      const shop = await start({
        metadata: { imports: [PaymentModule.forRoot({ name: 'eu' })], controllers: [SecondAccountController] },
      });
      const { payments } = shop.app.get(SecondAccountController);
      const reference = 'same-reference';
      const first = await shop.payments.doPayment(sale('10.00', { reference }));
      const second = await payments.doPayment(sale('10.00', { reference }));
      expect([first.account, first.state]).toEqual(['default', 'succeeded']);
      expect([second.account, second.state]).toEqual(['eu', 'succeeded']);
      expect(await shop.payments.find(second.conversationId)).toBeNull();

      const { conversationId } = await payments.init3d(sale());
      const { request } = merchants.simulator.approve(conversationId);
      const answer = await fetch(request.url.replace('https://shop.example', shop.url), {
        ...request,
        redirect: 'manual',
      });
      expect(answer.status).toBe(200);
      expect(await payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
    }
  });
});

describe('in any host', () => {
  const merchants = useMerchants();
  const start = (setup: MerchantSetup): Promise<Merchant> => merchants.start('fastify', setup);

  it('refuses to start with an account or a path used twice', async () => {
    const options = { ...simulatorOptions(merchants.simulator), publicUrl: 'https://shop.example' };
    @Module({ imports: [PaymentModule.forRoot(options)] })
    class OrdersModule {}
    await expect(start({ metadata: { imports: [OrdersModule] } })).rejects.toThrow(
      /registered twice \(by \w+, OrdersModule\): .* it is global, so the others need not import it/,
    );
    const twin = PaymentModule.forRoot({ ...options, name: 'eu', callback: { path: 'payments' } });
    await expect(start({ metadata: { imports: [twin] } })).rejects.toThrow(/used by two accounts/);
    const eu = ['eu-1', 'eu_1'].map((name) => PaymentModule.forRoot({ ...options, name }));
    await expect(start({ metadata: { imports: eu } })).rejects.toThrow(/would read the same variables/);
  });
});
