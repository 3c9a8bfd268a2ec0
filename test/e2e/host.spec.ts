import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
  ValidationPipe,
  VersioningType,
} from '@nestjs/common';
import { APP_GUARD, Reflector, RouterModule } from '@nestjs/core';
import { InjectPayment, PaymentModule, PaymentService } from 'nestjs-card-payment';
import { variablesOf } from '../rigs/simulated-gateway.js';
import { bring, type Merchant, type MerchantSetup, type Platform, PLATFORMS, sale, useMerchants } from './merchant.js';

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

  it.each<[string, MerchantSetup, callback: RegExp]>([
    [
      'below a global prefix, with versioning, a strict ValidationPipe, CORS and a global guard',
      {
        structure: { callback: { path: '/pay/', decorators: [Public()] } },
        metadata: { providers: [{ provide: APP_GUARD, useClass: LockedGuard }] },
        configure(app) {
          app.setGlobalPrefix('api');
          app.enableVersioning({ type: VersioningType.URI, defaultVersion: '2' });
          app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
          app.enableCors();
        },
      },
      /^\/api\/pay\/TOKEN\/return$/,
    ],
    [
      'that excludes the callback from its prefix',
      { configure: (app) => app.setGlobalPrefix('api', { exclude: ['payments/{*rest}'] }) },
      /^\/payments\/TOKEN\/return$/,
    ],
    [
      'that puts the module below a prefix of its router, and says so by callbackUrl',
      {
        options: { callbackUrl: 'http://localhost/shop/payments' },
        metadata: { imports: [RouterModule.register([{ path: 'shop', module: PaymentModule }])] },
      },
      /^http:\/\/localhost\/shop\/payments\/TOKEN\/return$/,
    ],
  ])('%s', async (_what, setup, path) => {
    const { payments, url } = await start(setup);
    const { conversationId } = await payments.init3d(sale());
    const { request } = merchants.simulator.approve(conversationId);
    expect(request.url.replace(url, '').replace(/[\w-]{43}/, 'TOKEN')).toMatch(path);
    const { pathname } = new URL(request.url);
    const lessOne = await bring({ request: { ...request, url: url + pathname.replace(/^\/[^/]+/, '') } });
    const answer = await bring({ request: { ...request, url: url + pathname } });
    expect([lessOne.status, answer.status]).toEqual([404, 303]);
    expect(answer.headers.get('location')).toBe(`https://shop.example/paid?conversationId=${conversationId}`);
  });

  it('serves two accounts, each with its own path, variables and service', async () => {
    const callbackUrl = 'https://shop.example/payments/eu';
    const variables = { ...variablesOf(merchants.simulator, 'PAYMENT_EU'), PAYMENT_EU_CALLBACK_URL: callbackUrl };
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
      const answer = await bring({
        request: { ...request, url: request.url.replace('https://shop.example', shop.url) },
      });
      expect(answer.status).toBe(200);
      expect(await payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
    }
  });
});
