import type { Payment } from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { sentAs, underHostedNames } from '../rigs/bank-ways.js';
import { ODD } from '../rigs/odd-answers.js';
import { approveUnbound, showInInquiries } from '../rigs/odd-gateway.js';
import { bring, type MerchantOfSuite, sale, useMerchant } from './merchant.js';

const FORM = 'application/x-www-form-urlencoded';

/** What the buyer sends instead of the cheap order's conversationId. */
const FORGERIES: readonly (readonly [string, (dear: string) => string | null])[] = [
  ['empty', () => ''],
  ['left out', () => null],
  ["the dear order's", (dear) => dear],
];

describe("the bank's fields of a cheap order, sent to the token of an expensive one", () => {
  const shops = {
    standard: useMerchant({ gateway: { dialect: 'standard' } }),
    trusting: useMerchant({ gateway: { dialect: 'standard' }, options: { trustUnbound: true } }),
    morpos: useMerchant(),
  };
  let simulator: Simulator;
  let shop: MerchantOfSuite;

  function visit(which: keyof typeof shops): void {
    shop = shops[which];
    ({ simulator } = shop);
    simulator.reset();
  }

  /** The buyer authenticates the cheap order only, and sends its fields to the expensive one. */
  async function attack(forge: (dear: string) => string | null): Promise<{ answer: Response; dear: string }> {
    const cheap = await shop.payments.init3d(sale('1.00'));
    const { conversationId: dear } = await shop.payments.init3d(sale('9999.00'));
    const { fields } = simulator.approve(cheap.conversationId);
    // The page of the expensive order would have been opened, and left.
    const { url } = simulator.bank.answer(dear, { code: 'cancel' });
    const { conversationId: _cheaps, ...others } = fields;
    const forged = forge(dear);
    return { answer: await post(url, forged === null ? others : { ...others, conversationId: forged }), dear };
  }

  async function expectNotPaid(dear: string): Promise<Payment | null> {
    expect(simulator.ledger.chargedTimes(dear)).toBe(0);
    const payment = await shop.payments.find(dear);
    expect(payment?.state).not.toBe('succeeded');
    return payment;
  }

  describe.each(['omitId', 'echoId'] as const)('where Auth3d does not name the payment: %s', (how) => {
    it.each(FORGERIES)(
      'with the conversationId %s, dialect standard: for a person to look at',
      async (_forgery, forge) => {
        visit('standard');
        approveUnbound(simulator, how);
        const { answer, dear } = await attack(forge);
        expect(answer.headers.get('location')).toBe(`https://shop.example/pending?conversationId=${dear}`);
        expect(await expectNotPaid(dear)).toMatchObject({ state: 'review', reason: 'unbound', code: 'B0000' });
      },
    );

    it.each(FORGERIES.slice(0, 2))('with the conversationId %s, dialect morpos: refused', async (_forgery, forge) => {
      visit('morpos');
      approveUnbound(simulator, how);
      const { answer, dear } = await attack(forge);
      expect(answer.status).toBe(400);
      expect(await expectNotPaid(dear)).toMatchObject({ state: 'awaiting', version: 2 });
      expect(simulator.ledger.calls('Auth3d')).toBe(0);
    });

    it("with the expensive order's conversationId, dialect morpos: the gateway is asked, and does not confirm", async () => {
      visit('morpos');
      approveUnbound(simulator, how);
      const { answer, dear } = await attack((id) => id);
      expect(answer.headers.get('location')).toContain('/pending?');
      expect(await expectNotPaid(dear)).toMatchObject({ state: 'unknown', reason: 'unbound' });
      expect(simulator.ledger.calls('CheckPayment', dear)).toBe(1);
      expect(await shop.payments.inquire(dear)).toMatchObject({ state: 'unknown', reason: 'unbound' });
    });

    it('an honest buyer pays, dialect morpos: the gateway confirms at once', async () => {
      visit('morpos');
      approveUnbound(simulator, how);
      const { conversationId } = await shop.payments.init3d(sale());
      const callback = simulator.approve(conversationId);
      const answer = await post(callback.url, callback.fields);
      expect(answer.headers.get('location')).toBe(`https://shop.example/paid?conversationId=${conversationId}`);
      expect(await shop.payments.find(conversationId)).toMatchObject({
        state: 'succeeded',
        reason: null,
        version: 4,
        orderId: callback.fields.OrderId,
        chargedAmount: '149.90',
      });
      expect(simulator.ledger.calls('CheckPayment', conversationId)).toBe(1);
    });

    it('an honest buyer pays, trustUnbound: the gateway is not asked', async () => {
      visit('trusting');
      approveUnbound(simulator, how);
      const { conversationId } = await shop.payments.init3d(sale());
      await bring(simulator.approve(conversationId));
      expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'succeeded', reason: null });
    });
  });

  describe.each(['code', 'text', 'status', 'id', 'amount'] as const)(
    'where an inquiry shows a code and %s',
    (shown) => {
      const settled = shown === 'text' || shown === 'status' ? 'succeeded' : 'unknown';

      it(`a direct payment whose answer was lost is then ${settled}`, async () => {
        visit('morpos');
        showInInquiries(simulator, shown);
        simulator.fail({ operation: 'DoPayment', kind: 'reset', at: 'after' });
        const { conversationId, state } = await shop.payments.doPayment(sale());
        expect(state).toBe('unknown');
        expect(await shop.payments.inquire(conversationId)).toMatchObject({ state: settled });
      });
    },
  );

  it('where Auth3d names what it approved: another payment, for a person to look at', async () => {
    visit('morpos');
    const cheap = await shop.payments.init3d(sale('1.00'));
    const { conversationId: dear } = await shop.payments.init3d(sale('9999.00'));
    simulator.fail({
      operation: 'Auth3d',
      kind: 'reply',
      status: 200,
      body: JSON.stringify({ code: 'B0000', conversationId: dear, amount: '1.00' }),
    });
    const { fields } = simulator.approve(cheap.conversationId);
    await post(simulator.approve(dear).url, { ...fields, conversationId: dear });
    expect(await expectNotPaid(dear)).toMatchObject({ state: 'review', reason: 'amount_mismatch' });
  });

  it('a direct payment is approved by the code alone', async () => {
    visit('standard');
    simulator.fail({ operation: 'DoPayment', ...ODD['bare-code'] });
    expect(await shop.payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
  });

  describe("with the fields' names of the hosted page", () => {
    it.each(['form', 'get', 'json'] as const)('an honest buyer pays, by %s', async (method) => {
      visit('morpos');
      const { conversationId } = await shop.payments.init3d(sale());
      const callback = underHostedNames(simulator.approve(conversationId));
      const body = JSON.stringify({ code: 'B0000', conversationId, amount: '149.90' });
      simulator.fail({ operation: 'Auth3d', kind: 'reply', status: 200, body });
      const answer = await bring({ request: sentAs(callback, { method }) as typeof callback.request });
      expect(answer.headers.get('location')).toBe(`https://shop.example/paid?conversationId=${conversationId}`);
      const [sent] = simulator.requests.filter(({ operation }) => operation === 'Auth3d');
      expect(sent?.body).toEqual(callback.fields);
    });
  });
});

function post(url: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  const body = new URLSearchParams(fields).toString();
  return fetch(url, { method: 'POST', headers: { 'content-type': FORM }, body, redirect: 'manual' });
}
