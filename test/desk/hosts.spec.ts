import { type CanActivate, type INestApplication, Injectable, Module, UseGuards } from '@nestjs/common';
import { ValidationPipe, VersioningType } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { MemoryPaymentStore, PaymentConfigurationError, PaymentModule } from 'nestjs-card-payment';
import { DeskAccess, PaymentDeskModule } from 'nestjs-card-payment/desk';
import { type Platform, sale, simulatorOptions, useMerchants } from '../e2e/merchant.js';
import { DeskPage, type DeskSetup, EVERYTHING, StaffAccess, withDesk } from './desk-shop.js';

@Injectable()
class NightGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Injectable()
class Names {
  readonly name = 'Cem';
}
@Injectable()
class NamedAccess extends DeskAccess {
  constructor(private readonly names: Names) {
    super();
  }
  staffOf() {
    return { name: this.names.name, rights: EVERYTHING };
  }
}
@Module({ providers: [Names, NamedAccess], exports: [NamedAccess] })
class AccessModule {}

describe('hosts of a desk', () => {
  const merchants = useMerchants();
  beforeEach(() => StaffAccess.reset());

  const start = (platform: Platform, setup: DeskSetup) => merchants.start(platform, withDesk(setup));

  async function startModule(desk: NonNullable<Parameters<typeof Test.createTestingModule>[0]['imports']>[number]) {
    const payment = PaymentModule.forRoot({
      ...simulatorOptions(merchants.simulator),
      publicUrl: 'http://localhost:1',
    });
    const imports = desk === Alone ? [desk] : [payment, desk];
    const testing = await Test.createTestingModule({ imports })
      .setLogger(false as never)
      .compile();
    const app = testing.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    return app;
  }

  const STRICT = { whitelist: true, forbidNonWhitelisted: true, transform: true, validateCustomDecorators: true };
  it.each<[Platform, string, string, (app: INestApplication) => void]>([
    ['express', 'with a global prefix', '/api/desk', (app) => app.setGlobalPrefix('api')],
    ['fastify', 'with a global prefix', '/api/desk', (app) => app.setGlobalPrefix('api')],
    [
      'express',
      'with versions in its addresses',
      '/desk',
      (app) => app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }),
    ],
    ['fastify', 'with a strict validation pipe', '/desk', (app) => app.useGlobalPipes(new ValidationPipe(STRICT))],
  ])(
    'on %s %s, its links and redirects work, also behind a proxy that strips a path',
    async (platform, _what, path, configure) => {
      const shop = await start(platform, { configure });
      const { conversationId } = await shop.payments.doPayment(sale());
      const first = await DeskPage.get(`${shop.url}${path}`);
      expect(first.status).toBe(200);
      // Every address is relative: a proxy that strips a path changes nothing.
      const addresses = [...first.html.matchAll(/(?:href|action)="([^"#][^"]*)"/g)].map(([, to]) => to ?? '');
      expect(addresses.filter((to) => !/^\.{1,2}\//.test(to))).toEqual([]);
      for (const to of addresses.filter((one) => !one.includes('?state'))) {
        expect([to, (await DeskPage.get(first.at(to))).status]).toEqual([to, 200]);
      }
      const page = await DeskPage.get(`${shop.url}${path}/payments/${conversationId}?x=a/b`);
      for (const [, to] of page.html.matchAll(/<a href="([^"#][^"]*)"/g)) {
        expect([to, (await DeskPage.get(page.at(to ?? ''))).status]).toEqual([to, 200]);
      }
      const done = await page.confirm('refund', { amount: '1' });
      expect(done.headers.get('location')).toBe(`../../payments/${conversationId}?done=refund`);
      expect((await done.follow()).text).toContain('Given back');
      const style = await DeskPage.get(`${shop.url}${path}/desk.css`);
      expect([style.status, Object.fromEntries(style.headers)]).toMatchObject([
        200,
        { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'private, max-age=86400' },
      ]);
    },
  );

  it('every route is closed by the host’s guard', async () => {
    const { url } = await start('express', { decorators: [UseGuards(NightGuard)] });
    const posts = ['/payments/X/acts', '/payments/X/review', '/deliveries/replay'];
    for (const path of ['', '/payments', '/payments/X', '/deliveries', '/desk.css', ...posts]) {
      expect([path, (await DeskPage.get(`${url}/desk${path}`)).status]).toEqual([path, 403]);
    }
    for (const path of posts)
      expect([path, (await DeskPage.post(`${url}/desk${path}`, {})).status]).toEqual([path, 403]);
  });

  it('what one instance shows can be sent to another', async () => {
    const options = { store: new MemoryPaymentStore() };
    const one = await start('express', { options });
    const other = await start('fastify', { options });
    const { conversationId } = await one.payments.doPayment(sale());
    const page = await DeskPage.get(`${one.url}/desk/payments/${conversationId}`);
    const { url, fields } = page.form('refund');
    const form = { ...fields, amount: '10' };
    const urls = [one, other, other].map((shop) => url.replace(one.url, shop.url).replace('review', 'acts'));
    const answers = await Promise.all(urls.map((to) => DeskPage.post(to, form)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect((await one.payments.refunds(conversationId)).map(({ amount }) => amount)).toEqual(['10.00']);
  });

  it('its access is given what it needs by a module', async () => {
    const app = await startModule(
      PaymentDeskModule.forRoot({ path: 'desk', access: NamedAccess, imports: [AccessModule] }),
    );
    const page = await DeskPage.get(`${await app.getUrl()}/desk`);
    await app.close();
    expect(page.text).toContain('You are Cem.');
  });

  @Module({ imports: [PaymentDeskModule.forRoot({ access: StaffAccess })] })
  class Alone {}

  it.each([
    ['no access', () => PaymentDeskModule.forRoot({ path: 'desk' } as never), 'access: is needed'],
    [
      'a misspelt option',
      () => PaymentDeskModule.forRoot({ access: StaffAccess, decorator: [] } as never),
      'decorator: is not an option',
    ],
    ['no PaymentModule', () => Alone, 'PaymentModule is needed'],
  ])('does not start with %s', async (_what, desk, text) => {
    const started = startModule(desk());
    await expect(started).rejects.toThrow(PaymentConfigurationError);
    await expect(started).rejects.toThrow(text);
  });
});
