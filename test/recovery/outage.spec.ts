import { newConversationId } from 'nestjs-card-payment';
import { type Instance, Merchant, STORES } from './merchant.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const UNKNOWN = 1_000;
const MAX_FUTILE_INQUIRIES = 20;
const MAX_PAYMENTS_PER_PASS = 200;
const PASS_MS = 2_000;

describe.each(Object.entries(STORES))(
  `an outage of the gateway with ${UNKNOWN} unknown payments, on %s`,
  (_name, openStore) => {
    let merchant: Merchant;
    let instance: Instance;

    beforeEach(async () => {
      merchant = await Merchant.open(await openStore());
      instance = await merchant.start();
      const { store, clock } = merchant;
      for (let payments = 0; payments < UNKNOWN; payments += 1) {
        const conversationId = newConversationId();
        const own = { conversationId, reference: conversationId, referenceLock: conversationId, idempotencyKey: null };
        await store.insert(aPaymentRecord({ state: 'unknown', ...own, version: 1, dueAt: clock.now() }));
      }
    }, 60_000);
    afterEach(() => merchant.close());

    /** How often each pass asked the gateway. */
    async function passes(count: number): Promise<number[]> {
      const { simulator, clock } = merchant;
      const asked: number[] = [];
      for (let pass = 0; pass < count; pass += 1) {
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
      const answered = await passes(60);
      expect(Math.max(...answered)).toBeLessThanOrEqual(MAX_PAYMENTS_PER_PASS);
      expect(answered.reduce((sum, asked) => sum + asked)).toBe(UNKNOWN);
      expect(
        await store.list({ account: 'default', type: 'payment', states: ['unknown'], after: null, limit: UNKNOWN }),
      ).toEqual([]);
    }, 60_000);
  },
);
