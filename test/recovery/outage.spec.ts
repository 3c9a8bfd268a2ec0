import { newConversationId } from 'nestjs-card-payment';
import { type Instance, Merchant } from './merchant.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const UNKNOWN = 500;
const MAX_FUTILE_INQUIRIES = 20;
const MAX_PAYMENTS_PER_PASS = 200;
const MAX_PASSES = 60;
const PASS_MS = 2_000;

describe(`an outage of the gateway with ${UNKNOWN} unknown payments`, () => {
  let merchant: Merchant;
  let instance: Instance;

  beforeEach(async () => {
    merchant = await Merchant.open();
    instance = await merchant.start();
    const { store, clock } = merchant;
    const records = Array.from({ length: UNKNOWN }, () => {
      const conversationId = newConversationId();
      const own = { conversationId, reference: conversationId, referenceLock: conversationId, idempotencyKey: null };
      return aPaymentRecord({ state: 'unknown', ...own, version: 1, dueAt: clock.now() });
    });
    await Promise.all(records.map((record) => store.insert(record)));
  }, 60_000);
  afterEach(() => merchant.close());

  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

  /** How often each of so many passes asked the gateway, until that was often enough. */
  async function passes(most: number, enough = Infinity): Promise<number[]> {
    const { simulator, clock } = merchant;
    const asked: number[] = [];
    while (asked.length < most && sum(asked) < enough) {
      const before = simulator.ledger.calls('CheckPayment');
      await instance.payments.reconcile();
      asked.push(simulator.ledger.calls('CheckPayment') - before);
      await clock.advance(PASS_MS);
    }
    return asked;
  }

  it('asks little while it lasts, and does not flood the gateway when it is over', async () => {
    const { simulator, store } = merchant;
    const outage = simulator.fail({ operation: 'CheckPayment', kind: 'reset', times: Infinity });
    const inVain = await passes(30);
    expect(Math.max(...inVain)).toBeLessThanOrEqual(MAX_FUTILE_INQUIRIES);
    expect(inVain[0]).toBeGreaterThan(0);

    outage.release();
    const body = '{"responseCode":"B0000","responseDescription":"Approved"}';
    simulator.fail({ operation: 'CheckPayment', kind: 'reply', status: 200, body, times: Infinity });
    const answered = await passes(MAX_PASSES, UNKNOWN);
    expect(Math.max(...answered)).toBeLessThanOrEqual(MAX_PAYMENTS_PER_PASS);
    expect(sum(answered)).toBe(UNKNOWN);
    expect(
      await store.list({ account: 'default', type: 'payment', states: ['unknown'], after: null, limit: UNKNOWN }),
    ).toEqual([]);
  }, 60_000);
});
