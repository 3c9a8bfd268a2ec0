import { Logger } from '@nestjs/common';
import { OperatorFlow } from '../../lib/flows/operator-flow.js';
import { NO_HOLD } from './assembled-flows.js';
import { OwedWrites } from '../../lib/flows/owed-writes.js';
import { PaymentChanges } from '../../lib/flows/payment-changes.js';
import { PaymentReader } from '../../lib/flows/payment-reader.js';
import { PaymentWriter } from '../../lib/flows/payment-writer.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';

describe('OperatorFlow', () => {
  let store: MemoryPaymentStore;
  let flow: OperatorFlow;

  beforeEach(() => {
    Logger.overrideLogger(false);
    store = new MemoryPaymentStore();
    const clock = new TestClock();
    const changes = new PaymentChanges(store, clock, { publish: () => Promise.resolve() });
    const writer = new PaymentWriter(changes, new OwedWrites(changes, clock, NO_HOLD), clock);
    flow = new OperatorFlow(new PaymentReader(store, { account: 'default' }), writer);
  });

  it('tells the second payment of a reference as succeeded when money moved twice', async () => {
    await store.insert(aPaymentRecord({ state: 'succeeded' }));
    const second = { conversationId: 'SECOND', idempotencyKey: null, referenceLock: null };
    await store.insert(aPaymentRecord({ state: 'review', ...second, reason: 'moved_after_all' }));
    const payment = await flow.resolve('SECOND', 'succeeded', 'seen in the panel');
    expect(payment).toMatchObject({ state: 'succeeded', reason: 'operator', settled: true });
    await expect(store.find('default', 'SECOND')).resolves.toMatchObject({ state: 'succeeded', referenceLock: null });
  });

  it('is not put off by an inquiry that was noted meanwhile', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    meanwhile({ ...record, inquiries: 1, version: record.version + 1 });
    await expect(flow.resolve(record.conversationId, 'failed', 'not in the panel')).resolves.toMatchObject({
      state: 'failed',
      version: record.version + 2,
    });
  });

  it('leaves alone what the gateway settled meanwhile', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    meanwhile({ ...record, state: 'succeeded', version: record.version + 1 });
    await expect(flow.resolve(record.conversationId, 'failed', 'not in the panel')).rejects.toMatchObject({
      code: 'PAYMENT_STATE',
      payment: { state: 'succeeded' },
    });
  });

  it('fails as a store error when the store does', async () => {
    await store.insert(aPaymentRecord({ state: 'unknown' }));
    store.replace = () => Promise.reject(new Error('password=secret'));
    await expect(
      flow.resolve(aPaymentRecord({ state: 'unknown' }).conversationId, 'failed', 'x'),
    ).rejects.toMatchObject({
      code: 'PAYMENT_STORE',
      message: expect.not.stringContaining('secret') as string,
    });
  });

  it.each(['unknown', 'review'] as const)('keeps with one that was %s who found out, and how', async (state) => {
    const record = aPaymentRecord({ state });
    await store.insert(record);
    await flow.resolve(record.conversationId, 'failed', 'Ada, in the panel');
    const history = await store.history('default', record.conversationId);
    expect(history.at(-1)).toMatchObject({ state: 'failed', reason: 'operator', note: 'Ada, in the panel' });
  });

  it('keeps no more of the card in a note than its mask shows', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    await flow.resolve(record.conversationId, 'failed', 'Ada saw 45080345 and 08034509 in the panel, order 20261234');
    const { note } = (await store.find('default', record.conversationId))!;
    expect(note).toBe('Ada saw ******** and ******** in the panel, order ********');
  });

  it('keeps no card number and no control character of a note, and no more than a thousand characters', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    const note = `4508 0345 0803 4509\r\n5406675406675403 ${'x'.repeat(2_000)}`;
    await flow.resolve(record.conversationId, 'failed', note);
    const kept = (await store.find('default', record.conversationId))!.note!;
    expect(kept).toMatch(/^\*{4} \*{4} \*{4} \*{4} {2}\*{3} x/);
    expect(kept).not.toMatch(/\d/);
    expect(kept).not.toMatch(/0345|5406675406675403|[\r\n]/);
    expect(kept.length).toBeLessThanOrEqual(1_000);
  });

  it.each<[string, unknown, unknown, string]>([
    ['another state', 'review', 'seen', 'state'],
    ['no state', undefined, 'seen', 'state'],
    ['an empty note', 'failed', ' ', 'note'],
    ['no note', 'failed', undefined, 'note'],
    ['a note that is no text', 'failed', { toString: () => 'seen' }, 'note'],
  ])('refuses %s, and writes nothing', async (_what, state, note, path) => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    await expect(flow.resolve(record.conversationId, state as 'failed', note as string)).rejects.toMatchObject({
      code: 'PAYMENT_VALIDATION',
      issues: [{ path }],
    });
    expect(await store.find('default', record.conversationId)).toEqual(record);
  });

  it('refuses a payment that nobody knows', async () => {
    await expect(flow.resolve('NOBODY', 'failed', 'x')).rejects.toMatchObject({ code: 'PAYMENT_NOT_FOUND' });
  });

  /** Someone else writes between the look and the write. */
  function meanwhile(newer: PaymentRecord): void {
    const replace = store.replace.bind(store);
    store.replace = async (...args) => {
      store.replace = replace;
      await replace(newer, newer.version - 1);
      return replace(...args);
    };
  }
});
