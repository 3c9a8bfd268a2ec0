import { jest } from '@jest/globals';
import { type INestApplication, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { PaymentConfigurationError, PaymentModule } from 'nestjs-card-payment';
import { PaymentDeskModule } from 'nestjs-card-payment/desk';
import { startSimulator, type Simulator } from 'nestjs-card-payment/simulator';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { PLATFORMS, sale, simulatorOptions } from '../e2e/merchant.js';
import { DeskPage, type DeskShop, EVERYTHING, Orders, secondAccount, StaffAccess, startDesk } from './desk-shop.js';

const NOTE = 'as the panel says';
const CARD = '4508034508034509';

describe.each(PLATFORMS)('attacks on the desk, on %s', (platform) => {
  let simulator: Simulator;
  let shop: DeskShop;
  let store: PaymentStore;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true });
    shop = await startDesk(platform, simulator, {
      metadata: { imports: [secondAccount(simulator)], providers: [Orders] },
    });
    store = shop.store;
  });
  afterAll(async () => {
    await shop.app.close();
    await simulator.close();
  });
  beforeEach(() => {
    StaffAccess.reset();
    simulator.reset();
  });

  const open = (path = '', staff = 'ada') => DeskPage.get(`${shop.url}/desk${path}`, { 'x-staff': staff });
  const openPayment = (id: string, staff?: string) => open(`/payments/${encodeURIComponent(id)}`, staff);
  const pay = async (changes: object = {}) => (await shop.payments.doPayment({ ...sale(), ...changes })).conversationId;
  const lose = () => {
    simulator.fail({ operation: 'DoPayment', kind: 'close', at: 'after' });
    return pay();
  };
  const given = () => simulator.ledger.refunds.map(({ kind, amount }) => `${kind} ${amount}`);
  /** Sends a form to be done at once. */
  const act = (page: DeskPage, name: string, typed: Readonly<Record<string, string>>, staff = 'ada') => {
    const { url, fields } = page.form(name);
    return DeskPage.post(url.replace('/review', '/acts'), { ...fields, ...typed }, { 'x-staff': staff });
  };

  describe('of the forms of one page one refund is made, and only its own form is told so', () => {
    const RECORD = ['recordRefund', { amount: '20', note: NOTE }] as const;
    const REFUND = ['refund', { amount: '20', note: NOTE }] as const;
    const VOID = ['void', { note: NOTE }] as const;
    it.each([
      [RECORD, REFUND, [], false],
      [REFUND, RECORD, ['refund 20.00'], false],
      [REFUND, VOID, ['refund 20.00'], false],
      [VOID, REFUND, ['void 149.90'], false],
      [VOID, VOID, ['void 149.90'], true],
      [RECORD, ['recordRefund', { amount: '20', note: 'another one' }] as const, [], false],
      [RECORD, RECORD, [], true],
      [REFUND, REFUND, ['refund 20.00'], true],
    ])('%j, then %j', async (first, second, made, isSame) => {
      for (const isAtOnce of [false, true]) {
        const before = given().length;
        const id = await pay();
        const page = await openPayment(id);
        const done = [first, second].map(
          ([name, typed]) =>
            () =>
              act(page, name, typed),
        );
        const answers = isAtOnce ? await Promise.all(done.map((send) => send())) : [await done[0]!(), await done[1]!()];
        const statuses = answers.map(({ status }) => status);
        if (isAtOnce) statuses.sort();
        expect([isAtOnce, statuses]).toEqual([isAtOnce, [303, isSame ? 303 : 409]]);
        expect(await shop.payments.refunds(id)).toHaveLength(1);
        if (!isAtOnce) expect(given().slice(before)).toEqual(made);
        else expect(given().slice(before).length).toBeLessThanOrEqual(1);
      }
    });
  });

  it.each(['\u0000', 'k'.repeat(5_000), CARD, "k' or 1=1"])(
    'a form that names the key %j gives back once, by the key of its page',
    async (idempotencyKey) => {
      const page = await openPayment(await pay());
      const sent = [1, 2].map(() => act(page, 'refund', { amount: '10', idempotencyKey }));
      for (const { status, html } of await Promise.all(sent))
        expect([status, html.includes(CARD)]).toEqual([303, false]);
      expect((await act(page, 'refund', { amount: '10', idempotencyKey: 'another' })).status).toBe(303);
      expect(given()).toEqual(['refund 10.00']);
      expect(StaffAccess.recorded.every(({ details }) => Object.keys(details).join() === 'amount')).toBe(true);
    },
  );

  it('another payment’s form gives nothing back, and shows nothing of that payment', async () => {
    const [one, other] = [await openPayment(await pay()), await openPayment(await pay())];
    const { shown } = one.form('refund').fields as { shown: string };
    await act(one, 'refund', { amount: '10', note: 'only of the first' });
    StaffAccess.recorded = [];
    const refused = await act(other, 'refund', { amount: '10', shown });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('Nothing was done.')]);
    expect(refused.text).not.toContain('only of the first');
    expect(refused.text).toContain('Given back 0.00 TRY');
    expect([given(), StaffAccess.recorded]).toEqual([['refund 10.00'], []]);
  });

  it.each([
    ['0b3f6a1e-4f5c-4d6e-8a7b-1234567890ab'],
    ['ada@kitapdukkani2026.example'],
    ['+90 555 111 22 33'],
    ['Su\u0308meyye'],
    ['Ada\tLovelace'],
    ['X'.repeat(250)],
    ['12345 a1b2c3d4e5f6g7h8 6789'],
    [' Ada '],
  ])('a double click of %j gives back once, and says so', async (name) => {
    StaffAccess.staff = { ada: { name, rights: EVERYTHING } };
    const page = await openPayment(await pay());
    const answers = await Promise.all([1, 2].map(() => act(page, 'refund', { amount: '10' })));
    answers.push(await act(page, 'refund', { amount: '10' }));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect((await answers[0]!.follow()).text).toContain('Refund: Given back.');
    expect(given()).toEqual(['refund 10.00']);
  });

  it.each([
    ['resolve', { state: 'succeeded', note: NOTE }, { state: 'failed', note: NOTE }],
    ['resolve', { state: 'failed', note: NOTE }, { state: 'failed', note: 'another one' }],
    ['inquire', {}, null],
  ])('a double click of %s %j is told from another form', async (name, typed, other) => {
    const page = await openPayment(await lose());
    const answers = await Promise.all([1, 2].map(() => act(page, name, typed)));
    answers.push(await act(page, name, typed));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect((await act(page, name, typed, 'bora')).status).toBe(409);
    if (other) expect((await act(page, name, other)).status).toBe(409);
  });

  describe('when the store fails within an act', () => {
    it.each([
      ['its word is lost', ['find'] as const],
      ['it stays away', ['find', 'findRefunds', 'history', 'listDeliveries'] as const],
    ])('%s: it is not said that nothing was done', async (_what, down) => {
      const id = await lose();
      const page = await openPayment(id);
      const replace = store.replace.bind(store);
      let isDown = false;
      jest.spyOn(store, 'replace').mockImplementation(async (...args) => {
        await replace(...args);
        isDown = down.length > 1;
        throw new Error('the word is lost');
      });
      for (const name of down) {
        const call = (store[name] as (...args: unknown[]) => Promise<never>).bind(store);
        jest.spyOn(store, name).mockImplementation((...args: unknown[]): Promise<never> => {
          return isDown ? Promise.reject(new Error('down')) : call(...args);
        });
      }
      const answer = await act(page, 'resolve', { state: 'failed', note: NOTE });
      jest.restoreAllMocks();
      expect((await shop.operations.find(id))?.state).toBe('failed');
      expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('not known whether this was done')]);
      expect(answer.text).not.toContain('Nothing was done');
    });

    it('before it, nothing was done', async () => {
      const page = await openPayment(await lose());
      jest.spyOn(store, 'find').mockRejectedValue(new Error('down'));
      const answer = await act(page, 'resolve', { state: 'failed', note: NOTE });
      expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('Nothing was done')]);
    });
  });

  it('a page is bounded by its last twenty refunds, and says so', async () => {
    const id = await pay();
    for (let count = 1; count <= 25; count += 1) {
      const idempotencyKey = `k${id}${count}`;
      await shop.payments.recordRefund({ conversationId: id, amount: '0.01', note: NOTE, by: 'Ada', idempotencyKey });
    }
    const read = jest.spyOn(store, 'history');
    const page = await openPayment(id);
    expect(page.html.match(/data-refund=/g)).toHaveLength(20);
    expect(page.text).toContain('The last 20 refunds are shown, of 25.');
    expect(read.mock.calls.length).toBeLessThan(25);
    // What is new is still marked, though the lines of an older refund left the page.
    await shop.payments.recordRefund({ conversationId: id, amount: '0.02', note: NOTE, idempotencyKey: `k${id}` });
    const refused = await act(page, 'recordRefund', { amount: '0.03', note: NOTE });
    expect([refused.status, refused.html.match(/class="new"/g)?.length]).toEqual([409, 2]);
    expect(await shop.operations.history(id)).toHaveLength(54);
  });

  it.each([null, 'second', { 0: 'second' }, 5])('staff whose accounts are %j see none', async (accounts) => {
    StaffAccess.staff = { ada: { name: 'Ada', rights: EVERYTHING, accounts: accounts as never } };
    for (const path of ['', '?account=second', '/payments', '/desk.css']) {
      expect([path, (await open(path)).status]).toEqual([path, 403]);
    }
  });

  it.each([
    '?account=second&account=default',
    '?account=default&account=second',
    '?account[]=second',
    '?account[0]=second',
  ])('names no account for sure: %s', async (query) => {
    for (const path of ['', '/payments', '/deliveries']) {
      expect([path, (await open(path + query)).status]).toEqual([path, 400]);
    }
  });

  it('without the unnamed account the first page is that of the first one', async () => {
    StaffAccess.staff = { ada: { name: 'Ada', rights: EVERYTHING, accounts: ['second'] } };
    const first = await open();
    expect([first.status, first.headers.get('location')]).toEqual([303, './desk?account=second']);
    expect((await first.follow()).status).toBe(200);
    expect((await open('/payments')).status).toBe(403);
    StaffAccess.staff = { ada: { name: 'Ada', rights: EVERYTHING, accounts: [] } };
    expect((await open()).status).toBe(403);
  });

  it.each([' begins and ends with a space ', 'a/b', 'a?b#c', 'ş'.repeat(10)])('opens the payment %j', async (name) => {
    const id = await pay({ conversationId: platform + name });
    const spaced = await pay({ conversationId: ` ${platform}${name}` });
    // The simulator takes no such ids: a failed payment is shown all the same.
    for (const each of [id, spaced]) {
      const page = await openPayment(each);
      expect([page.status, page.text]).toEqual([200, expect.stringContaining(each.trim())]);
      expect((await open(`/payments/${encodeURIComponent(each)}/acts`)).status).toBe(303);
    }
  });

  describe('what the host records', () => {
    const park = async (id: string): Promise<void> => {
      await store.fanOut('default', 1_000);
      const lease = { account: 'default', lease: 'l', leaseMs: 60_000, limit: 1_000, handlerId: 'Orders.paid' };
      await store.leaseDeliveries({ ...lease, types: ['payment.succeeded'] });
      const delivery = { account: 'default', handlerId: 'Orders.paid', eventId: `${id}:2`, lease: 'l' };
      await store.postpone(delivery, { attempts: 15, error: 'E', retryInMs: 0, parked: true });
    };

    it('is a delivery that there is, once, and a double click is told that it is on its way', async () => {
      const id = await pay();
      await park(id);
      const send = (handlerId: string, eventId: string) =>
        DeskPage.post(`${shop.url}/desk/deliveries/replay`, { handlerId, eventId });
      for (const [handlerId, eventId] of [
        ['forged\nline', `${id}:2`],
        ['Orders.paid', `${id}:forged`],
        ['Orders.paid', `${id}:1`],
      ] as const) {
        const answer = await send(handlerId, eventId);
        expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('does not wait here')]);
      }
      expect(StaffAccess.recorded).toEqual([]);
      const answers = [await send('Orders.paid', `${id}:2`), await send('Orders.paid', `${id}:2`)];
      expect(answers.map(({ status }) => status)).toEqual([303, 303]);
      expect(StaffAccess.recorded).toHaveLength(1);
      await store.acknowledge('default', 'Orders.paid', `${id}:2`);
      expect((await send('Orders.paid', `${id}:2`)).status).toBe(409);
    });

    it('names who did it in one line, as the history does', async () => {
      StaffAccess.staff = { ada: { name: 'bob\n[Nest] alice \u202e4508 0345 0803 4509', rights: EVERYTHING } };
      const id = await pay();
      await act(await openPayment(id), 'refund', { amount: '1' });
      const [refund] = await shop.payments.refunds(id);
      expect(StaffAccess.recorded.map(({ staff }) => staff)).toEqual([refund?.by]);
      expect(refund?.by).toBe('bob [Nest] alice  **** **** **** ****');
    });
  });

  it('does not repeat what may be a card number', async () => {
    const id = await pay({ reference: '123456789012' });
    const spaced = CARD.replace(/(....)(?=.)/g, '$1 ');
    for (const q of [CARD, spaced]) {
      const found = await open(`/payments?q=${encodeURIComponent(q)}`);
      expect([found.status, found.html.includes(q)]).toEqual([200, false]);
    }
    // A number that is an order's is shown.
    expect((await open('/payments?q=123456789012')).html).toContain('value="123456789012"');
    const refused = await (await openPayment(id)).send('refund', { amount: CARD });
    expect([refused.status, refused.html.includes(CARD)]).toEqual([400, false]);
  });

  it.each(['void', 'refund', 'recordRefund', 'resolve', 'resolveRefund'])(
    'an address that says ?done=%s of a payment of which that is not true is not believed',
    async (done) => {
      const id = await pay();
      expect((await open(`/payments/${id}?done=${done}`)).html).not.toContain('role="status"');
    },
  );
});

describe('a desk that does not start', () => {
  let simulator: Simulator;
  let app: INestApplication | undefined;
  beforeAll(async () => (simulator = await startSimulator({ dialect: 'morpos' })));
  afterAll(() => simulator.close());
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  it.each([
    ['a misspelt option', true, { decorator: [] }, 'decorator: is not an option'],
    ['no PaymentModule', false, {}, 'PaymentModule is needed'],
  ])('%s', async (_what, isPaid, options, text) => {
    const payment = PaymentModule.forRoot({ ...simulatorOptions(simulator), publicUrl: 'http://localhost:1' });
    const desk = PaymentDeskModule.forRoot({ access: StaffAccess, ...options });
    @Module({ imports: isPaid ? [payment, desk] : [desk] })
    class App {}
    const started = Test.createTestingModule({ imports: [App] })
      .setLogger(false as never)
      .compile()
      .then(async (module) => {
        app = module.createNestApplication({ logger: false });
        await app.init();
      });
    await expect(started).rejects.toThrow(PaymentConfigurationError);
    await expect(started).rejects.toThrow(text);
  });
});
