import { describe, expect, it } from '@jest/globals';
import { useShop } from './shop.js';
import { cpuMs } from '../rigs/cpu-time.js';

const PASSWORD = 'pässword: 1 2';
const CARD = { number: '4508034508034509', expiry: '12/36', cvv: '000', holder: 'ADA', phone: '905551112233' };

/** Requests that no browser sends. */
describe('the shop with a real gateway', () => {
  const shop = useShop({ SHOP_ADMIN_PASSWORD: PASSWORD, SHOP_ATTEMPTS_PER_ORDER: '1000' }, true);

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
    expect(shop.simulator.ledger.calls('DoPayment')).toBe(0);
    const sent = shop.simulator.requests.map(({ body }) => (body as { transactionDetails: object }).transactionDetails);
    expect(sent.length).toBeGreaterThan(0);
    for (const details of sent) expect(details).toMatchObject({ amount: 420, transactionType: 'SALE' });
  });

  it('opens the payment page in Turkish, the only language that is documented', async () => {
    const path = (await newOrder()).replace(/pay$/, 'payment-page');
    expect((await post(path, '', { 'accept-language': 'en' })).status).toBe(200);
    expect(shop.simulator.requests.at(-1)).toMatchObject({ operation: 'hostedPage', body: { language: 'tr' } });
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
  const shop = useShop({ SHOP_ATTEMPTS_PER_ORDER: '2' }, true);

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
    expect((await pay(path.replace(/pay$/, 'payment-page'), {})).status).toBe(429);
    expect(shop.simulator.ledger.calls('Init3d')).toBe(2);
    const refused = await pay(path, CARD, { 'accept-language': 'en' });
    expect(await refused.text()).toMatch(/Too many attempts[^]*This attempt was not sent to a bank/);
    expect((await pay(await newOrder(), CARD)).status).toBe(200);
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

describe('a shop whose gateway cannot be reached', () => {
  const shop = useShop({ PAYMENT_BASE_URL: 'http://127.0.0.1:1' }, true);

  it('says so on the page of the order, and that nothing was charged', async () => {
    const headers = { cookie: 'basket=cup.1', 'accept-language': 'en' };
    const order = await fetch(`${shop.url}/orders`, { method: 'POST', headers });
    const page = await fetch(order.url, { method: 'POST', headers, body: new URLSearchParams(CARD) });
    const text = await page.text();
    expect([page.url, text]).toEqual([
      order.url.replace(/\/pay$/, ''),
      expect.stringContaining('data-outcome="failed"'),
    ]);
    for (const told of ['Nothing was charged', 'The payment service could not be reached.']) {
      expect(text).toContain(told);
    }
  });
});

describe('a shop where attempts are counted by address', () => {
  const shop = useShop({ SHOP_ATTEMPTS_PER_VISITOR: '3', SHOP_PROXIES: '1' }, true);

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
    const path = (await place('203.0.113.3')).headers.get('location') ?? '';
    const other = (await place('203.0.113.3')).headers.get('location') ?? '';
    const statuses: number[] = [];
    for (const url of [path, `/api${other}`, other, `/api${path}`, path]) {
      statuses.push(await tryCard(url, '203.0.113.3'));
    }
    expect(statuses).toEqual([422, 400, 422, 429, 429]);
    expect(await tryCard(path, '203.0.113.4')).toBe(422);
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
  const OWNERS = '192.0.2.1';
  const encoded = (password: string): string => Buffer.from(`me:${password}`).toString('base64');

  // Behind a proxy of its own, which tells the address of the visitor.
  const shop = useShop({ SHOP_ADMIN_PASSWORD: PASSWORD, SHOP_PROXIES: '1' }, true);

  async function answer(method: string, path: string, authorization: string, address: string): Promise<number> {
    const headers = { authorization, 'x-forwarded-for': address };
    const response = await fetch(shop.url + path, { method, headers, redirect: 'manual' });
    await response.arrayBuffer();
    return response.status;
  }

  const right = (method: string, path: string, address: string) =>
    answer(method, path, `Basic ${encoded(PASSWORD)}`, address);

  it('do not include right passwords and requests without one: a scraper is never refused', async () => {
    for (let count = 0; count < 25; count += 1) {
      expect(await right('GET', '/metrics', OWNERS)).toBe(200);
      const headers = { 'x-forwarded-for': OWNERS };
      expect((await fetch(`${shop.url}/metrics`, { headers })).status).toBe(401);
    }
  });

  // That all addresses together have 200, and that the owner still gets in, is in test/sample/password-guesses.spec.ts.
  it('are refused after 20, at all of its pages together, whatever address the visitor claims', async () => {
    const address = '198.51.100.7';
    // Less than half of the attempts are at pages that there are.
    const guesses = [...ATTEMPTS, ...ATTEMPTS, ...ATTEMPTS].map(({ method, path }, index) => {
      const authorization = `${FORMS[index % FORMS.length]} ${encoded(String(index))}`;
      return answer(method, path, authorization, `203.0.113.${index}, ${address}`);
    });
    const statuses = await Promise.all(guesses);
    expect([...new Set(statuses)].sort()).toEqual([401, 404, 429]);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    for (const { method, path } of ATTEMPTS) {
      const isPage = (method === 'POST' ? WRITING : PATHS).includes(path) && ['GET', 'HEAD', 'POST'].includes(method);
      expect([method, path, await right(method, path, address)]).toEqual([method, path, isPage ? 429 : 404]);
    }
    const headers = { 'x-forwarded-for': address };
    const wait = Number((await fetch(`${shop.url}/metrics`, { headers })).headers.get('retry-after'));
    expect(wait).toBeGreaterThan(3500);
    expect(wait).toBeLessThanOrEqual(3600);
    for (const path of ['/desk', '/admin/health', '/metrics']) expect(await right('GET', path, OWNERS)).toBe(200);
  });
});
