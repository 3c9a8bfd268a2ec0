import { sale } from '../rigs/sale.js';
import { CARD_FORM, CHECKOUT, useShop } from './shop.js';

const PASSWORD = 'pässword: 1 2';
const basic = (password: string) => `Basic ${Buffer.from(`me:${password}`).toString('base64')}`;

/** Requests that no browser sends. */
describe('the shop with a real gateway', () => {
  const shop = useShop({ SHOP_ADMIN_PASSWORD: PASSWORD, SHOP_ATTEMPTS_PER_ORDER: '1000' }, true);

  it.each([
    ['method=direct', 400],
    ['method[]=direct', 200],
    ['method=direct&method=3d', 200],
    ['__proto__[method]=direct', 200],
    ['amount=0.01&totalKurus=1&transactionDetails[amount]=0.01&reference=x&allowRepeat=true', 200],
  ])('pays by 3D Secure and the order’s amount only, even if %s is posted', async (more, status) => {
    const id = await shop.order();
    expect(id).toMatch(/^T-[\w-]+$/);
    shop.simulator.reset();
    const answer = await shop.post(`/orders/${id}/pay`, `${new URLSearchParams(CARD_FORM).toString()}&${more}`);
    expect(answer.status).toBe(status);
    expect(shop.simulator.requests).toMatchObject(
      status === 400
        ? []
        : [{ operation: 'Init3d', body: { transactionDetails: { amount: 420, transactionType: 'SALE' } } }],
    );
    expect(await shop.payments.findByReference(id)).toHaveLength(shop.simulator.requests.length);
  });

  it('has browsers keep neither the card form nor the page that leads to the bank', async () => {
    const path = `/orders/${await shop.order()}/pay`;
    expect((await shop.get(path)).headers.get('cache-control')).toBe('no-store');
    const { headers } = await shop.post(path, CARD_FORM);
    expect([headers.get('cache-control'), headers.get('content-type')]).toEqual([
      'no-store',
      'text/html; charset=utf-8',
    ]);
  });

  it('takes no card from another site', async () => {
    const path = `/orders/${await shop.order()}/pay`;
    const answer = await shop.post(path, CARD_FORM, { 'sec-fetch-site': 'cross-site' });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([403, 'no-store']);
    expect(await answer.text()).not.toContain('4508');
  });

  it('runs no script that was typed into a form or an address', async () => {
    const typed = `'"><script>alert(1)</script>`;
    const form = { ...CARD_FORM, holder: typed, phone: typed, number: typed };
    const answer = await shop.post(`/orders/${await shop.order()}/pay`, form);
    const page = await answer.text();
    expect(answer.status).toBe(422);
    expect(page).toContain('&#60;script&#62;alert(1)');
    expect(page).not.toContain('<script>alert');
    expect(page.match(/<input[^>]*id="holder"[^>]*>/)?.[0]).toContain('value="&#39;&#34;&#62;');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");

    const unknown = await shop.get('/orders/%3Cscript%3E');
    expect([unknown.status, (await unknown.text()).includes('<script>')]).toEqual([404, false]);
  });

  it.each(['//evil.example?lang=en', '/\\evil.example?lang=en', '//[?lang=en'])(
    'does not redirect to another host for a language: %s',
    async (path) => {
      const answer = await shop.get(path);
      const target = new URL(answer.headers.get('location') ?? '/', `${shop.url}/`);
      expect(answer.status).toBeLessThan(500);
      expect(target.origin).toBe(shop.url);
    },
  );

  // Which headers count as the password is in test/sample/staff.guard.spec.ts.
  it('shows its orders only with the password', async () => {
    const headers = { authorization: basic('x') };
    const { conversationId } = await shop.payments.doPayment(sale());
    const payment = `/payments/${conversationId}`;
    for (const path of ['', '/', '/payments', payment, '/deliveries', '/desk.css']) {
      expect([path, (await shop.get(`/desk${path}`, headers)).status]).toEqual([path, 401]);
    }
    expect((await shop.get('/DESK/', headers)).status).toBe(401);
    for (const path of [`${payment}/review`, `${payment}/acts`, '/deliveries/replay']) {
      const form = { act: 'void', state: 'succeeded', shown: 'x', idempotencyKey: 'k' };
      expect([path, (await shop.post(`/desk${path}`, form, headers)).status]).toEqual([path, 401]);
    }
    expect(shop.simulator.ledger.refunds).toEqual([]);
    expect((await shop.get('/desk', { authorization: basic(PASSWORD) })).status).toBe(200);
  });
});

describe('a shop whose gateway cannot be reached', () => {
  const shop = useShop({ PAYMENT_BASE_URL: 'http://127.0.0.1:1' }, true);

  it('says so on the page of the order, and that nothing was charged', async () => {
    const order = `/orders/${await shop.order()}`;
    const sent = await shop.post(`${order}/pay`, CARD_FORM);
    expect(sent.headers.get('location')).toBe(order);
    const text = await (await shop.get(order, { 'accept-language': 'en' })).text();
    for (const told of ['data-outcome="failed"', 'Nothing was charged', 'The payment service could not be reached.']) {
      expect(text).toContain(told);
    }
  });
});

describe('a shop without a password that limits the attempts of an order', () => {
  const shop = useShop({ SHOP_ATTEMPTS_PER_ORDER: '2' }, true);

  it.each(['', 'undefined'])('shows its orders to nobody, not even with the password %j', async (password) => {
    expect((await shop.get('/desk', { authorization: basic(password) })).status).toBe(403);
  });

  it('counts those of its page and its API together, and ignores forged addresses', async () => {
    const order = `/orders/${await shop.order()}`;
    const statuses: number[] = [];
    for (const last of [1, 2, 3]) {
      const claimed = { 'x-forwarded-for': `203.0.113.${last}` };
      statuses.push((await shop.postJson(`/api${order}/pay`, CHECKOUT, claimed)).status);
      statuses.push((await shop.post(`${order}/pay`, CARD_FORM, claimed)).status);
    }
    expect(statuses).toEqual([200, 200, 429, 429, 429, 429]);
    expect((await shop.post(`${order}/payment-page`)).status).toBe(429);
    expect(shop.simulator.ledger.calls('Init3d')).toBe(2);
    const refused = await shop.post(`${order}/pay`, CARD_FORM, { 'accept-language': 'en' });
    expect(await refused.text()).toMatch(/Too many attempts[^]*This attempt was not sent to a bank/);
    expect((await shop.post(`/orders/${await shop.order()}/pay`, CARD_FORM)).status).toBe(200);
  });
});

describe('a shop where attempts are counted by address', () => {
  const shop = useShop({ SHOP_ATTEMPTS_PER_VISITOR: '3', SHOP_PROXIES: '1' }, true);

  const place = (address: string): Promise<Response> =>
    shop.post('/orders', {}, { cookie: 'basket=cup.1', 'x-forwarded-for': `198.51.100.9, ${address}` });
  const tryCard = async (path: string, address: string): Promise<number> =>
    (await shop.post(path, {}, { 'x-forwarded-for': address })).status;

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

  it('limits the cards that a visitor looks up, to five for each one that may be tried', async () => {
    const path = (await place('203.0.113.5')).headers.get('location')!.replace(/pay$/, 'card/choices');
    const statuses: number[] = [];
    for (let count = 0; count < 17; count += 1) {
      statuses.push((await shop.post(path, { bin: '454401' }, { 'x-forwarded-for': '203.0.113.5' })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 15 }, () => 200), 429, 429]);
  });
});

describe('guesses of the admin password', () => {
  const PATHS = ['/desk', '/DESK/', '/desk?x=1', '/admin/health', '/metrics/'];
  const OWNERS = '192.0.2.1';

  // Behind a proxy of its own, which tells the address of the visitor.
  const shop = useShop({ SHOP_ADMIN_PASSWORD: PASSWORD, SHOP_PROXIES: '1' }, true);

  const answer = async (path: string, password: string, address: string, method = 'GET'): Promise<number> => {
    const headers = { authorization: basic(password), 'x-forwarded-for': address };
    return (await fetch(shop.url + path, { method, headers, redirect: 'manual' })).status;
  };

  // That all addresses together have 200, and that the owner still gets in, is in test/sample/password-guesses.spec.ts.
  it('are refused after 20, at all of its pages together, whatever address the visitor claims', async () => {
    const address = '198.51.100.7';
    const guesses = [1, 2, 3, 4, 5].flatMap((round) =>
      PATHS.map((path, index) =>
        answer(path, String(index), `203.0.113.${round}, ${address}`, round % 2 ? 'GET' : 'HEAD'),
      ),
    );
    const statuses = await Promise.all(guesses);
    expect([...new Set(statuses)].sort()).toEqual([401, 429]);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    for (const path of PATHS) expect([path, await answer(path, PASSWORD, address)]).toEqual([path, 429]);
    expect(await answer('/desk/payments/X/acts', PASSWORD, address, 'POST')).toBe(429);
    const refused = await shop.get('/metrics', { 'x-forwarded-for': address });
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(3500);
    expect(wait).toBeLessThanOrEqual(3600);
  });

  it('do not include right passwords and requests without one: a scraper is never refused', async () => {
    for (let count = 0; count < 25; count += 1) {
      expect(await answer('/metrics', PASSWORD, OWNERS)).toBe(200);
      expect((await shop.get('/metrics', { 'x-forwarded-for': OWNERS })).status).toBe(401);
    }
  });
});
