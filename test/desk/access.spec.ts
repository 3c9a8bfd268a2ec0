import {
  type CanActivate,
  ForbiddenException,
  HttpException,
  type INestApplication,
  Injectable,
  Module,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
  VersioningType,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  MemoryPaymentStore,
  PaymentConfigurationError,
  PaymentModule,
  PaymentService,
  paymentToken,
} from 'nestjs-card-payment';
import { DeskAccess, type DeskRight, PaymentDeskModule } from 'nestjs-card-payment/desk';
import { startSimulator, type Simulator } from 'nestjs-card-payment/simulator';
import { PLATFORMS, sale, simulatorOptions } from '../e2e/merchant.js';
import { DeskPage, type DeskShop, EVERYTHING, secondAccount, StaffAccess, startDesk } from './desk-shop.js';

const NOTE = 'as the panel says';
const POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'";

@Injectable()
class NightGuard implements CanActivate {
  static isOpen = true;
  canActivate(): boolean {
    return NightGuard.isOpen;
  }
}

describe.each(PLATFORMS)('access to the desk, on %s', (platform) => {
  let simulator: Simulator;
  let shop: DeskShop;
  let others: PaymentService;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true });
    shop = await startDesk(platform, simulator, {
      metadata: { imports: [secondAccount(simulator)] },
      decorators: [UseGuards(NightGuard)],
    });
    others = shop.app.get<PaymentService>(paymentToken('second'));
  });
  afterAll(async () => {
    await shop.app.close();
    await simulator.close();
  });
  beforeEach(() => {
    StaffAccess.reset();
    simulator.reset();
    NightGuard.isOpen = true;
  });

  const open = (path = '', headers: Readonly<Record<string, string>> = {}) =>
    DeskPage.get(`${shop.url}/desk${path}`, headers);
  const pay = async () => (await shop.payments.doPayment(sale())).conversationId;
  const lose = async (service = shop.payments) => {
    simulator.fail({ operation: 'DoPayment', kind: 'close', at: 'after' });
    return (await service.doPayment(sale())).conversationId;
  };
  const giveRights = (...rights: DeskRight[]) => (StaffAccess.staff = { ada: { name: 'Ada', rights } });
  const paths = (id: string) => [
    '',
    '/payments',
    `/payments/${id}`,
    `/payments/${id}/acts`,
    `/payments/${id}/review`,
    '/deliveries',
    '/deliveries/replay',
    '/desk.css',
  ];

  it('is closed by the host’s guard, on every route', async () => {
    const id = await pay();
    NightGuard.isOpen = false;
    for (const path of paths(id)) expect([path, (await open(path)).status]).toEqual([path, 403]);
    for (const path of paths(id).filter((one) => /acts|review|replay/.test(one))) {
      expect([path, (await DeskPage.post(`${shop.url}/desk${path}`, {})).status]).toEqual([path, 403]);
    }
  });

  it.each([
    [null],
    [undefined],
    [{ name: 'Ada', rights: [] }],
    [{ name: 'Ada', rights: ['ask', 'settle', 'refund', 'replay'] }],
    [{ name: ' ', rights: EVERYTHING }],
    [{ rights: EVERYTHING }],
    [{ name: 'Ada' }],
    [{ name: 'Ada', rights: 'look' }],
  ])('staffOf gives %j: every route is 403, with the desk’s own headers', async (staff) => {
    const page = await open(`/payments/${await lose()}`);
    StaffAccess.staff = staff ? { ada: staff as never } : {};
    for (const path of paths('X')) {
      const { status, headers, html } = await open(path);
      expect([path, status]).toEqual([path, 403]);
      expect(headers.get('content-security-policy')).toBe(POLICY);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(html).not.toContain('TRY');
    }
    expect((await page.send('inquire')).status).toBe(403);
    expect((await DeskPage.post(`${shop.url}/desk/deliveries/replay`, { handlerId: 'h', eventId: 'e:1' })).status).toBe(
      403,
    );
    expect(simulator.ledger.calls('CheckPayment')).toBe(0);
  });

  it.each([
    [new UnauthorizedException('geheim'), 401],
    [new ForbiddenException('geheim'), 403],
    [new HttpException('geheim', 429), 429],
    [new HttpException('geheim', 302), 500],
    [new Error('geheim'), 500],
    ['geheim', 500],
  ])('staffOf throws %s: %i, without its text', async (thrown, status) => {
    StaffAccess.staff = new Proxy(
      {},
      {
        get: () => {
          throw thrown as Error;
        },
      },
    );
    const page = await open();
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([status, POLICY]);
    expect(page.html).not.toContain('geheim');
  });

  it.each<[DeskRight, string[]]>([
    ['ask', ['inquire']],
    ['settle', ['resolve']],
    ['refund', []],
    ['look', []],
  ])('with the right to %s an unknown payment has buttons for %j, and all else is 403', async (right, acts) => {
    const id = await lose();
    const { fields, url } = (await open(`/payments/${id}`)).form('inquire');
    giveRights('look', right);
    const page = await open(`/payments/${id}`);
    expect(page.acts).toEqual(acts);
    const rightOf: Record<string, DeskRight> = {
      inquire: 'ask',
      inquireRefund: 'ask',
      resolve: 'settle',
      resolveRefund: 'settle',
      abandon: 'settle',
      refund: 'refund',
      void: 'refund',
      recordRefund: 'refund',
    };
    for (const [act, needed] of Object.entries(rightOf).filter(([, one]) => one !== right)) {
      for (const path of ['acts', 'review']) {
        const form = { ...fields, act, amount: '1', state: 'failed', note: NOTE, refundId: 'X' };
        const answer = await DeskPage.post(url.replace('acts', path), form);
        expect([act, needed, answer.status]).toEqual([act, needed, 403]);
      }
    }
    const replay = await DeskPage.post(`${shop.url}/desk/deliveries/replay`, { handlerId: 'h', eventId: `${id}:1` });
    expect(replay.status).toBe(403);
    expect([StaffAccess.recorded, (await shop.operations.find(id))?.state]).toEqual([[], 'unknown']);
  });

  it.each<[Record<string, string | undefined>, number]>([
    [{ 'sec-fetch-site': 'same-origin' }, 303],
    [{ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }, 303],
    [{ 'sec-fetch-site': 'same-site', origin: '{own}' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 403],
    [{ 'sec-fetch-site': '' }, 403],
    [{}, 403],
    [{ origin: '{own}' }, 303],
    [{ origin: 'https://{host}' }, 303],
    [{ origin: 'null' }, 403],
    [{ origin: 'ftp://{host}' }, 403],
    [{ origin: 'http://127.0.0.1' }, 403],
    [{ origin: 'http://{host}.evil.example' }, 403],
    [{ origin: 'http://evil.example', referer: '{own}/desk' }, 403],
  ])('a form that comes with %j: %i', async (sent, status) => {
    const { url, fields } = (await open(`/payments/${await lose()}`)).form('inquire');
    const { host, origin } = new URL(shop.url);
    const headers = Object.entries(sent).map(([name, value]) => [
      name,
      value!.replace('{own}', origin).replace('{host}', host),
    ]);
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: Object.fromEntries(headers),
      body: new URLSearchParams(fields),
    });
    expect(answer.status).toBe(status);
    if (status === 403) expect(StaffAccess.recorded).toEqual([]);
  });

  it.each([
    ['{"act":"inquire"}', 'application/json', 400],
    ['act=inquire&act=refund&shown=x&idempotencyKey=k', 'application/x-www-form-urlencoded', 400],
    ['act[x]=inquire&shown=x', 'application/x-www-form-urlencoded', 400],
    ['__proto__[act]=inquire', 'application/x-www-form-urlencoded', 400],
    ['', 'application/x-www-form-urlencoded', 400],
  ])('a body that no page sends: %s', async (body, type, status) => {
    const url = `${shop.url}/desk/payments/${await pay()}/acts`;
    const headers = { 'content-type': type, 'sec-fetch-site': 'same-origin' };
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect([answer.status, StaffAccess.recorded]).toEqual([status, []]);
  });

  it('an act’s address that is opened leads to the payment, and does nothing', async () => {
    const id = await lose();
    for (const path of ['acts', 'review']) {
      const answer = await open(`/payments/${id}/${path}`);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, `../../payments/${id}`]);
      expect((await answer.follow()).state).toBe('unknown');
    }
    const replay = await open('/deliveries/replay');
    expect([replay.status, (await replay.follow()).status]).toEqual([303, 200]);
  });

  describe('accounts', () => {
    it('no id leads from one into another, and every link and form keeps its own', async () => {
      const [own, foreign] = [await lose(), await lose(others)];
      for (const path of [`/payments/${foreign}`, `/payments/${own}?account=second`]) {
        expect([path, (await open(path)).status]).toEqual([path, 404]);
      }
      expect((await open(`/payments?q=${foreign}`)).text).toContain('There is no such payment.');
      const page = await open(`/payments/${foreign}?account=second`);
      expect(page.state).toBe('unknown');
      const addresses = [...page.html.matchAll(/<(?:a|form)[^>]* (?:href|action)="(?!#|[^"]*desk\.css)([^"]*)"/g)].map(
        ([, to]) => to ?? '',
      );
      const toOthers = addresses.filter((to) => !to.includes('account=second'));
      expect([addresses.length > 4, toOthers.map((to) => new URL(to, page.url).pathname)]).toEqual([true, ['/desk']]);
      const { url, fields } = page.form('resolve');
      const form = { ...fields, state: 'failed', note: NOTE };
      for (const stray of [url.replace('?account=second', ''), url.replace(foreign, own)]) {
        expect((await DeskPage.post(stray.replace('review', 'acts'), form)).status).toBe(404);
      }
      const done = await page.confirm('resolve', { state: 'failed', note: NOTE });
      expect((await done.follow()).state).toBe('failed');
      expect(StaffAccess.recorded).toMatchObject([{ act: 'resolve', account: 'second', conversationId: foreign }]);
      expect((await shop.operations.find(own))?.state).toBe('unknown');
    });

    it('staff see their own alone', async () => {
      const id = await pay();
      StaffAccess.staff = { ada: { name: 'Ada', rights: EVERYTHING, accounts: ['second'] } };
      for (const path of ['/payments', `/payments/${id}`, '?account=default']) {
        expect([path, (await open(path)).status]).toEqual([path, 403]);
      }
      expect((await open('?account=default')).html).toContain('href="./desk?account=second"');
      const page = await open('?account=second');
      expect([page.status, page.html.includes('account=default')]).toEqual([200, false]);
      expect((await open('/desk.css')).status).toBe(200);
      StaffAccess.reset();
      expect((await open('?account=third')).status).toBe(404);
    });
  });

  it.each([
    ['/payments?state=nowhere', 400],
    ['/payments?after=x', 400],
    ['?after=x', 400],
    ['/deliveries?after=x', 400],
    ['/payments/nobody', 404],
    ['/payments/%00', 404],
    ['/payments?q=%00', 200],
    ['/payments?q[]=x&state[]=y', 200],
  ])('a request that no page makes, %s: %i, never 5xx', async (path, status) => {
    const page = await open(path);
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([status, POLICY]);
  });

  it('its pages are not kept, its style is, and each may be in no frame', async () => {
    const id = await pay();
    for (const path of ['', '/payments', `/payments/${id}`, '/deliveries']) {
      const { headers, html } = await open(path);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
      expect([headers.get('content-security-policy'), headers.get('x-content-type-options')]).toEqual([
        POLICY,
        'nosniff',
      ]);
      expect(html).not.toMatch(/<script| style=| on\w+=/i);
    }
    const style = await open('/desk.css');
    expect([style.status, style.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect(style.headers.get('cache-control')).toMatch(/max-age=\d{4}/);
  });

  it.each([
    ['tr-TR,tr;q=0.9', 'tr', 'Genel bakış'],
    ['en-GB', 'en', 'Overview'],
    ['de', 'en', 'Overview'],
    ['de,tr;q=0.5,en;q=0.4', 'tr', 'Genel bakış'],
  ])('speaks the browser’s language: %s', async (wanted, language, title) => {
    const { html, text } = await open('', { 'accept-language': wanted });
    expect([html.includes(`<html lang="${language}">`), text.includes(title)]).toEqual([true, true]);
  });

  it('finds a payment by its id, its order and a refund of it, exactly', async () => {
    const id = await pay();
    const { refundId, reference } = await shop.payments.refund({ conversationId: id, amount: '1' });
    for (const q of [id, reference ?? '', refundId, ` ${id} `]) {
      const page = await open(`/payments?${new URLSearchParams({ q }).toString()}`);
      expect(page.html.match(/<li class="row">/g)).toHaveLength(1);
      expect(page.html).toContain(`href="./payments/${id}"`);
    }
    expect((await open(`/payments?q=${id.slice(0, -1)}`)).text).toContain('There is no such payment.');
    expect((await open(`/payments?q=${id}&state=failed`)).text).toContain('There is no such payment.');
    expect((await open(`/payments/${refundId}`)).headers.get('location')).toBe(`../payments/${id}`);
  });

  it('lists what there is in pages, the newest first', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 52; count += 1) ids.push(await pay());
    const page = await open('/payments?state=succeeded');
    const shown = (one: DeskPage) => [...one.html.matchAll(/href="\.\/payments\/(\w+)"/g)].map(([, id]) => id);
    expect(shown(page)).toEqual(ids.toReversed().slice(0, 50));
    const next = /href="([^"]*after=[^"]*)"/.exec(page.html)?.[1]?.replaceAll('&#38;', '&') ?? '';
    const later = await DeskPage.get(page.at(next));
    expect(shown(later).slice(0, 2)).toEqual([ids[1], ids[0]]);
    expect([page, later].map(({ text }) => text.includes('First page'))).toEqual([false, true]);
  });
});

describe('hosts of a desk', () => {
  let simulator: Simulator;
  beforeAll(async () => (simulator = await startSimulator({ dialect: 'morpos' })));
  afterAll(() => simulator.close());
  beforeEach(() => StaffAccess.reset());

  const hosts: [string, string, (app: INestApplication) => void][] = [
    ['with a global prefix', '/api/desk', (app) => app.setGlobalPrefix('api')],
    [
      'with versions in its addresses',
      '/desk',
      (app) => app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }),
    ],
    [
      'with a strict validation pipe',
      '/desk',
      (app) =>
        app.useGlobalPipes(
          new ValidationPipe({
            whitelist: true,
            forbidNonWhitelisted: true,
            transform: true,
            validateCustomDecorators: true,
          }),
        ),
    ],
  ];
  it.each(PLATFORMS.flatMap((platform) => hosts.map((host) => [platform, ...host] as const)))(
    'on %s %s, its links and redirects work, also behind a proxy that strips a path',
    async (platform, _what, path, configure) => {
      const shop = await startDesk(platform, simulator, { configure });
      const { conversationId } = await shop.payments.doPayment(sale());
      const first = await DeskPage.get(`${shop.url}${path}`);
      expect(first.status).toBe(200);
      // Every address is relative: a proxy that strips a path changes nothing.
      const addresses = [...first.html.matchAll(/(?:href|action)="([^"#][^"]*)"/g)].map(([, to]) => to ?? '');
      expect(addresses.filter((to) => !/^\.{1,2}\//.test(to))).toEqual([]);
      for (const to of addresses.filter((one) => !one.includes('?state'))) {
        expect([to, (await DeskPage.get(first.at(to))).status]).toEqual([to, 200]);
      }
      const page = await DeskPage.get(`${shop.url}${path}/payments/${conversationId}`);
      for (const [, to] of page.html.matchAll(/<a href="([^"#][^"]*)"/g)) {
        expect([to, (await DeskPage.get(page.at(to ?? ''))).status]).toEqual([to, 200]);
      }
      const done = await page.confirm('refund', { amount: '1' });
      expect(done.headers.get('location')).toBe(`../../payments/${conversationId}?done=refund`);
      expect((await done.follow()).text).toContain('Given back');
      await shop.app.close();
    },
  );

  it('what one instance shows can be sent to another', async () => {
    const options = { store: new MemoryPaymentStore() };
    const [one, other] = [
      await startDesk('express', simulator, { options }),
      await startDesk('fastify', simulator, { options }),
    ];
    const { conversationId } = await one.payments.doPayment(sale());
    const page = await DeskPage.get(`${one.url}/desk/payments/${conversationId}`);
    const { url, fields } = page.form('refund');
    const form = { ...fields, amount: '10' };
    const urls = [one, other, other].map((shop) => url.replace(one.url, shop.url).replace('review', 'acts'));
    const answers = await Promise.all(urls.map((to) => DeskPage.post(to, form)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect((await one.payments.refunds(conversationId)).map(({ amount }) => amount)).toEqual(['10.00']);
    for (const { app } of [one, other]) await app.close();
  });

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
  @Module({ providers: [Names], exports: [Names] })
  class NamesModule {}
  @Module({ providers: [Names, NamedAccess], exports: [NamedAccess] })
  class AccessModule {}
  it.each([NamesModule, AccessModule])('its access is given what it needs by %s', async (module) => {
    const desk = PaymentDeskModule.forRoot({ path: 'desk', access: NamedAccess, imports: [module] });
    const payment = PaymentModule.forRoot({ ...simulatorOptions(simulator), publicUrl: 'http://localhost:1' });
    const testing = await Test.createTestingModule({ imports: [payment, desk] }).compile();
    const app = testing.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    expect((await DeskPage.get(`${await app.getUrl()}/desk`)).text).toContain('You are Cem.');
    await app.close();
  });

  it.each([
    ['no access', () => PaymentDeskModule.forRoot({ path: 'desk' } as never)],
    ['an access without staffOf', () => PaymentDeskModule.forRoot({ access: Names as never })],
    ['the bare module', () => PaymentDeskModule],
  ])('does not start with %s', async (_what, desk) => {
    const payment = PaymentModule.forRoot({ ...simulatorOptions(simulator), publicUrl: 'http://localhost:1' });
    const started = Test.createTestingModule({ imports: [payment, desk()] })
      .setLogger(false as never)
      .compile();
    await expect(started).rejects.toThrow(PaymentConfigurationError);
    await expect(started).rejects.toThrow('access: is needed');
  });
});
