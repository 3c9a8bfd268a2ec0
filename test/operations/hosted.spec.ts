import { hashCallbackToken } from '../../lib/operations/opening.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { UNDECIDED } from './fake-gateway.js';
import { isOver, TestShop } from './test-shop.js';

const TOKEN = 'T'.repeat(43);

// What else becomes of pages is in test/scripts/expected/hosted.txt and in test/e2e/hosted.spec.ts.
describe("a callback of the gateway's own page", () => {
  /** A page that may be open, and the callback's answer. */
  async function comeBack(over: Partial<PaymentRecord> = {}) {
    const shop = new TestShop();
    const { settings, receiver } = await shop.start();
    const expiresAt = new Date(shop.clock.now().getTime() + 3_600_000);
    const fields = { state: 'pending', kind: 'hosted', tokenHash: hashCallbackToken(TOKEN), expiresAt } as const;
    const record = aPaymentRecord({ ...fields, gateway: settings.gateways[0], ...over });
    await shop.store.insert(record);
    shop.gateway.willAnswer('CheckPayment', UNDECIDED);
    return { shop, record, answer: receiver.complete(TOKEN, {}) };
  }

  it('asks nobody about a page of another gateway', async () => {
    const { shop, answer } = await comeBack({ gateway: 'other.example 0123456789abcdef' });
    expect((await answer).payment.state).toBe('pending');
    expect(shop.gateway.requests).toEqual([]);
  });

  it('finds what somebody else has learned while it waited', async () => {
    const { shop, record, answer } = await comeBack();
    expect(await isOver(answer)).toBe(false);
    const latest = (await shop.store.find('default', record.conversationId))!;
    await shop.store.replace({ ...latest, state: 'succeeded', dueAt: null, version: latest.version + 1 }, latest);
    await shop.clock.advance(2_000);
    expect((await answer).payment.state).toBe('succeeded');
    expect(shop.gateway.sent('CheckPayment')).toHaveLength(1);
  });
});
