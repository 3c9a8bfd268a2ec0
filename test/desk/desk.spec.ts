import { ForbiddenException } from '@nestjs/common';
import { startSimulator, type Simulator } from 'nestjs-card-payment/simulator';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { PLATFORMS, sale } from '../e2e/merchant.js';
import { ODD } from '../rigs/odd-answers.js';
import { fingerprintOf } from '../../lib/desk/acts.js';
import { DeskPage, type DeskShop, Orders, StaffAccess, startDesk } from './desk-shop.js';

const NOTE = 'as the panel says';

describe.each(PLATFORMS)('the desk, on %s', (platform) => {
  let simulator: Simulator;
  let shop: DeskShop;
  let store: PaymentStore;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true });
    shop = await startDesk(platform, simulator, { metadata: { providers: [Orders] } });
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
  const openPayment = (id: string, staff?: string) => open(`/payments/${id}`, staff);
  const pay = async (amount?: string) => (await shop.payments.doPayment(sale(amount))).conversationId;
  const lose = async (operation: 'DoPayment' | 'refund' = 'DoPayment') => {
    simulator.fail({ operation, kind: 'close', at: 'after' });
    return operation === 'DoPayment' ? pay() : '';
  };
  const givenBack = () => simulator.ledger.refunds.map(({ kind, amount }) => `${kind} ${amount}`);

  it('shows a payment, gives a part back after a confirmation, and says what came of it', async () => {
    const id = await pay('1149.90');
    const page = await openPayment(id);
    expect([page.status, page.state]).toEqual([200, 'succeeded']);
    expect(page.acts).toEqual(['refund', 'void', 'recordRefund']);
    expect(page.text).toContain('1,149.90 TRY');
    const notes = [...page.html.matchAll(/<input name="note"[^>]*>/g)].map(([input]) => input.includes('required'));
    expect(notes).toEqual([false, false, true]);
    expect(page.text).toContain('450803******4509');

    const asked = await page.send('refund', { amount: '20,50', note: 'a chip in the glaze' });
    expect(asked.status).toBe(200);
    expect(asked.text).toMatch(/Refund .*20\.50 TRY.*a chip in the glaze.*Yes: Refund: 20\.50 TRY/);
    expect([givenBack(), StaffAccess.recorded]).toEqual([[], []]);

    const done = await asked.send('refund');
    expect(done.status).toBe(303);
    expect(done.headers.get('location')).toMatch(/^\.\.\/\.\.\/payments\//);
    const after = await done.follow();
    expect(after.text).toContain('Refund: Given back.');
    expect(after.text).toMatch(/The refund was sent by Ada “a chip in the glaze”.*Money was given back/);
    expect(after.text).toContain('Left to give back 1,129.40 TRY');
    expect(givenBack()).toEqual(['refund 20.50']);
    expect(StaffAccess.recorded).toEqual([
      {
        staff: 'Ada',
        act: 'refund',
        account: 'default',
        conversationId: id,
        details: { amount: '20.50', note: 'a chip in the glaze' },
      },
    ]);
    // A void needs that nothing was given back.
    expect(after.acts).toEqual(['refund', 'recordRefund']);
    const all = await after.confirm('refund', { all: '1129.40' });
    expect((await all.follow()).acts).toEqual([]);
    expect(givenBack()).toEqual(['refund 20.50', 'refund 1129.40']);
  });

  it.each([
    ['inquire', {}, 'succeeded', {}],
    ['resolve', { state: 'succeeded', note: NOTE }, 'succeeded', { state: 'succeeded', note: NOTE }],
    ['resolve', { state: 'failed', note: NOTE }, 'failed', { state: 'failed', note: NOTE }],
  ])('settles a lost answer: %s %j', async (act, typed, state, details) => {
    const id = await lose();
    const page = await openPayment(id);
    expect([page.state, page.acts]).toEqual(['unknown', ['inquire', 'resolve']]);
    expect(page.text).toContain('do not take the payment again');
    const after = await (await page.confirm(act, typed)).follow();
    expect(after.state).toBe(state);
    expect(StaffAccess.recorded).toMatchObject([{ act, conversationId: id, details }]);
    const [{ by }] = (await shop.operations.history(id)).slice(-1) as unknown as [{ by: string | null }];
    expect(by).toBe('Ada');
  });

  it.each([
    ['inquireRefund', {}],
    ['resolveRefund', { state: 'succeeded', note: NOTE }],
    ['resolveRefund', { state: 'failed', note: NOTE }],
  ])('asks about a refund whose answer was lost, and never offers to send it again: %s %j', async (act, typed) => {
    const id = await pay();
    await lose('refund');
    const page = await (await (await openPayment(id)).confirm('refund', { amount: '10' })).follow();
    expect(page.text).toContain('Refund: Unknown.');
    expect(page.acts).toEqual(['inquireRefund', 'resolveRefund']);
    expect((await open()).text).toMatch(/Refunds without an outcome 10\.00 TRY Unknown/);
    const after = await (await page.confirm(act, typed)).follow();
    expect(after.acts).toContain('refund');
    expect(StaffAccess.recorded.at(-1)).toMatchObject({ act, conversationId: id });
    expect(givenBack()).toEqual(['refund 10.00']);
  });

  it('voids a payment, and writes a refund down that was made elsewhere', async () => {
    const [one, other] = [await pay('10'), await pay('10')];
    const voided = await (await (await openPayment(one)).confirm('void')).follow();
    expect(voided.text).toContain('Void the payment: Given back.');
    const recorded = await (await openPayment(other)).confirm('recordRefund', { amount: '4', note: NOTE });
    expect((await recorded.follow()).text).toContain('Left to give back 6.00 TRY');
    expect(givenBack()).toEqual(['void 10.00']);
  });

  it('says what the gateway answered to a refund that it declined, and takes nothing from what is left', async () => {
    const page = await (await (await openPayment(await pay())).confirm('refund', { amount: '10.80' })).follow();
    expect(page.text).toContain('Refund: Not given back.');
    expect(page.text).toMatch(/10\.80 TRY Not given back refund \w+ by Ada .* What the code means \(B0005\) /);
    expect(page.text).toContain('No money was given back : the bank declined');
    // What a buyer is told of a payment is not true of a refund.
    expect(page.text).not.toContain('What the buyer may be told');
    expect(page.text).toContain('Given back 0.00 TRY On its way back 0.00 TRY Left to give back 149.90 TRY');
    expect(page.acts).toEqual(['refund', 'void', 'recordRefund']);
  });

  it.each([
    ['of which money moved after all', 'declined-code', 'Taken 149.90 TRY', ['resolve']],
    ['that took another amount', 'larger-amount', 'Taken 1,149.90 TRY', ['resolve', 'refund', 'recordRefund']],
  ] as const)('gives back what was taken by a payment in review, %s', async (_what, odd, taken, acts) => {
    simulator.fail({ operation: 'DoPayment', ...ODD[odd] });
    const id = await pay();
    await shop.operations.inquire(id, { by: 'Bora' });
    const page = await openPayment(id);
    expect([page.state, page.acts]).toEqual(['review', ['resolve', 'refund', 'void', 'recordRefund']]);
    expect(page.text).toContain(taken);
    const after = await (await page.confirm('refund', { amount: '149.90' })).follow();
    expect(after.text).toContain('Refund: Given back.');
    expect([after.state, after.acts, givenBack()]).toEqual(['review', acts, ['refund 149.90']]);
    // That the refund held its payment is no part of the story.
    const story = (shown: DeskPage) => shown.html.match(/<li class="/g)?.length;
    expect([story(after), after.text.includes('same outcome')]).toEqual([story(page)! + 2, false]);
  });

  it.each([
    ['149.51', 'failed'],
    ['149.31', 'review'],
  ])('offers nothing back of a payment of %s (%s), which has perhaps taken nothing', async (amount, state) => {
    const paid = await openPayment(await pay());
    const page = await openPayment(await pay(amount));
    expect(page.state).toBe(state);
    expect(page.acts.filter((act) => /refund|void/i.test(act))).toEqual([]);
    const { fields } = page.form(page.acts[0]!);
    const { url } = paid.form('refund');
    const own = url.replace(/payments\/.*/, `payments/${/payments\/(\w+)/.exec(page.url)?.[1]}/acts`);
    const refused = await DeskPage.post(own, { ...fields, act: 'refund', amount: '1' });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('does not allow')]);
    expect([givenBack(), StaffAccess.recorded]).toEqual([[], []]);
  });

  it('shows a refund that is under way, and offers nothing until it has its outcome', async () => {
    const id = await pay();
    const page = await openPayment(id);
    const asked = await page.send('refund', { amount: '10' });
    const stall = simulator.fail({ operation: 'refund', kind: 'stall' });
    const first = asked.send('refund');
    await stall.played;
    for (const shown of [await openPayment(id, 'bora'), await (await asked.send('refund')).follow()]) {
      expect(shown.acts).toEqual([]);
      expect(shown.text).toMatch(/On its way back 10\.00 TRY Left to give back 139\.90 TRY .*10\.00 TRY Under way/);
      expect(shown.text).toContain('No more can be given back until');
    }
    stall.release();
    expect((await (await first).follow()).text).toContain('Refund: Given back.');
    expect(givenBack()).toEqual(['refund 10.00']);
  });

  it('shows what a newer release wrote, without buttons, and does nothing with it', async () => {
    const id = await lose();
    const record = (await store.find('default', id))!;
    const page = await openPayment(id);
    const newer = { ...record, state: 'preauthorized', version: record.version + 1 } as unknown as PaymentRecord;
    expect(await store.replace(newer, record)).toBe('replaced');
    const shown = await openPayment(id);
    expect([shown.status, shown.state, shown.acts]).toEqual([200, 'preauthorized', []]);
    expect(shown.text).toContain('A newer release of the software wrote this state.');
    expect((await open()).status).toBe(200);
    expect((await open(`/payments?q=${id}`)).text).toContain('preauthorized');
    const { fields, url } = page.form('inquire');
    const fingerprint = fingerprintOf(await shop.operations.details(id));
    for (const form of [
      { ...fields },
      { ...fields, shown: fingerprint },
      { ...fields, shown: fingerprint, act: 'resolve', state: 'failed', note: NOTE },
      { ...fields, shown: fingerprint, act: 'refund', amount: '1' },
    ]) {
      expect((await DeskPage.post(url, form)).status).toBe(409);
    }
    expect([await store.find('default', id), StaffAccess.recorded]).toEqual([newer, []]);
  });

  it('at a gateway without refunds, only what was given back elsewhere is written down', async () => {
    const standard = await startSimulator({ dialect: 'standard' });
    const other = await startDesk(platform, standard);
    const { conversationId } = await other.payments.doPayment(sale());
    const page = await DeskPage.get(`${other.url}/desk/payments/${conversationId}`);
    expect([page.state, page.acts]).toEqual(['succeeded', ['recordRefund']]);
    for (const act of ['refund', 'void', 'inquire']) {
      const refused = await page.send('recordRefund', { act, amount: '10', note: NOTE });
      expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('does not allow')]);
    }
    const done = await (await page.confirm('recordRefund', { amount: '10', note: NOTE })).follow();
    expect([done.acts, done.text]).toEqual([['recordRefund'], expect.stringContaining('Left to give back 139.90 TRY')]);
    await other.app.close();
    await standard.close();
  });

  it.each([
    ['a card number', '4508 0345 0803 4509', '**** **** **** ****'],
    ['more than is kept', 'n'.repeat(10_001), 'n'.repeat(1_000)],
  ])('keeps, shows and has recorded a note without %s', async (_what, note, kept) => {
    const id = await pay();
    const asked = await (await openPayment(id)).send('refund', { amount: '10', note });
    const after = await (await asked.send('refund')).follow();
    for (const page of [asked, after]) {
      expect([page.html.includes(kept), page.html.includes(note)]).toEqual([true, false]);
    }
    const details = { amount: '10', note: kept };
    expect(StaffAccess.recorded.map((act) => act.details)).toEqual([details]);
    expect((await shop.payments.refunds(id)).map((refund) => refund.note)).toEqual([kept]);
  });

  it('gives an open page up when the gateway says that nothing was paid', async () => {
    const { reference, transactionDetails } = sale();
    const { payment } = await shop.payments.startHosted({ reference, transactionDetails });
    const page = await openPayment(payment.conversationId);
    expect([page.state, page.acts]).toEqual(['pending', ['inquire', 'abandon']]);
    const after = await (await page.confirm('abandon')).follow();
    expect([after.state, after.text.includes('the page was given up')]).toEqual(['expired', true]);
  });

  it.each([
    ['refund', { amount: '1.234,50' }, 400, 'Type an amount'],
    ['refund', { amount: '0' }, 400, 'Type an amount'],
    ['refund', {}, 400, 'Type an amount'],
    ['refund', { amount: '149.91' }, 400, 'more than is left'],
    ['refund', { amount: '-10' }, 400, 'Type an amount'],
    ['refund', { amount: '1,000' }, 400, 'Type an amount'],
    ['refund', { amount: '10.505' }, 400, 'Type an amount'],
    ['refund', { amount: '1e2' }, 400, 'Type an amount'],
    ['refund', { amount: '10 TL' }, 400, 'Type an amount'],
    ['refund', { amount: '١٠' }, 400, 'Type an amount'],
    ['recordRefund', { amount: '1' }, 400, 'how it was found out'],
    ['refund', { amount: '1', shown: '' }, 400, 'not understood'],
    ['refund', { amount: '1', shown: ' ' }, 400, 'not understood'],
    ['refund', { act: 'drop', amount: '1' }, 400, 'not understood'],
    ['refund', { act: 'inquireRefund', refundId: 'X' }, 404, 'no such record'],
    ['refund', { act: 'resolve', state: 'failed', note: NOTE }, 409, 'does not allow'],
    ['refund', { act: 'toString' }, 400, 'not understood'],
  ])('refuses %s %j, and keeps what was typed', async (act, typed, status, text) => {
    const page = await openPayment(await pay());
    for (const path of ['review', 'acts']) {
      const { url, fields } = page.form(act);
      const refused = await DeskPage.post(url.replace('review', path), { ...fields, note: '', ...typed });
      expect([refused.status, refused.text]).toEqual([status, expect.stringContaining(text)]);
      expect(refused.text).toContain('Nothing was done.');
      if (status === 400 && 'amount' in typed && text.startsWith('T')) expect(refused.html).toContain(typed.amount);
    }
    expect([givenBack(), StaffAccess.recorded]).toEqual([[], []]);
  });

  describe('what happens meanwhile', () => {
    const recordRefund = (conversationId: string) =>
      shop.operations.recordRefund({
        conversationId,
        refundId: `R${conversationId}`,
        amount: '4',
        note: NOTE,
        by: 'Bora',
      });

    it('a double click gives back once, and so does the form that Back brings up again', async () => {
      const page = await openPayment(await pay());
      const asked = await page.send('refund', { amount: '10' });
      const answers = await Promise.all([1, 2, 3].map(() => asked.send('refund')));
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
      for (const again of [await asked.send('refund'), await page.send('refund', { amount: '10' })]) {
        expect([again.status, (await again.follow()).text]).toEqual([303, expect.stringContaining('Given back')]);
      }
      // Another amount from the old page is another refund.
      expect((await page.send('refund', { amount: '11' })).status).toBe(409);
      expect(givenBack()).toEqual(['refund 10.00']);
    });

    it('of two people who give back from the same page at once, one does, and the other is shown it', async () => {
      const id = await pay();
      const pages = await Promise.all(['ada', 'bora'].map((name) => openPayment(id, name)));
      const asked = await Promise.all(pages.map((page, index) => page.send('refund', { amount: `1${index}` })));
      const answers = await Promise.all(asked.map((page) => page.send('refund')));
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
      expect(givenBack()).toHaveLength(1);
      const later = await asked[1]!.send('refund');
      expect([later.status === 303 || later.status === 409, givenBack().length]).toEqual([true, 1]);
      const [first] = givenBack();
      for (const each of await Promise.all(['ada', 'bora'].map((name) => openPayment(id, name)))) {
        expect(each.text).toContain(`${first?.replace('refund ', '')} TRY Given back`);
      }
    });

    it('a payment that has changed is shown as it is now, with what is new', async () => {
      const id = await lose();
      const [page, asked] = [
        await openPayment(id),
        await (await openPayment(id)).send('resolve', { state: 'failed', note: NOTE }),
      ];
      await shop.operations.inquire(id, { by: 'Bora' });
      for (const refused of [
        await page.send('resolve', { state: 'failed', note: NOTE }),
        await asked.send('resolve'),
      ]) {
        expect([refused.status, refused.state]).toEqual([409, 'succeeded']);
        expect(refused.text).toMatch(/This payment changed.*Money was taken by Bora new/);
        expect(refused.html.match(/class="new"/g)).toHaveLength(1);
      }
      expect(StaffAccess.recorded).toEqual([]);
    });

    it('it may change while the act is recorded', async () => {
      const id = await lose();
      const asked = await (await openPayment(id)).send('resolve', { state: 'failed', note: NOTE });
      StaffAccess.whileRecording = () => shop.operations.inquire(id, { by: 'Bora' });
      const refused = await asked.send('resolve');
      expect([refused.status, refused.state]).toEqual([409, 'succeeded']);
    });

    it('nothing is given back of a payment that changed while the act was recorded', async () => {
      const id = await pay();
      const asked = await (await openPayment(id)).send('refund', { amount: '10' });
      StaffAccess.whileRecording = () => recordRefund(id);
      const refused = await asked.send('refund');
      expect([refused.status, refused.text]).toEqual([409, expect.stringMatching(/This payment changed.*145\.90 TRY/)]);
      expect(givenBack()).toEqual([]);
    });

    it('what was done before the page was shown is not what its form did', async () => {
      const id = await lose();
      const typed = { state: 'succeeded', note: NOTE };
      const before = await openPayment(id);
      const page = await (await before.confirm('resolve', typed)).follow();
      await recordRefund(id);
      const { shown = '', seen = '' } = page.form('refund').fields;
      const { url, fields } = before.form('resolve');
      const form = { ...fields, ...typed, shown, seen };
      const refused = await DeskPage.post(url.replace('review', 'acts'), form);
      expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('This payment changed')]);
      expect((await DeskPage.post(url.replace('review', 'acts'), { ...fields, ...typed })).status).toBe(303);
    });

    it.each([
      [new Error('the password is geheim'), 500],
      [new ForbiddenException('geheim'), 403],
    ])('nothing is done when it cannot be recorded: %s', async (error, status) => {
      const id = await pay();
      const asked = await (await openPayment(id)).send('refund', { amount: '10' });
      StaffAccess.whileRecording = () => Promise.reject(error);
      const refused = await asked.send('refund');
      expect([refused.status, refused.text]).toEqual([status, expect.stringContaining('could not be recorded')]);
      expect(refused.text).not.toContain('geheim');
      expect([givenBack(), await shop.payments.refunds(id)]).toEqual([[], []]);
    });

    it('what was not sent is said, and can be tried again', async () => {
      const gone = await startSimulator({ dialect: 'morpos' });
      const cutOff = await startDesk(platform, gone);
      const { conversationId } = await cutOff.payments.doPayment(sale());
      await gone.close();
      const page = await DeskPage.get(`${cutOff.url}/desk/payments/${conversationId}`);
      const refused = await page.confirm('refund', { amount: '10' });
      expect([refused.status, refused.text]).toEqual([503, expect.stringMatching(/was not sent.*Nothing was done/)]);
      expect(refused.acts).toContain('refund');
      await cutOff.app.close();
    });
  });

  describe('events', () => {
    /** A payment whose event the handler could not handle. */
    const park = async (): Promise<string> => {
      const id = await pay();
      await store.fanOut('default', 1_000);
      const lease = { account: 'default', lease: 'l', leaseMs: 60_000, limit: 1_000 };
      const types = ['payment.succeeded'] as const;
      const leased = await store.leaseDeliveries({ ...lease, handlerId: 'Orders.paid', types });
      const own = leased.find(({ event }) => event.payment.conversationId === id);
      await store.postpone(
        { account: 'default', handlerId: 'Orders.paid', eventId: own?.event.eventId ?? '', lease: 'l' },
        { attempts: 15, error: 'Error: no \u202e\u0007\u009broute to <warehouse>', retryInMs: 0, parked: true },
      );
      return id;
    };

    it('of those on their way and those that no handler takes, the number is shown', async () => {
      await pay();
      const { deliveries } = await shop.operations.counts();
      expect(deliveries.waiting).toBeGreaterThan(0);
      expect((await open('')).text).toContain(`Events on their way, or that nothing handles: ${deliveries.waiting}.`);
    });

    it('a parked one is shown with its error, and delivered again', async () => {
      const id = await park();
      for (const path of ['', '/deliveries', `/payments/${id}`]) {
        const { text, html } = await open(path);
        expect(text).toContain('Error: no route to <warehouse>');
        for (const hostile of ['<warehouse>', '\u202e', '\u0007', '\u009b']) expect(html).not.toContain(hostile);
      }
      StaffAccess.staff = { ...StaffAccess.staff, cem: { name: 'Cem', rights: ['look'] } };
      for (const path of ['/deliveries', `/payments/${id}`]) {
        const buttons = await Promise.all(['cem', 'ada'].map(async (name) => (await open(path, name)).html));
        expect(buttons.map((html) => html.includes('deliveries/replay'))).toEqual([false, true]);
      }
      const page = await open('/deliveries');
      const done = await page.send(`Orders.paid`);
      expect([done.status, (await done.follow()).text]).toEqual([
        303,
        expect.stringContaining('being delivered again'),
      ]);
      expect(StaffAccess.recorded).toEqual([
        {
          staff: 'Ada',
          act: 'replay',
          account: 'default',
          conversationId: id,
          details: { handlerId: 'Orders.paid', eventId: `${id}:2` },
        },
      ]);
      expect((await openPayment(id)).text).toContain('The event is on its way to Orders.paid');
      expect((await page.send('Orders.paid')).status).toBe(303);
      expect(StaffAccess.recorded).toHaveLength(1);
    });
  });
});
