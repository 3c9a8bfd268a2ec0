import { Logger } from '@nestjs/common';
import { PaymentChanges } from '../../lib/flows/payment-changes.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { EVENT_STATES, isEventState } from '../../lib/payment/payment-event.js';
import { advance, TRANSITIONS } from '../../lib/payment/states.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';

const TYPES = EVENT_STATES.map((state) => `payment.${state}` as const);
const MOVES = Object.entries(TRANSITIONS).flatMap(([from, all]) => all.map((to) => [from, to] as const));

describe('PaymentChanges', () => {
  let store: MemoryPaymentStore;
  let clock: TestClock;
  let changes: PaymentChanges;
  let published: string[];

  beforeEach(async () => {
    Logger.overrideLogger(false);
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    published = [];
    changes = new PaymentChanges(store, clock, {
      publish: ({ eventId }) => Promise.resolve(void published.push(eventId)),
    });
    await store.announce(
      'default',
      TYPES.map((type) => ({ handlerId: 'handler', type })),
    );
  });

  /** Events that the store holds for handlers, wherever the process ends. */
  async function waiting(): Promise<string[]> {
    await store.fanOut('default', 10);
    const lease = { account: 'default', handlerId: 'handler', types: TYPES, lease: 'lease', leaseMs: 1, limit: 10 };
    return (await store.leaseDeliveries(lease)).map(({ event }) => `${event.eventId} ${event.type}`);
  }

  async function opened(state: PaymentRecord['state']): Promise<PaymentRecord> {
    const record = aPaymentRecord({ state, version: 1 });
    await store.insert(record);
    return record;
  }

  it.each(MOVES)('from %s to %s writes the event with the state, and publishes it', async (from, to) => {
    const record = await opened(from as PaymentRecord['state']);
    const id = `${record.conversationId}:2`;
    expect(await changes.replace(record, advance(record, to, {}, clock.now()))).toBe('replaced');
    expect(await waiting()).toEqual(isEventState(to) ? [`${id} payment.${to}`] : []);
    expect(published).toEqual(isEventState(to) ? [id] : []);
  });

  it('of a settlement are written with their event; publishing it is left to the caller', async () => {
    const record = await opened('charging');
    const settled = await changes.settle(record, (current, now) => advance(current, 'failed', {}, now));
    expect(settled).toMatchObject({ payment: { state: 'failed' }, event: { type: 'payment.failed' } });
    expect(await waiting()).toEqual([`${record.conversationId}:2 payment.failed`]);
    expect(published).toEqual([]);
    await changes.publish(settled);
    expect(published).toEqual([`${record.conversationId}:2`]);
  });

  it('of a settlement are tried as often as someone else is first', async () => {
    const record = await opened('charging');
    const replace = store.replace.bind(store);
    let others = 0;
    store.replace = async (next, expected, event) => {
      if (others < 5) {
        others += 1;
        const current = (await store.find('default', record.conversationId))!;
        await replace({ ...current, inquiries: others, version: current.version + 1 }, current.version);
      }
      return replace(next, expected, event);
    };
    const { payment } = await changes.settle(record, (current, now) => advance(current, 'succeeded', {}, now));
    expect(payment).toMatchObject({ state: 'succeeded', version: 7 });
    expect(await store.find('default', record.conversationId)).toMatchObject({ inquiries: 5 });
  });

  it('leave what a settlement finds settled as it is', async () => {
    const record = await opened('succeeded');
    expect(await changes.settle(record, () => null)).toMatchObject({ payment: { state: 'succeeded', version: 1 } });
    expect(await waiting()).toEqual([]);
  });

  it('reject with what the store throws', async () => {
    const record = await opened('charging');
    store.replace = () => Promise.reject(new Error('down'));
    await expect(changes.replace(record, advance(record, 'failed', {}, clock.now()))).rejects.toThrow('down');
    await expect(changes.settle(record, (current, now) => advance(current, 'failed', {}, now))).rejects.toThrow('down');
    expect(published).toEqual([]);
  });
});
