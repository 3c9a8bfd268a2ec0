import type { Payment } from 'nestjs-card-payment';
import type { FaultPlay, Simulator } from 'nestjs-card-payment/simulator';
import { sentAs, underHostedNames } from '../rigs/bank-ways.js';
import { approveUnbound } from '../rigs/odd-gateway.js';
import { bring, type MerchantOfSuite, sale, useMerchant } from './merchant.js';

const PENDING = 'https://shop.example/pending?conversationId=ID';
const UNBOUND = { reason: 'unbound', code: 'B0000' };

describe("the bank's fields of a cheap order, sent to the token of an expensive one", () => {
  const options = { background: false };
  const shops = {
    standard: useMerchant({ gateway: { dialect: 'standard' }, options }),
    trusting: useMerchant({ gateway: { dialect: 'standard' }, options: { ...options, trustUnbound: true } }),
    morpos: useMerchant({ options }),
  };
  let simulator: Simulator;
  let shop: MerchantOfSuite;

  function visit(which: keyof typeof shops): void {
    shop = shops[which];
    ({ simulator } = shop);
    simulator.reset();
  }

  async function start(amount = '149.90'): Promise<string> {
    return (await shop.payments.init3d(sale(amount))).conversationId;
  }

  async function post(url: string, fields: Readonly<Record<string, string>>): Promise<Response> {
    return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  }

  /** Where the buyer is sent, or the status of a page. */
  const placeOf = ({ status, headers }: Response, id: string) => headers.get('location')?.replace(id, 'ID') ?? status;

  async function expectNotPaid(dear: string): Promise<Payment | null> {
    expect(simulator.ledger.chargedTimes(dear)).toBe(0);
    const payment = await shop.payments.find(dear);
    expect(payment?.state).not.toBe('succeeded');
    return payment;
  }

  describe.each(['omitId', 'echoId'] as const)('where Auth3d does not name the payment: %s', (how) => {
    // The buyer authenticates the cheap order only. The gateway is asked where it can be, and does not confirm.
    it.each<
      [dialect: 'standard' | 'morpos', sent: string | null, place: unknown, ended: object, asked: [number, number]]
    >([
      ['standard', '', PENDING, { state: 'review', ...UNBOUND }, [1, 0]],
      ['standard', null, PENDING, { state: 'review', ...UNBOUND }, [1, 0]],
      ['standard', 'DEAR', PENDING, { state: 'review', ...UNBOUND }, [1, 0]],
      ['morpos', '', 400, { state: 'awaiting', version: 2 }, [0, 0]],
      ['morpos', null, 400, { state: 'awaiting', version: 2 }, [0, 0]],
      ['morpos', 'DEAR', PENDING, { state: 'unknown', ...UNBOUND }, [1, 1]],
    ])('dialect %s, with the conversationId %j: not paid', async (dialect, sent, place, ended, asked) => {
      visit(dialect);
      approveUnbound(simulator, how);
      const cheap = await start('1.00');
      const dear = await start('9999.00');
      const { conversationId: _cheaps, ...others } = simulator.approve(cheap).fields;
      // The page of the expensive order would have been opened, and left.
      const { url } = simulator.bank.answer(dear, { code: 'cancel' });
      const forged = sent === null ? others : { ...others, conversationId: sent.replace('DEAR', dear) };
      expect(placeOf(await post(url, forged), dear)).toBe(place);
      expect(await expectNotPaid(dear)).toMatchObject(ended);
      expect([simulator.ledger.calls('Auth3d'), simulator.ledger.calls('CheckPayment', dear)]).toEqual(asked);
      if (asked[1] > 0) expect(await shop.payments.inquire(dear)).toMatchObject(ended);
    });
  });

  // What else an inquiry may show is in test/gateway/readings/expected and test/operations/three-d.spec.ts.
  // The gateway knows a 3D payment from Init3d on, and may repeat what it was told of it.
  it.each<[fault: string, play: FaultPlay, ended: object]>([
    ['was cut before the work', { kind: 'reset' }, { state: 'unknown', reason: 'no_answer' }],
    [
      'was approved without naming it',
      { kind: 'reply', status: 200, body: '{"code":"B0000"}' },
      { state: 'unknown', reason: 'unbound' },
    ],
    ['runs', { kind: 'stall' }, { state: 'succeeded' }],
  ])('an inquiry that repeats our id and amount makes no payment paid whose Auth3d %s', async (_what, play, ended) => {
    visit('morpos');
    const id = await start();
    const told = {
      responseCode: 'B0000',
      responseDescription: 'Awaiting 3D verification',
      amount: 149.9,
      currency: 949,
    };
    const body = JSON.stringify({ ...told, conversationId: id });
    simulator.fail({ operation: 'CheckPayment', times: 100, kind: 'reply', status: 200, body });
    const { fields } = simulator.approve(id);
    const fault = simulator.fail({ operation: 'Auth3d', at: 'before', ...play });
    const completing = shop.payments.auth3d({ conversationId: id, fields: { ...fields } });
    await fault.played;
    if (play.kind !== 'stall') await completing;
    expect(await shop.payments.inquire(id)).toMatchObject({ settled: false });
    expect(simulator.ledger.chargedTimes(id)).toBe(0);
    fault.release();
    expect(await completing).toMatchObject(ended);
  });

  it.each(['form', 'get', 'json'] as const)(
    "with the names of the hosted page's fields an honest buyer pays, by %s",
    async (method) => {
      visit('morpos');
      const id = await start();
      const callback = underHostedNames(simulator.approve(id));
      const body = JSON.stringify({ code: 'B0000', conversationId: id, amount: '149.90' });
      simulator.fail({ operation: 'Auth3d', kind: 'reply', status: 200, body });
      const answer = await bring({ request: sentAs(callback, { method }) as typeof callback.request });
      expect(placeOf(answer, id)).toBe('https://shop.example/paid?conversationId=ID');
      const [sent] = simulator.requests.filter(({ operation }) => operation === 'Auth3d');
      expect(sent?.body).toEqual(callback.fields);
    },
  );
});
