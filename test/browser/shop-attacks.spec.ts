import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { openShop, type Shop } from './shop.js';
import { cpuMs } from '../rigs/cpu-time.js';

const PASSWORD = 'pässword: 1 2';
const CARD = { number: '4508034508034509', expiry: '12/36', cvv: '000', holder: 'ADA', phone: '905551112233' };

/** Requests that no browser sends. */
describe('the shop with a real gateway', () => {
  let gateway: Simulator;
  let shop: Shop;

  beforeAll(async () => {
    gateway = await startSimulator({ dialect: 'morpos' });
    const limits = { SHOP_ATTEMPTS_PER_ORDER: '1000' };
    shop = await openShop({ SHOP_ADMIN_PASSWORD: PASSWORD, ...limits }, gateway);
  });
  afterAll(async () => {
    await shop.close();
    await gateway.close();
  });

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(shop.url + path, { headers, redirect: 'manual' });
  const post = (path: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(shop.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body,
      redirect: 'manual',
    });
  const asAdmin = (password = PASSWORD): Record<string, string> => ({
    authorization: `Basic ${Buffer.from(`me:${password}`).toString('base64')}`,
  });
  const newOrder = async (): Promise<string> => {
    const answer = await post('/orders', '', { cookie: 'basket=cup.1' });
    return answer.headers.get('location') ?? '';
  };

  it('refuses payments without 3D Secure and other amounts, even if they are posted', async () => {
    const path = await newOrder();
    expect(path).toMatch(/^\/orders\/T-[\w-]+\/pay$/);
    const card = new URLSearchParams(CARD).toString();
    for (const more of [
      'method=direct',
      'method=%20direct%20',
      'method[]=direct',
      'method=direct&method=3d',
      'METHOD=direct',
      '__proto__[method]=direct',
      'amount=0.01&totalKurus=1&transactionDetails[amount]=0.01&reference=x&allowRepeat=true',
    ]) {
      expect([200, 303, 400, 422]).toContain((await post(path, `${card}&${more}`)).status);
    }
    expect(gateway.ledger.calls('DoPayment')).toBe(0);
    const sent = gateway.requests.map(({ body }) => (body as { transactionDetails: object }).transactionDetails);
    expect(sent.length).toBeGreaterThan(0);
    for (const details of sent) expect(details).toMatchObject({ amount: 420, transactionType: 'SALE' });
  });

  it.each(['a'.repeat(15_000), 'a.'.repeat(7_000), 'cup.1~'.repeat(2_500)])(
    'is not held up by a cookie',
    async (basket) => {
      const times: number[] = [];
      for (let count = 0; count < 3; count += 1) {
        const began = cpuMs();
        expect((await get('/', { cookie: `basket=${basket}` })).status).toBe(200);
        times.push(cpuMs() - began);
      }
      expect(Math.min(...times)).toBeLessThan(100);
    },
  );

  it.each([
    '//?lang=en',
    '//evil.example?lang=en',
    '/\\evil.example?lang=en',
    '//[?lang=en',
    '/.//evil.example?lang=en',
  ])('does not redirect to another host for a language: %s', async (path) => {
    const answer = await get(path);
    const target = new URL(answer.headers.get('location') ?? '/', `${shop.url}/`);
    expect(answer.status).toBeLessThan(500);
    expect(target.origin).toBe(shop.url);
  });

  it('shows its orders only with the password', async () => {
    for (const headers of [{}, asAdmin('x'), asAdmin(''), { authorization: 'Bearer x' }]) {
      expect((await get('/desk', headers)).status).toBe(401);
      expect((await get('/DESK/', headers)).status).toBe(401);
      expect((await post('/desk/payments/X/acts', 'state=succeeded', headers)).status).toBe(401);
    }
    expect((await get('/desk', asAdmin())).status).toBe(200);
    const fromElsewhere = { ...asAdmin(), 'sec-fetch-site': 'cross-site' };
    expect((await post('/desk/payments/X/acts', 'state=succeeded', fromElsewhere)).status).toBe(403);
    const ownPage = { ...asAdmin(), 'sec-fetch-site': 'same-origin' };
    const form = 'act=inquire&shown=x&idempotencyKey=k';
    expect((await post('/desk/payments/X/acts', form, ownPage)).status).toBe(404);
  });
});

describe('another shop with a real gateway', () => {
  let gateway: Simulator;
  let shop: Shop;

  beforeAll(async () => {
    gateway = await startSimulator({ dialect: 'morpos' });
    shop = await openShop({ SHOP_ATTEMPTS_PER_ORDER: '2' }, gateway);
  });
  afterAll(async () => {
    await shop.close();
    await gateway.close();
  });

  const pay = (path: string, form: Record<string, string>, headers = {}): Promise<Response> =>
    fetch(shop.url + path, { method: 'POST', headers, body: new URLSearchParams(form), redirect: 'manual' });
  const newOrder = async (): Promise<string> => {
    const answer = await pay('/orders', {}, { cookie: 'basket=cup.1' });
    return answer.headers.get('location') ?? '';
  };

  it('shows its orders to nobody if no password is set', async () => {
    for (const password of ['', 'undefined']) {
      const authorization = `Basic ${Buffer.from(`me:${password}`).toString('base64')}`;
      expect((await fetch(`${shop.url}/desk`, { headers: { authorization } })).status).toBe(403);
    }
  });

  it('limits the attempts of an order, by page and API together, and ignores forged addresses', async () => {
    const path = await newOrder();
    const checkout = {
      cardDetails: { cardNo: CARD.number, expDate: CARD.expiry, cvv: CARD.cvv },
      cardHolderInfo: { cardHolderName: CARD.holder, buyerGsm: CARD.phone },
    };
    const payByApi = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${shop.url}/api${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(checkout),
      });
    const statuses: number[] = [];
    for (const last of [1, 2, 3]) {
      const claimed = { 'x-forwarded-for': `203.0.113.${last}` };
      statuses.push((await payByApi(claimed)).status, (await pay(path, CARD, claimed)).status);
    }
    expect(statuses).toEqual([200, 200, 429, 429, 429, 429]);
    expect(gateway.ledger.calls('Init3d')).toBe(2);
  });

  it('runs no script that was typed into a form', async () => {
    const typed = `'"><script>alert(1)</script>`;
    const answer = await pay(await newOrder(), { ...CARD, holder: typed, phone: typed, number: typed });
    const page = await answer.text();
    expect(answer.status).toBe(422);
    expect(page).toContain('&#60;script&#62;alert(1)');
    expect(page).not.toContain('<script>alert');
    expect(page.match(/<input[^>]*id="holder"[^>]*>/)?.[0]).toContain('value="&#39;&#34;&#62;');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});

describe('a shop where attempts are counted by address', () => {
  let gateway: Simulator;
  let shop: Shop;

  beforeEach(async () => {
    gateway = await startSimulator({ dialect: 'morpos' });
    shop = await openShop({ SHOP_ATTEMPTS_PER_VISITOR: '3', SHOP_PROXIES: '1' }, gateway);
  });
  afterEach(async () => {
    await shop.close();
    await gateway.close();
  });

  const place = (address: string): Promise<Response> =>
    fetch(`${shop.url}/orders`, {
      method: 'POST',
      headers: { cookie: 'basket=cup.1', 'x-forwarded-for': `198.51.100.9, ${address}` },
      redirect: 'manual',
    });
  const tryCard = async (url: string, address: string): Promise<number> => {
    const headers = { 'x-forwarded-for': address };
    return (await fetch(shop.url + url, { method: 'POST', headers, body: new URLSearchParams() })).status;
  };

  it('limits the orders of a visitor', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await place('203.0.113.1')).status);
    expect(statuses).toEqual([303, 303, 303, 429, 429]);
    expect((await place('203.0.113.2')).status).toBe(303);
  });

  it('limits the cards that a visitor tries, on all orders together, by page and API', async () => {
    const path = (await place('203.0.113.1')).headers.get('location') ?? '';
    const other = (await place('203.0.113.1')).headers.get('location') ?? '';
    const statuses: number[] = [];
    for (const url of [path, `/api${other}`, other, `/api${path}`, path]) {
      statuses.push(await tryCard(url, '203.0.113.1'));
    }
    expect(statuses).toEqual([422, 400, 422, 429, 429]);
    expect(await tryCard(path, '203.0.113.2')).toBe(422);
  });
});

describe('guesses of the admin password', () => {
  const PATHS = [
    '/desk',
    '/DESK/',
    '/desk?x=1',
    '/admin/health',
    '/admin/health/',
    '/metrics',
    '/metrics/',
    '/Metrics',
  ];
  const WRITING = ['/desk/payments/X/acts', '/desk/payments/X/review'];
  const NOWHERE = ['//desk', '//metrics', '/admin//health', '/metrics//'];
  const ATTEMPTS = [
    ...[...PATHS, ...NOWHERE].flatMap((path) => ['GET', 'HEAD', 'OPTIONS', 'PUT'].map((method) => ({ method, path }))),
    ...[...WRITING, ...PATHS].map((path) => ({ method: 'POST', path })),
  ];
  const FORMS = ['Basic', 'basic', 'BASIC ', 'Basic   ', 'Bearer', 'Digest', ''];
  const encoded = (password: string): string => Buffer.from(`me:${password}`).toString('base64');

  let gateway: Simulator;
  let shop: Shop;
  afterEach(async () => {
    await shop.close();
    await gateway.close();
  });

  async function open(variables: Record<string, string> = {}): Promise<void> {
    gateway = await startSimulator({ dialect: 'morpos' });
    shop = await openShop({ SHOP_ADMIN_PASSWORD: PASSWORD, ...variables }, gateway);
  }

  async function answer(method: string, path: string, authorization: string, address?: string): Promise<number> {
    const headers = { authorization, ...(address !== undefined && { 'x-forwarded-for': address }) };
    const response = await fetch(shop.url + path, { method, headers, redirect: 'manual' });
    await response.arrayBuffer();
    return response.status;
  }

  /** Sends guesses in every form to every address of the shop. @returns how often each status was answered */
  async function guess(count: number, atOnce: number, addressOf?: (index: number) => string) {
    const statuses: Record<number, number> = {};
    for (let from = 0; from < count; from += atOnce) {
      const batch = Array.from({ length: Math.min(atOnce, count - from) }, (_, step) => {
        const index = from + step;
        const { method, path } = ATTEMPTS[index % ATTEMPTS.length]!;
        return answer(method, path, `${FORMS[index % FORMS.length]} ${encoded(String(index))}`, addressOf?.(index));
      });
      for (const status of await Promise.all(batch)) statuses[status] = (statuses[status] ?? 0) + 1;
    }
    return statuses;
  }

  it.each([
    ['ten at once', 10],
    ['all in parallel', 1000],
  ])('are refused after 20, at all of its pages together: 1,000 of them, %s', async (_how, atOnce) => {
    await open();
    const statuses = await guess(1000, atOnce, (index) => `203.0.113.${index % 250}, 198.51.100.${index % 249}`);
    expect(Object.keys(statuses)).toEqual(['401', '404', '429']);
    expect(statuses[401]).toBe(20);
    for (const { method, path } of ATTEMPTS) {
      const status = await answer(method, path, `Basic ${encoded(PASSWORD)}`);
      const isPage = (method === 'POST' ? WRITING : PATHS).includes(path) && ['GET', 'HEAD', 'POST'].includes(method);
      expect([method, path, status]).toEqual([method, path, isPage ? 429 : 404]);
    }
    const refused = await fetch(`${shop.url}/metrics`);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3600);
  });

  it('are refused after 200 from all addresses, and the owner still gets in from the usual one', async () => {
    await open({ SHOP_PROXIES: '1' });
    const right = `Basic ${encoded(PASSWORD)}`;
    const usual = '192.0.2.1';
    expect(await answer('GET', '/desk', right, usual)).toBe(200);
    const statuses = await guess(1000, 20, (index) => `10.${index >> 8}.${index & 255}.1`);
    expect(statuses[401]).toBe(200);
    expect(await answer('GET', '/metrics', right, '192.0.2.2')).toBe(429);
    for (const path of ['/desk', '/admin/health', '/metrics'])
      expect(await answer('GET', path, right, usual)).toBe(200);
  });

  it('do not include right passwords and requests without one: a scraper is never refused', async () => {
    await open();
    for (let count = 0; count < 400; count += 1) {
      expect(await answer('GET', '/metrics', `Basic ${encoded(PASSWORD)}`)).toBe(200);
      expect((await fetch(`${shop.url}/metrics`)).status).toBe(401);
    }
  });
});
