import { jest } from '@jest/globals';
import { sale } from '../e2e/merchant.js';
import { DeskPage, EVERYTHING, StaffAccess, useDesk } from './desk-shop.js';

const NOTE = 'as the panel says';
const CARD = '4508034508034509';

type Form = [act: string, typed: Readonly<Record<string, string>>];

/** What is sent twice or at once, and what a store does that fails within an act. */
describe('forms of a desk', () => {
  const shop = useDesk('express');
  beforeEach(() => shop.simulator.reset());

  const openPayment = (id: string, staff = 'ada') =>
    DeskPage.get(`${shop.url}/desk/payments/${id}`, { 'x-staff': staff });
  const pay = async () => (await shop.payments.doPayment(sale())).conversationId;
  const lose = () => {
    shop.simulator.fail({ operation: 'DoPayment', kind: 'close', at: 'after' });
    return pay();
  };
  const given = () => shop.simulator.ledger.refunds.map(({ kind, amount }) => `${kind} ${amount}`);
  /** Sends a form to be done at once. */
  const act = (page: DeskPage, ...[name, typed]: Form) => {
    const { url, fields } = page.form(name);
    return DeskPage.post(url.replace('/review', '/acts'), { ...fields, ...typed });
  };

  describe('of one page make one refund, and only its own form is told so', () => {
    const RECORD: Form = ['recordRefund', { amount: '20', note: NOTE }];
    const REFUND: Form = ['refund', { amount: '20', note: NOTE }];
    const VOID: Form = ['void', { note: NOTE }];
    it.each<[Form, Form, string[], boolean]>([
      [RECORD, REFUND, [], false],
      [REFUND, RECORD, ['refund 20.00'], false],
      [REFUND, VOID, ['refund 20.00'], false],
      [VOID, REFUND, ['void 149.90'], false],
      [VOID, VOID, ['void 149.90'], true],
      [RECORD, ['recordRefund', { amount: '20', note: 'another one' }], [], false],
      [RECORD, RECORD, [], true],
      [REFUND, REFUND, ['refund 20.00'], true],
    ])('%j, then %j', async (first, second, made, isSame) => {
      const [one, other] = [await pay(), await pay()];
      const page = await openPayment(one);
      const statuses = [(await act(page, ...first)).status, (await act(page, ...second)).status];
      expect([statuses, given()]).toEqual([[303, isSame ? 303 : 409], made]);
      const same = await openPayment(other);
      const atOnce = await Promise.all([first, second].map((form) => act(same, ...form)));
      expect(atOnce.map(({ status }) => status).sort()).toEqual([303, isSame ? 303 : 409]);
      expect(given().length).toBeLessThanOrEqual(made.length + 1);
      for (const id of [one, other]) expect(await shop.payments.refunds(id)).toHaveLength(1);
    });
  });

  it.each(['\u0000', CARD])('that name the key %j give back once, by the key of their page', async (idempotencyKey) => {
    const page = await openPayment(await pay());
    const sent = [1, 2].map(() => act(page, 'refund', { amount: '10', idempotencyKey }));
    for (const { status, html } of await Promise.all(sent)) expect([status, html.includes(CARD)]).toEqual([303, false]);
    expect((await act(page, 'refund', { amount: '10', idempotencyKey: 'another' })).status).toBe(303);
    expect(given()).toEqual(['refund 10.00']);
    expect(StaffAccess.recorded.every(({ details }) => Object.keys(details).join() === 'amount')).toBe(true);
  });

  it('of another payment give nothing back, and show nothing of that payment', async () => {
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
    ['+90 555 111 22 33'],
    ['Su\u0308meyye'],
    ['X'.repeat(250)],
    [' Ada '],
  ])('that %j clicks twice give back once, and say so', async (name) => {
    StaffAccess.staff = { ada: { name, rights: EVERYTHING } };
    const page = await openPayment(await pay());
    const answers = await Promise.all([1, 2].map(() => act(page, 'refund', { amount: '10' })));
    answers.push(await act(page, 'refund', { amount: '10' }));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect((await answers[0]!.follow()).text).toContain('Refund: Given back.');
    expect(given()).toEqual(['refund 10.00']);
  });

  it.each<Form>([
    ['resolve', { state: 'succeeded', note: NOTE }],
    ['inquire', {}],
  ])('that are sent twice at once do it once: %s %j', async (name, typed) => {
    const id = await lose();
    const page = await openPayment(id);
    const answers = await Promise.all([1, 2].map(() => act(page, name, typed)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect((await shop.operations.history(id)).map(({ state }) => state)).toEqual(['charging', 'unknown', 'succeeded']);
  });

  it('of two people who give back from the same page at once: one does, and the other is shown it', async () => {
    const id = await pay();
    const pages = await Promise.all(['ada', 'bora'].map((name) => openPayment(id, name)));
    const asked = await Promise.all(pages.map((page, index) => page.send('refund', { amount: `1${index}` })));
    const answers = await Promise.all(asked.map((page) => page.send('refund')));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    expect(given()).toHaveLength(1);
    const [first] = given();
    for (const each of await Promise.all(['ada', 'bora'].map((name) => openPayment(id, name)))) {
      expect(each.text).toContain(`${first?.replace('refund ', '')} TRY Given back`);
    }
  });

  it.each([
    ['its word is lost', ['find'] as const],
    ['it stays away', ['find', 'findRefunds', 'history', 'listDeliveries'] as const],
  ])('when the store fails within an act and %s: it is not said that nothing was done', async (_what, down) => {
    const { store } = shop;
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

  it('when the store fails before an act, nothing was done', async () => {
    const page = await openPayment(await lose());
    jest.spyOn(shop.store, 'find').mockRejectedValue(new Error('down'));
    const answer = await act(page, 'resolve', { state: 'failed', note: NOTE });
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('Nothing was done')]);
  });
});
