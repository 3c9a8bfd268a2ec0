import type { PaymentState, RefundState } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { openShop, type Shop } from './shop.js';
import { ODD } from '../rigs/odd-answers.js';
import { showInInquiries } from '../rigs/odd-gateway.js';
import { sale } from '../rigs/sale.js';

const PASSWORD = 'a long password';
const ADMIN = { authorization: `Basic ${Buffer.from(`deniz:${PASSWORD}`).toString('base64')}` };

type Form = Record<string, string>;

/** The merchant's staff, at the pages of one shop. */
class Staff {
  constructor(readonly shop: Shop) {}

  /** An order of a cup, 420.00. @returns its id */
  async order(): Promise<string> {
    const answer = await fetch(`${this.shop.url}/orders`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: 'basket=cup.1' },
    });
    return answer.headers.get('location')!.split('/')[2]!;
  }

  /** @returns the ids of an order and of its payment */
  async paidOrder(amount = '420.00', state: PaymentState = 'succeeded'): Promise<{ order: string; payment: string }> {
    const order = await this.order();
    return { order, payment: await this.pay(order, amount, state) };
  }

  async pay(order: string, amount: string, state: PaymentState): Promise<string> {
    const payment = await this.shop.payments.doPayment(sale(amount, { reference: order }));
    expect(payment.state).toBe(state);
    return payment.conversationId;
  }

  async get(path: string, headers: Form = {}): Promise<Response> {
    return fetch(this.shop.url + path, { redirect: 'manual', headers: { ...ADMIN, cookie: 'lang=en', ...headers } });
  }

  async post(path: string, form: Form, headers: Form = {}): Promise<Response> {
    return fetch(this.shop.url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...ADMIN, cookie: 'lang=en', ...headers },
      body: new URLSearchParams(form),
    });
  }

  async page(order: string, language = 'en'): Promise<Page> {
    return Page.of(await this.get(`/admin/orders/${order}`, { cookie: `lang=${language}` }));
  }

  async buyerPage(order: string, language = 'en'): Promise<Page> {
    return Page.of(await this.get(`/orders/${order}`, { cookie: `lang=${language}`, authorization: '' }));
  }

  /** Shows the order's page and sends the form on it. */
  async send(action: 'refund' | 'void' | 'record', { order, payment }: Ids, form: Form = {}): Promise<Page> {
    const { key } = await this.page(order);
    return this.follow(await this.post(`/admin/payments/${payment}/${action}`, { idempotencyKey: key, ...form }));
  }

  async settle(action: string, { payment }: Ids, refundId: string, form: Form = {}): Promise<Page> {
    return this.follow(await this.post(`/admin/payments/${payment}/refunds/${refundId}/${action}`, form));
  }

  async follow(answer: Response): Promise<Page> {
    if (answer.status !== 303) return Page.of(answer);
    return Page.of(await this.get(answer.headers.get('location')!));
  }
}

interface Ids {
  readonly order: string;
  readonly payment: string;
}

/** What a page shows. */
class Page {
  private constructor(
    readonly status: number,
    readonly html: string,
  ) {}

  static async of(answer: Response): Promise<Page> {
    return new Page(answer.status, await answer.text());
  }

  /** The visible text, in one line. */
  get text(): string {
    return textOf(this.html.replace(/<head>.*?<\/head>/s, ''));
  }

  /** The key of the first form. */
  get key(): string {
    return /name="idempotencyKey"\s+value="([^"]+)"/.exec(this.html)?.[1] ?? '';
  }

  /** Taken, given back, open, left: of each payment with money. */
  get totals(): string[][] {
    return this.html
      .split('data-payment=')
      .slice(1)
      .map((part) => [...part.matchAll(/data-total[^]*?<dd>(.*?)<\/dd>/g)].map(([, amount = '']) => amount));
  }

  get refunds(): { id: string; state: RefundState; text: string }[] {
    const lines = [...this.html.matchAll(/<li data-refund="(\w+)" data-refund-state="(\w+)">(.*?)<\/li>/gs)];
    return lines.map(([, id = '', state, text = '']) => ({ id, state: state as RefundState, text: textOf(text) }));
  }

  /** What the page says first about what was just done. */
  get notice(): string {
    return textOf(/<div\s+class="notice[^>]*>(.*?)<\/div>/s.exec(this.html)?.[1] ?? '');
  }

  get forms(): string[] {
    return [...this.html.matchAll(/action="\/admin\/payments\/\w+\/(refund|void|record)"/g)].map(
      ([, name = '']) => name,
    );
  }

  /** The value of a field of a form. */
  field(action: string, name: string): string | undefined {
    const input = new RegExp(`id="${action}-${name}-\\w+"[^>]*>`).exec(this.html)?.[0];
    return /value="([^"]*)"/.exec(input ?? '')?.[1];
  }
}

function textOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')
    .trim();
}

let gateway: Simulator;
let shop: Shop;
let staff: Staff;

describe('refund forms', () => {
  beforeAll(async () => {
    gateway = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true });
    shop = await openShop({ SHOP_ADMIN_PASSWORD: PASSWORD }, gateway);
    staff = new Staff(shop);
  });
  afterAll(async () => {
    await shop.close();
    await gateway.close();
    delete process.env.SHOP_ADMIN_PASSWORD;
  });
  beforeEach(() => gateway.reset());
  afterEach(() => expect(gateway.ledger.violations).toEqual([]));

  const givenBack = (): string[] => gateway.ledger.refunds.map(({ kind, amount }) => `${kind} ${amount}`);
  const sent = (): number => gateway.ledger.calls('refund') + gateway.ledger.calls('void');

  describe('a refund', () => {
    it('of a part: staff see what was taken, given back and left, and who gave it back, when and why', async () => {
      const ids = await staff.paidOrder();
      const before = await staff.page(ids.order);
      expect(before.totals).toEqual([['₺420.00', '₺0.00', '₺0.00', '₺420.00']]);
      expect(before.text).toContain('Nothing has been given back.');
      expect(before.forms).toEqual(['refund', 'void', 'record']);

      const page = await staff.send('refund', ids, { amount: '20.50', note: 'a chip in the <b>glaze</b>' });
      expect(page.status).toBe(200);
      expect(page.notice).toBe('₺20.50 has been given back.');
      expect(page.totals).toEqual([['₺420.00', '₺20.50', '₺0.00', '₺399.50']]);
      const [line] = page.refunds;
      expect(line).toMatchObject({ state: 'succeeded' });
      expect(line?.text).toMatch(/^succeeded partial refund ₺20\.50 \d\d? \w+ \d{4}, \d\d:\d\d:\d\d by deniz /);
      expect(line?.text).toContain('a chip in the <b>glaze</b>');
      expect(page.html).not.toContain('<b>glaze');
      expect(givenBack()).toEqual(['refund 20.50']);
      await untilListed(ids.order, 'Given back: ₺20.50');
      await untilListed(ids.order, 'refund.succeeded');
    });

    it('of all that is left: the order is refunded, and nothing more can be given back', async () => {
      const ids = await staff.paidOrder();
      await staff.send('refund', ids, { amount: '20' });
      const page = await staff.send('refund', ids, { amount: '', all: '400.00' });
      expect(page.notice).toBe('₺400.00 has been given back.');
      expect(page.totals).toEqual([['₺420.00', '₺420.00', '₺0.00', '₺0.00']]);
      expect(page.text).toContain('Nothing is left to give back.');
      expect(page.forms).toEqual([]);
      expect(givenBack()).toEqual(['refund 20.00', 'refund 400.00']);
      await untilListed(ids.order, 'given back');
      const list = await staff.get('/admin').then(Page.of);
      expect(list.html).toContain(`data-order="${ids.order}" data-status="refunded"`);
    });

    it('that was asked for while less was left than the page showed is refused', async () => {
      const ids = await staff.paidOrder();
      const { key } = await staff.page(ids.order);
      await staff.send('refund', ids, { amount: '20' });
      const path = `/admin/payments/${ids.payment}/refund`;
      const answer = await staff.post(path, { idempotencyKey: key, amount: '', all: '420.00', note: 'both cups' });
      const page = await Page.of(answer);
      expect(page.status).toBe(422);
      expect(page.notice).toContain('This is more than is left. ₺400.00 is left to give back.');
      expect(page.field('refund', 'note')).toBe('both cups');
      expect(givenBack()).toEqual(['refund 20.00']);
    });

    it('is given back once when its form is sent eight times at once, and again later', async () => {
      const ids = await staff.paidOrder();
      const { key } = await staff.page(ids.order);
      const send = () =>
        staff.post(`/admin/payments/${ids.payment}/refund`, { idempotencyKey: key, amount: '10', note: 'once' });
      const answers = await Promise.all(Array.from({ length: 8 }, send));
      answers.push(await send());
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
      expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1);
      expect(givenBack()).toEqual(['refund 10.00']);
      expect(sent()).toBe(1);
      expect((await staff.page(ids.order)).totals).toEqual([['₺420.00', '₺10.00', '₺0.00', '₺410.00']]);
    });

    it('is given back once even if the void’s form of the same page is sent at the same time', async () => {
      const ids = await staff.paidOrder();
      const { key } = await staff.page(ids.order);
      const path = `/admin/payments/${ids.payment}`;
      const answers = await Promise.all([
        staff.post(`${path}/refund`, { idempotencyKey: key, amount: '420.00' }),
        staff.post(`${path}/void`, { idempotencyKey: key }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 422]);
      expect(givenBack()).toHaveLength(1);
    });

    it('with the key of another amount is refused; what was typed stays, and can be sent with a new key', async () => {
      const ids = await staff.paidOrder();
      const { key } = await staff.page(ids.order);
      const path = `/admin/payments/${ids.payment}/refund`;
      await staff.post(path, { idempotencyKey: key, amount: '10' });
      const page = await Page.of(await staff.post(path, { idempotencyKey: key, amount: '11', note: 'another' }));
      expect(page.status).toBe(422);
      expect(page.notice).toContain('This form has already been used for another refund, so this one was not sent.');
      expect([page.field('refund', 'amount'), page.field('refund', 'note')]).toEqual(['11', 'another']);
      expect(givenBack()).toEqual(['refund 10.00']);
      expect(page.key).not.toBe(key);
      await staff.post(path, { idempotencyKey: page.key, amount: '11' });
      expect(givenBack()).toEqual(['refund 10.00', 'refund 11.00']);
    });

    it('with the key of another order’s form gives nothing back, and shows nothing of that order', async () => {
      const [one, other] = [await staff.paidOrder(), await staff.paidOrder()];
      const { key } = await staff.page(one.order);
      const form = { idempotencyKey: key, amount: '10' };
      await staff.post(`/admin/payments/${one.payment}/refund`, { ...form, note: 'only for the first' });
      const page = await Page.of(await staff.post(`/admin/payments/${other.payment}/refund`, form));
      expect(page.status).toBe(422);
      expect(page.notice).toContain('already been used for another refund');
      expect(page.html).not.toContain('only for the first');
      expect(page.totals).toEqual([['₺420.00', '₺0.00', '₺0.00', '₺420.00']]);
      expect(sent()).toBe(1);
    });

    it.each(['', ' ', '\u0000', 'k'.repeat(5_000), '4508034508034509'])(
      'without a good key (%j) gives nothing back',
      async (idempotencyKey) => {
        const { payment } = await staff.paidOrder();
        const answer = await staff.post(`/admin/payments/${payment}/refund`, { idempotencyKey, amount: '10' });
        expect(answer.status).toBe(400);
        expect(sent()).toBe(0);
      },
    );

    it('has a new key each time the page is shown', async () => {
      const { order } = await staff.paidOrder();
      const keys = [(await staff.page(order)).key, (await staff.page(order)).key];
      expect(new Set(keys).size).toBe(2);
      for (const key of keys) expect(key).toMatch(/^[\da-f-]{36}$/);
    });

    it.each([
      ['10,50', '10.50'],
      ['10,5', '10.50'],
      [' 10.5 ', '10.50'],
      ['010', '10.00'],
      ['420', '420.00'],
    ])('of %j gives back %s', async (amount, given) => {
      await staff.send('refund', await staff.paidOrder(), { amount });
      expect(givenBack()).toEqual([`refund ${given}`]);
    });

    it.each([
      ['1.234,50', 'Type the amount in digits'],
      ['1,234.50', 'Type the amount in digits'],
      ['1.000', 'no more than two digits after the point'],
      ['1,000', 'Type the amount in digits'],
      ['10.505', 'no more than two digits after the point'],
      ['0', 'above 0'],
      ['0,00', 'above 0'],
      ['-10', 'Type the amount in digits'],
      ['', 'Type the amount in digits'],
      ['1e2', 'Type the amount in digits'],
      ['₺10', 'Type the amount in digits'],
      ['10 TL', 'Type the amount in digits'],
      ['١٠', 'Type the amount in digits'],
      ['1'.repeat(20), 'too many digits'],
      ['"><script>', 'Type the amount in digits'],
      ['420.01', 'This is more than is left. ₺420.00 is left to give back.'],
    ])('of %j is refused: %s', async (amount, problem) => {
      const ids = await staff.paidOrder();
      const page = await staff.send('refund', ids, { amount, note: 'kept' });
      expect(page.status).toBe(422);
      expect(page.notice).toContain('Nothing was given back');
      expect(page.notice).toContain(problem);
      expect(page.html).toContain('<title>Nothing was given back ·');
      expect(textOf(page.field('refund', 'amount')!)).toBe(amount);
      expect(page.field('refund', 'note')).toBe('kept');
      expect(page.html).not.toContain('<script>');
      if (!problem.includes('left')) expect(page.html).toMatch(/id="refund-amount-\w+"[^>]*aria-invalid="true"/);
      expect(page.totals).toEqual([['₺420.00', '₺0.00', '₺0.00', '₺420.00']]);
      expect(sent()).toBe(0);
    });

    it('keeps no card number that is in its note', async () => {
      const page = await staff.send('refund', await staff.paidOrder(), { amount: '10', note: 'card 4508034508034509' });
      expect(page.refunds).toHaveLength(1);
      expect(page.html).not.toContain('4508034508034509');
    });

    it('whose note is too long is refused, and the amount stays', async () => {
      const page = await staff.send('refund', await staff.paidOrder(), { amount: '10', note: 'n'.repeat(10_001) });
      expect(page.status).toBe(422);
      expect(page.notice).toContain('Write a note of 1 to 10,000 characters.');
      expect(page.field('refund', 'amount')).toBe('10');
      expect(sent()).toBe(0);
    });

    it('that the gateway declines says so, and takes nothing from what is left', async () => {
      const page = await staff.send('refund', await staff.paidOrder(), { amount: '10.80' });
      expect(page.notice).toContain('₺10.80 has not been given back');
      expect(page.refunds[0]?.text).toMatch(/^failed .*declined.*B0005/);
      expect(page.totals).toEqual([['₺420.00', '₺0.00', '₺0.00', '₺420.00']]);
      expect(page.forms).toEqual(['refund', 'void', 'record']);
    });

    it('is in Turkish for staff who chose Turkish', async () => {
      const ids = await staff.paidOrder();
      await staff.send('refund', ids, { amount: '10', note: 'kırık' });
      const { text } = await staff.page(ids.order, 'tr');
      for (const word of ['Çekilen ₺420,00', 'İade edilen ₺10,00', 'Kalan ₺410,00', 'başarılı kısmi iade ₺10,00']) {
        expect(text).toContain(word);
      }
      const path = `/admin/payments/${ids.payment}/refund`;
      const form = { idempotencyKey: 'tr-1', amount: '1.234,50' };
      const page = await Page.of(await staff.post(path, form, { cookie: 'lang=tr' }));
      expect(page.notice).toBe('İade yapılmadı Tutarı rakamla, binlik ayırıcı olmadan yazın: 10,50 veya 10.50 gibi.');
    });

    it('of an order or payment that does not exist is not found', async () => {
      for (const path of ['/admin/orders/T-NONE', '/admin/payments/NONE/refund']) {
        expect((await staff.get(path)).status).toBe(404);
      }
      for (const action of ['refund', 'void', 'record', 'refunds/NONE/inquire', 'refunds/NONE/resolve']) {
        const answer = await staff.post(`/admin/payments/NONE/${action}`, { idempotencyKey: 'k', amount: '1' });
        expect(answer.status).toBe(404);
      }
    });

    it('whose form was refused leads to the order’s page when its address is loaded again', async () => {
      const { order, payment } = await staff.paidOrder();
      for (const action of ['refund', 'void', 'record', 'refunds/X/inquire', 'refunds/X/resolve']) {
        const answer = await staff.get(`/admin/payments/${payment}/${action}`);
        expect([answer.status, answer.headers.get('location')]).toEqual([303, `/admin/orders/${order}`]);
      }
    });
  });

  describe('strangers and other sites', () => {
    it('give nothing back', async () => {
      const { order, payment } = await staff.paidOrder();
      const form = { idempotencyKey: 'k', amount: '10' };
      for (const authorization of ['', `Basic ${Buffer.from('deniz:guess').toString('base64')}`]) {
        expect((await staff.get(`/admin/orders/${order}`, { authorization })).status).toBe(401);
        for (const action of ['refund', 'void', 'record', 'refunds/X/inquire', 'refunds/X/resolve']) {
          const answer = await staff.post(`/admin/payments/${payment}/${action}`, form, { authorization });
          expect(answer.status).toBe(401);
        }
      }
      for (const site of ['cross-site', 'same-site']) {
        for (const action of ['refund', 'void', 'record', 'refunds/X/inquire', 'refunds/X/resolve']) {
          const answer = await staff.post(`/admin/payments/${payment}/${action}`, form, { 'sec-fetch-site': site });
          expect(answer.status).toBe(403);
        }
      }
      expect(sent()).toBe(0);
      expect(await shop.payments.refunds(payment)).toEqual([]);
    });
  });

  describe('a void', () => {
    it('says that the gateway takes it on the same day only, and calls off the whole payment', async () => {
      const ids = await staff.paidOrder();
      expect((await staff.page(ids.order)).text).toContain('The gateway takes it on the day of the payment only');
      const page = await staff.send('void', ids, { note: 'ordered twice' });
      expect(page.notice).toBe('₺420.00 has been given back.');
      expect(page.refunds[0]?.text).toMatch(/^succeeded void ₺420\.00 .*by deniz.*ordered twice/);
      expect(page.totals).toEqual([['₺420.00', '₺420.00', '₺0.00', '₺0.00']]);
      expect(givenBack()).toEqual(['void 420.00']);
      await untilListed(ids.order, 'given back');

      const answer = await staff.post(`/admin/payments/${ids.payment}/refund`, { idempotencyKey: 'late', amount: '1' });
      const refused = await Page.of(answer);
      expect(refused.status).toBe(422);
      expect(refused.notice).toContain('The payment has been voided, so nothing is left to give back.');
      expect(sent()).toBe(1);
    });

    it('is not offered once a part was given back, and refused if it is sent nevertheless', async () => {
      const ids = await staff.paidOrder();
      const after = await staff.send('refund', ids, { amount: '20' });
      expect(after.forms).toEqual(['refund', 'record']);
      const page = await staff.send('void', ids, { note: 'by mistake' });
      expect(page.status).toBe(422);
      expect(page.field('void', 'note')).toBe('by mistake');
      expect(page.notice).toContain('the payment cannot be voided. Refund the ₺400.00 that is left.');
      expect(givenBack()).toEqual(['refund 20.00']);
    });
  });

  describe('a refund whose outcome is not known', () => {
    it('is said to be unknown, keeps further ones waiting, and is settled by asking the gateway', async () => {
      const ids = await staff.paidOrder();
      const page = await staff.send('refund', ids, { amount: '10.82' });
      expect(page.notice).toContain('It is not known whether ₺10.82 has been given back. Do not give it back again');
      expect(page.totals).toEqual([['₺420.00', '₺0.00', '₺10.82', '₺409.18']]);
      expect(page.text).toContain('Until it has, nothing more of this payment can be given back.');
      expect(page.forms).toEqual([]);
      const [line] = page.refunds;
      expect(line?.text).toContain('Ask the gateway');
      await untilListed(ids.order, 'unknown partial refund ₺10.82');
      expect((await Page.of(await staff.get('/admin'))).text).toMatch(/Need attention [1-9]/);

      const path = `/admin/payments/${ids.payment}/refund`;
      const form = { idempotencyKey: 'another', amount: '10', note: 'the lid, too' };
      const other = await Page.of(await staff.post(path, form));
      expect(other.status).toBe(422);
      expect(other.notice).toContain('Another refund of this payment has no known outcome yet.');
      expect(other.notice).toContain('₺409.18 is left');
      expect([other.field('refund', 'amount'), other.field('refund', 'note')]).toEqual(['10', 'the lid, too']);
      expect(other.forms).toEqual(['refund']);

      const settled = await staff.settle('inquire', ids, line!.id);
      expect(settled.notice).toBe('₺10.82 has been given back.');
      expect(settled.totals).toEqual([['₺420.00', '₺10.82', '₺0.00', '₺409.18']]);
      expect(settled.forms).toEqual(['refund', 'record']);
      expect(sent()).toBe(1);
    });

    it.each([
      ['failed', 'It was not given back', ['₺420.00', '₺0.00', '₺0.00', '₺420.00']],
      ['succeeded', 'It was given back', ['₺420.00', '₺10.81', '₺0.00', '₺409.19']],
    ] as const)('is resolved by staff as %s', async (state, button, totals) => {
      const ids = await staff.paidOrder();
      const page = await staff.send('refund', ids, { amount: '10.81' });
      const [line] = page.refunds;
      expect(line?.text).toContain(button);
      expect((await staff.settle('inquire', ids, line!.id)).refunds[0]).toMatchObject({ state: 'unknown' });

      const settled = await staff.settle('resolve', ids, line!.id, { state });
      expect(settled.status).toBe(200);
      expect(settled.refunds[0]).toMatchObject({ state });
      expect(settled.refunds[0]?.text).toContain('settled by hand');
      expect(settled.refunds[0]?.text).toContain('by deniz');
      expect(settled.totals).toEqual([totals]);
      const again = await staff.settle('resolve', ids, line!.id, { state: 'failed' });
      expect(again.status).toBe(422);
      expect(again.notice).toMatch(/^Nothing was changed This was not changed/);
      expect(again.refunds[0]).toMatchObject({ state });
    });

    it('in review can be resolved, but the gateway is not asked', async () => {
      const ids = await staff.paidOrder();
      const page = await staff.send('refund', ids, { amount: '10.87' });
      expect(page.notice).toContain('The gateway’s answer about ₺10.87 contradicts the request.');
      expect(page.refunds[0]).toMatchObject({ state: 'review' });
      expect(page.refunds[0]?.text).not.toContain('Ask the gateway');
      const settled = await staff.settle('resolve', ids, page.refunds[0]!.id, { state: 'succeeded' });
      expect(settled.totals).toEqual([['₺420.00', '₺10.87', '₺0.00', '₺409.13']]);
    });

    it('of another payment cannot be settled by this payment’s address', async () => {
      const [ids, other] = [await staff.paidOrder(), await staff.paidOrder()];
      const [line] = (await staff.send('refund', ids, { amount: '10.81' })).refunds;
      for (const action of ['inquire', 'resolve']) {
        expect((await staff.settle(action, other, line!.id, { state: 'failed' })).status).toBe(404);
      }
      expect((await staff.page(ids.order)).refunds[0]).toMatchObject({ state: 'unknown' });
    });

    it('because it is under way is shown to staff and to the buyer, and looked at again', async () => {
      const ids = await staff.paidOrder();
      const { key } = await staff.page(ids.order);
      const stall = gateway.fail({ operation: 'refund', kind: 'stall' });
      const send = () => staff.post(`/admin/payments/${ids.payment}/refund`, { idempotencyKey: key, amount: '10' });
      const first = send();
      await stall.played;

      const page = await staff.follow(await send());
      expect(page.notice).toMatch(/^The refund of ₺10\.00 is under way\./);
      expect(page.html).toContain('data-look-again');
      expect(page.totals).toEqual([['₺420.00', '₺0.00', '₺10.00', '₺410.00']]);
      expect(page.forms).toEqual([]);
      expect((await staff.buyerPage(ids.order)).text).toContain('A refund is under way.');
      stall.release();
      expect((await staff.follow(await first)).notice).toBe('₺10.00 has been given back.');
      expect((await staff.buyerPage(ids.order)).text).not.toContain('under way');
      expect(givenBack()).toEqual(['refund 10.00']);
    });
  });

  describe('money that was taken by a payment in review', () => {
    it('moved_after_all: the second charge of an order is given back as it is, and the order stays paid', async () => {
      const order = await staff.order();
      const second = await staff.pay(order, '40.96', 'unknown');
      await shop.payments.resolve(second, 'failed', 'not at the gateway');
      await staff.pay(order, '420.00', 'succeeded');
      await shop.payments.inquire(second);
      expect(await shop.payments.find(second)).toMatchObject({ state: 'review', reason: 'moved_after_all' });

      const page = await staff.page(order);
      expect(page.totals).toEqual([
        ['₺40.96', '₺0.00', '₺0.00', '₺40.96'],
        ['₺420.00', '₺0.00', '₺0.00', '₺420.00'],
      ]);
      expect(page.text).toContain('the payment need not be settled first');
      const done = await staff.send('refund', { order, payment: second }, { all: '40.96' });
      expect(done.notice).toBe('₺40.96 has been given back.');
      await untilListed(order, 'refund.succeeded');
      const list = await Page.of(await staff.get('/admin'));
      expect(list.html).toContain(`data-order="${order}" data-status="paid"`);
      const buyer = await staff.buyerPage(order);
      expect(buyer.html).toContain('data-outcome="paid"');
      expect(buyer.text).toMatch(/Given back Refund, .* ₺40\.96/);
    });

    it('amount_mismatch', async () => {
      gateway.fail({ operation: 'DoPayment', ...ODD['larger-amount'] });
      const ids = await staff.paidOrder('420.00', 'review');
      const page = await staff.send('refund', ids, { amount: '420' });
      expect(page.notice).toBe('₺420.00 has been given back.');
      expect(page.totals).toEqual([['₺1,420.00', '₺420.00', '₺0.00', '₺1,000.00']]);
    });
  });

  it.each([
    ['149.51', 'failed'],
    ['149.31', 'review'],
  ] as const)(
    'a payment of %s (%s), of which it is not certain that money was taken, offers nothing',
    async (amount, state) => {
      const ids = await staff.paidOrder(amount, state);
      const page = await staff.page(ids.order);
      expect([page.totals, page.forms]).toEqual([[], []]);
      const answer = await staff.post(`/admin/payments/${ids.payment}/refund`, { idempotencyKey: 'k', amount: '1' });
      expect(answer.status).toBe(422);
      expect((await Page.of(answer)).notice).toContain('It is not certain that this payment took money');
      expect(sent()).toBe(0);
    },
  );

  describe('a refund that was made at the gateway’s own panel', () => {
    it('is written down once, without sending anything', async () => {
      const ids = await staff.paidOrder();
      const { key } = await staff.page(ids.order);
      const send = () =>
        staff.post(`/admin/payments/${ids.payment}/record`, { idempotencyKey: key, amount: '20,50', note: 'panel' });
      await Promise.all([send(), send()]);
      const page = await staff.follow(await send());
      expect(page.notice).toBe('₺20.50 has been given back.');
      expect(page.refunds).toHaveLength(1);
      expect(page.refunds[0]?.text).toMatch(/by deniz made at the gateway’s own panel .*panel$/);
      expect(page.totals).toEqual([['₺420.00', '₺20.50', '₺0.00', '₺399.50']]);
      expect(sent()).toBe(0);
      await untilListed(ids.order, 'Given back: ₺20.50');
    });

    it('needs a note, and keeps the amount that was typed without one', async () => {
      const page = await staff.send('record', await staff.paidOrder(), { amount: '20,50' });
      expect(page.status).toBe(422);
      expect(page.notice).toContain('Write a note of 1 to 10,000 characters.');
      expect(page.field('record', 'amount')).toBe('20,50');
      expect(page.html).toMatch(/id="record-note-\w+"[^>]*aria-invalid="true"/);
      expect(page.refunds).toEqual([]);
    });
  });

  describe('the buyer', () => {
    it('sees what was given back and when, and neither notes, names nor refunds that failed', async () => {
      const ids = await staff.paidOrder();
      expect((await staff.buyerPage(ids.order)).html).not.toContain('data-refunds');
      await staff.send('refund', ids, { amount: '20', note: 'a difficult buyer' });
      await staff.send('refund', ids, { amount: '30.80', note: 'a difficult buyer' });
      const page = await staff.buyerPage(ids.order);
      expect(page.html).toContain('data-outcome="paid"');
      expect(page.text).toMatch(/Given back Refund, \d\d? \w+ \d{4}, \d\d:\d\d:\d\d ₺20\.00/);
      for (const hidden of ['difficult', 'deniz', '30.80', 'B0005']) expect(page.html).not.toContain(hidden);
      expect((await staff.buyerPage(ids.order, 'tr')).text).toMatch(/İadeler İade, .* ₺20,00/);
    });

    it('sees that a refund is under way while its outcome is not known, without its amount', async () => {
      const ids = await staff.paidOrder();
      await staff.send('refund', ids, { amount: '10.81' });
      const page = await staff.buyerPage(ids.order);
      expect(page.text).toContain('A refund is under way.');
      expect(page.text).not.toContain('10.81');
    });

    it.each([
      ['refund', { all: '420.00' }, 'Refund'],
      ['void', {}, 'Cancelled'],
    ] as const)(
      'sees that all of it was given back by a %s, and is not asked to pay again',
      async (action, form, name) => {
        const ids = await staff.paidOrder();
        await staff.send(action, ids, form);
        const page = await staff.buyerPage(ids.order);
        expect(page.html).toContain('data-outcome="refunded"');
        expect(page.text).toContain('Your money has been given back');
        expect(page.text).toMatch(new RegExp(`Given back ${name}, .* ₺420\\.00`));
        expect(page.html).not.toContain(`/orders/${ids.order}/pay`);
        const form2 = await staff.get(`/orders/${ids.order}/pay`);
        expect([form2.status, form2.headers.get('location')]).toEqual([303, `/orders/${ids.order}`]);
      },
    );
  });

  describe('with a gateway that is away', () => {
    it('nothing is given back, nothing typed is lost, and it can be sent again when the gateway is back', async () => {
      const first = await startSimulator({ dialect: 'morpos' });
      const lonely = await openShop({ SHOP_ADMIN_PASSWORD: PASSWORD }, first);
      const alone = new Staff(lonely);
      const ids = await alone.paidOrder();
      await first.close();

      const page = await alone.send('refund', ids, { amount: '10', note: 'a chip' });
      expect(page.status).toBe(422);
      expect(page.notice).toContain('The gateway could not be reached, so nothing was given back.');
      expect([page.field('refund', 'amount'), page.field('refund', 'note')]).toEqual(['10', 'a chip']);
      expect(page.totals).toEqual([['₺420.00', '₺0.00', '₺0.00', '₺420.00']]);
      expect(page.refunds.map(({ state }) => state)).toEqual(['failed']);

      // It is another simulator, which knows no payment: it declines. What counts is that it is asked.
      const second = await startSimulator({ dialect: 'morpos', port: first.port });
      const path = `/admin/payments/${ids.payment}/refund`;
      const sentAgain = await alone.follow(await alone.post(path, { idempotencyKey: page.key, amount: '10' }));
      expect(second.ledger.calls('refund')).toBe(1);
      expect(sentAgain.refunds.map(({ state }) => state)).toEqual(['failed', 'failed']);
      await lonely.close();
      await second.close();
      process.env.SHOP_ADMIN_PASSWORD = PASSWORD;
    });
  });

  describe('with a gateway whose ids of the payment are not known', () => {
    it('staff are told to refund it at the gateway’s own panel and to record it', async () => {
      const mute = await startSimulator({ dialect: 'morpos' });
      showInInquiries(mute, 'code');
      const other = await openShop({ SHOP_ADMIN_PASSWORD: PASSWORD }, mute);
      const there = new Staff(other);
      mute.fail({ operation: 'DoPayment', kind: 'reset' });
      const ids = await there.paidOrder('420.00', 'unknown');
      await other.payments.resolve(ids.payment, 'succeeded', 'seen at the gateway');
      const page = await there.send('refund', ids, { amount: '10' });
      expect(page.status).toBe(422);
      expect(page.notice).toContain('The gateway’s ids of this payment are not known');
      const form = { amount: '10', note: 'at the panel' };
      expect((await there.send('record', ids, form)).notice).toBe('₺10.00 has been given back.');
      expect(mute.ledger.calls('refund')).toBe(0);
      await other.close();
      await mute.close();
      process.env.SHOP_ADMIN_PASSWORD = PASSWORD;
    });
  });
});

/** Waits until the shop's own record of an order says this: its handlers run after the answer. */
async function untilListed(order: string, text: string): Promise<void> {
  const until = Date.now() + 10_000;
  for (;;) {
    const list = await Page.of(await staff.get('/admin'));
    const card = list.html.split('<article').find((part) => part.includes(`data-order="${order}"`)) ?? '';
    if (textOf(card).includes(text)) return;
    if (Date.now() > until) throw new Error(`The list never says “${text}”: ${textOf(card)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
