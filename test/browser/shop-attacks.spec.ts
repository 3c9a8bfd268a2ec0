import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { openShop, type Shop } from './shop.js';

const PASSWORD = 'pässword: 1 2';
const CARD = { number: '4508034508034509', expiry: '12/36', cvv: '000', holder: 'ADA', phone: '905551112233' };

/** What no browser sends. */
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

  it('takes no payment without 3D Secure and no other amount, whatever is posted', async () => {
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
        const began = performance.now();
        expect((await get('/', { cookie: `basket=${basket}` })).status).toBe(200);
        times.push(performance.now() - began);
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
  ])('sends nobody elsewhere for a language: %s', async (path) => {
    const answer = await get(path);
    const target = new URL(answer.headers.get('location') ?? '/', `${shop.url}/`);
    expect(answer.status).toBeLessThan(500);
    expect(target.origin).toBe(shop.url);
  });

  it('shows its orders to nobody without the password', async () => {
    for (const headers of [{}, asAdmin('x'), asAdmin(''), { authorization: 'Bearer x' }]) {
      expect((await get('/admin', headers)).status).toBe(401);
      expect((await get('/ADMIN/', headers)).status).toBe(401);
      expect((await post('/admin/payments/X/resolve', 'state=succeeded', headers)).status).toBe(401);
    }
    expect((await get('/admin', asAdmin())).status).toBe(200);
    const fromElsewhere = { ...asAdmin(), 'sec-fetch-site': 'cross-site' };
    expect((await post('/admin/payments/X/resolve', 'state=succeeded', fromElsewhere)).status).toBe(403);
    expect((await post('/admin/payments/X/resolve', 'state=succeeded', asAdmin())).status).toBe(404);
  });

  it('lets nobody guess the password for long', async () => {
    const statuses = new Set<number>();
    for (let guess = 0; guess < 310; guess += 1) statuses.add((await get('/admin', asAdmin(String(guess)))).status);
    expect([...statuses]).toEqual([401, 429]);
    expect((await get('/admin', asAdmin())).status).toBe(429);
  });
});
