import type { PaymentReason } from 'nestjs-card-payment';
import { type FaultMoment, type FaultPlay, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { ODD } from '../rigs/odd-answers.js';
import { CASES } from './reply-rows.js';
import { type Attempt, type Endpoint, Shop } from './shop.js';

let simulator: Simulator;
let patient: Shop;
/** For faults that only the deadline ends. */
let hurried: Shop;

describe('replies', () => {
  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    patient = await Shop.open(simulator, { timeoutMs: 60_000, verifySign: true });
    hurried = await Shop.open(simulator, { timeoutMs: 400, verifySign: true });
  });
  afterEach(() => simulator.reset());
  afterAll(async () => {
    await patient.close();
    await hurried.close();
    await simulator.close();
  });

  describe.each(['DoPayment', 'Auth3d'] as const)('%s', (endpoint) => {
    it.each(CASES)('$name: $charge.0, $charge.1', async ({ play, at, charge: [state, reason] }) => {
      const attempt = await meet(endpoint, at, play);
      const { payment, shop } = attempt;
      const isCharged = at === 'after';
      expect([payment.state, payment.reason]).toEqual([state, reason]);
      expect(simulator.ledger.chargedTimes(payment.conversationId)).toBe(isCharged ? 1 : 0);

      // An inquiry settles what the answer left open, when the gateway knows the payment; otherwise it stays unknown.
      if (state !== 'unknown') return;
      const { state: asked } = await shop.payments.inquire(payment.conversationId);
      expect(asked).toBe(isCharged ? 'succeeded' : 'unknown');
      expectOneTransmission(endpoint, attempt);
    });
  });

  describe('B0000 to Auth3d that does not name the payment', () => {
    let trusting: Shop;
    let asking: Shop;
    beforeAll(async () => {
      asking = await Shop.open(simulator, { timeoutMs: 400 });
      trusting = await Shop.open(simulator, { trustUnbound: true });
    });
    afterAll(() => Promise.all([asking.close(), trusting.close()]));
    beforeEach(() => simulator.fail({ operation: 'Auth3d', ...ODD['bare-code'] }));

    it('is confirmed by an inquiry at once', async () => {
      const attempt = await asking.call('Auth3d');
      expect([attempt.payment.state, attempt.payment.reason]).toEqual(['succeeded', null]);
      expect(simulator.ledger.calls('CheckPayment')).toBe(1);
      expectOneTransmission('Auth3d', attempt);
    });

    it.each<[string, FaultPlay]>([
      ['reset', { kind: 'reset' }],
      ['stalled', { kind: 'stall' }],
      ['half an answer', { kind: 'half-reply' }],
      ['502', { kind: 'status', status: 502 }],
      ['401, as where the scope does not suffice', { kind: 'status', status: 401 }],
      ['HTML', ODD.html],
    ])('stays unknown when the inquiry is met by %s, and is settled by the next', async (_fault, play) => {
      simulator.fail({ operation: 'CheckPayment', ...play });
      const attempt = await asking.call('Auth3d');
      const { conversationId, state, reason } = attempt.payment;
      expect([state, reason]).toEqual(['unknown', 'unbound']);
      expect(await asking.payments.find(conversationId)).toEqual(attempt.payment);
      expect((await asking.payments.inquire(conversationId)).state).toBe('succeeded');
      expectOneTransmission('Auth3d', attempt);
    });

    it('is believed where the merchant says so', async () => {
      expect((await trusting.call('Auth3d')).payment.state).toBe('succeeded');
      expect(simulator.ledger.calls('CheckPayment')).toBe(0);
    });
  });

  describe('Init3d', () => {
    it.each(CASES.filter(({ init3d }) => init3d !== undefined))('$name: $init3d', async ({ play, at, init3d }) => {
      expectStart(await meet('Init3d', at, play), init3d ?? null);
    });

    it.each(['page-not-base64', 'page-not-html', 'page-missing', 'page-twice'] as const)('%s', async (name) => {
      expectStart(await meet('Init3d', 'after', ODD[name]), 'unreadable');
    });

    function expectStart({ payment, thrown, html }: Attempt, reason: PaymentReason | null): void {
      expect([payment.state, payment.reason, thrown, html !== null]).toEqual(
        reason === null ? ['awaiting', null, null, true] : ['failed', reason, 'PaymentInit3dError', false],
      );
      expect(simulator.ledger.charges).toEqual([]);
    }
  });
});

/** Calls the endpoint, whose request meets the fault. */
async function meet(endpoint: Endpoint, at: FaultMoment, play: FaultPlay): Promise<Attempt & { readonly shop: Shop }> {
  const shop = play.kind === 'stall' ? hurried : patient;
  simulator.fail({ operation: endpoint, at, ...play });
  const attempt = await shop.call(endpoint);
  expect(await shop.payments.find(attempt.payment.conversationId)).toEqual(attempt.payment);
  expectOneTransmission(endpoint, attempt);
  return { ...attempt, shop };
}

function expectOneTransmission(endpoint: Endpoint, { payment }: Attempt): void {
  const { ledger } = simulator;
  expect([ledger.calls(endpoint), ledger.violations]).toEqual([1, []]);
  expect(ledger.chargedTimes(payment.conversationId)).toBeLessThanOrEqual(1);
}
