import { type Payment, PaymentClock } from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { ClockSetAhead } from '../rigs/clock-set-ahead.js';
import { startTimelessGateway } from '../rigs/simulated-gateway.js';
import { type Merchant, startMerchant } from './merchant.js';

const HOUR = 3_600_000;
const STEP_MS = 5 * 60_000;

let clock: ClockSetAhead;
let simulator: Simulator;
let merchant: Merchant;
let orders = 0;

describe('hosted answers', () => {
  beforeEach(async () => {
    clock = new ClockSetAhead();
    simulator = await startTimelessGateway({ clock: () => clock.now() });
    merchant = await startMerchant('express', simulator, {
      options: { background: false },
      structure: { callback: { waitMs: 500 } },
      override: (builder) => builder.overrideProvider(PaymentClock).useValue(clock),
    });
  });
  afterEach(async () => {
    await merchant.app.close();
    await simulator.close();
  });

  describe('a page that was paid does not end as unpaid because of an answer that does not say so', () => {
    it.each([
      ['an error of its own', { responseCode: 'E5000', responseDescription: 'Internal system error' }, 200],
      ['a code about the merchant', { responseCode: 'B0003' }, 200],
      ['a code about the day', { responseCode: 'B0090' }, 200],
      ["the gateway's own validation", { responseCode: 'RVV0000000012' }, 200],
      ['validation with status 400', { responseCode: 'RVV0000000012' }, 400],
      ['a path that a proxy does not know', { responseCode: '404' }, 404],
      ['a status of the sale that nobody has heard of', { responseCode: 'B0000', transactionStatus: 'CAPTURED' }, 200],
      ['a partial approval', { responseCode: 'B0010' }, 200],
    ])('%s', async (_name, fields, status) => {
      const conversationId = await open();
      simulator.payAtPage(conversationId, { callback: 'none' });
      const answers = answering(fields, status);
      expect((await merchant.payments.abandon(conversationId)).state).not.toBe('expired');
      await pass(3 * HOUR);
      expect(['pending', 'review']).toContain(await stateOf(conversationId));
      answers.release();
      await pass(6 * HOUR);
      expect(['succeeded', 'review']).toContain(await stateOf(conversationId));
    });
  });

  describe('a page that was not paid', () => {
    it.each([
      ['our id and amount', { conversationId: true, amount: '149.90', responseDescription: 'Success' }],
      ['our id alone', { conversationId: true }],
      ['another text', { amount: '149.90', responseDescription: 'Awaiting 3D verification' }],
    ])('is not paid by an approved code with %s', async (_name, more) => {
      const conversationId = await open();
      answering({ responseCode: 'B0000', ...more, conversationId });
      expect(await merchant.payments.inquire(conversationId)).toMatchObject({ state: 'pending' });
    });

    it('is not freed by a code that nobody has heard of, however often it is said', async () => {
      const conversationId = await open();
      answering({ responseCode: 'E5000' });
      expect(await merchant.payments.abandon(conversationId)).toMatchObject({ state: 'pending' });
      await pass(3 * HOUR);
      expect(await stateOf(conversationId)).toBe('pending');
    });

    it.each([
      ['a status that says so', { responseCode: 'B0000', transactionStatus: 'PENDING' }, 200],
      ['a record that is not on file', { responseCode: 'B0025' }, 404],
    ])('is freed by %s', async (_name, fields, status) => {
      const conversationId = await open();
      answering(fields, status);
      await pass(2 * HOUR);
      expect(await stateOf(conversationId)).toBe('expired');
    });
  });

  it('a payment that an operator ended is in review when its page is paid after all', async () => {
    const conversationId = await open();
    const silence = answering({}, 503);
    await pass(30 * HOUR);
    expect(await stateOf(conversationId)).toBe('unknown');
    await merchant.payments.resolve(conversationId, 'failed', 'not in the panel');
    silence.release();
    simulator.payAtPage(conversationId, { callback: 'none' });
    await pass(2 * HOUR);
    expect(await merchant.payments.find(conversationId)).toMatchObject({ state: 'review', reason: 'moved_after_all' });
  });

  it('a buyer whose second card was taken is not told that the first was declined', async () => {
    const conversationId = await open();
    const declined = simulator.payAtPage(conversationId, { cardNo: '4111111111111111' });
    await fetch(declined.request.url, { ...declined.request, redirect: 'manual' });
    expect(await merchant.payments.find(conversationId)).toMatchObject({ state: 'pending', reason: 'declined' });
    const { request } = simulator.payAtPage(conversationId);
    answering({}, 503);
    const answer = await fetch(request.url, { ...request, redirect: 'manual' });
    expect(answer.headers.get('location')).toContain('/pending?');
  });
});

async function open(): Promise<string> {
  orders += 1;
  const transactionDetails = { amount: '149.90', currencyCode: 949 };
  const { conversationId } = await merchant.payments.startHosted({
    reference: `answers-${orders}`,
    transactionDetails,
  });
  return conversationId;
}

/** What the gateway answers to every inquiry from now on. */
function answering(fields: object, status = 200) {
  const play = { kind: 'reply', status, body: JSON.stringify(fields) } as const;
  return simulator.fail({ operation: 'CheckPayment', times: 100_000, ...play });
}

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= STEP_MS) {
    clock.aheadMs += STEP_MS;
    await merchant.payments.reconcile();
  }
}

async function stateOf(conversationId: string): Promise<Payment['state'] | undefined> {
  return (await merchant.payments.find(conversationId))?.state;
}
