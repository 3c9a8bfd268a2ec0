import type { PaymentEvent } from '../../lib/payment/payment-event.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { factsOf, type PaymentState, SALE_STATES } from '../../lib/payment/states.js';
import { advance } from '../../lib/payment/transitions.js';
import type { Settlement } from '../../lib/settlement/outcomes.js';
import { OwedWrites } from '../../lib/settlement/owed-writes.js';
import { PaymentWriter } from '../../lib/settlement/writer.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { NO_HOLD, RULES } from '../operations/assembled-flows.js';
import { logLines } from '../operations/log-lines.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const PUBLISHED: readonly string[] = ['succeeded', 'failed', 'expired', 'unknown', 'review'];
/** The arrows of the table of states, which test/payment writes out a second time. */
const MOVES = SALE_STATES.flatMap((from) =>
  Object.keys(factsOf(from).to).map((to) => [from, to as PaymentState] as const),
);
const CHARGING = aPaymentRecord({ state: 'charging', version: 1 });
const ID = CHARGING.conversationId;
const LINE = `Payment ${ID} of order-1, 149.90 TRY:`;
const succeed: Settlement = (record, now) => advance(record, 'succeeded', { code: 'B0000' }, now);

/** What no script plays: every move, and whatever else may happen to the record meanwhile. */
describe('PaymentWriter', () => {
  const log = logLines();
  let store: MemoryPaymentStore;
  let owed: OwedWrites;
  let writer: PaymentWriter;
  let published: string[];

  beforeEach(() => {
    const clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    published = [];
    owed = new OwedWrites(clock, NO_HOLD);
    const publish = ({ eventId, type }: PaymentEvent) => (published.push(`${eventId} ${type}`), Promise.resolve());
    writer = new PaymentWriter(store, clock, { publish }, owed, RULES);
  });

  async function add(state: PaymentState): Promise<PaymentRecord> {
    const record = { ...CHARGING, state };
    expect(await store.insert(record)).toBeNull();
    return record;
  }

  it.each(MOVES)('moves a payment from %s to %s, with its event if it has one', async (from, to) => {
    const record = await add(from);
    const { outcome, record: moved } = await writer.move(record, to, { reason: 'interrupted' });
    expect([outcome, moved.state, moved.version]).toEqual(['replaced', to, 2]);
    expect(await store.find('default', ID)).toEqual(moved);
    expect(published).toEqual(PUBLISHED.includes(to) ? [`${ID}:2 payment.${to}`] : []);
    expect(log).toEqual([expect.stringContaining(`${LINE} ${to} (interrupted)`)]);
  });

  it('settles nothing that is in a state of a newer release, and logs the outcome', async () => {
    const record = await add('charging');
    const newer = { ...record, version: 2, state: 'preauthorized' as PaymentState };
    await store.replace(newer, record);
    expect(await writer.settle(record, succeed)).toMatchObject({ record: newer, isStored: true });
    expect(await store.find('default', ID)).toEqual(newer);
    const why = 'not written, since a newer release has changed it meanwhile';
    expect([published, log]).toEqual([[], [expect.stringContaining(`error ${LINE} succeeded (B0000): ${why}`)]]);
  });

  it('stores that a failed refund gave money back after all, beside the refund that holds their payment', async () => {
    const refund = { kind: 'refund', parentId: ID, version: 1 } as const;
    const failed = aPaymentRecord({ ...refund, conversationId: 'ONE', state: 'failed' });
    const open = aPaymentRecord({ ...refund, conversationId: 'TWO', state: 'refunding', referenceLock: ID });
    await add('succeeded');
    for (const record of [failed, open]) expect(await store.insert(record)).toBeNull();
    const moved: Settlement = (record, now) => advance(record, 'review', { reason: 'moved_after_all' }, now);
    expect(await writer.settle(failed, moved)).toMatchObject({ record: { state: 'review' }, isStored: true });
    const stored = await store.find('default', 'ONE');
    expect(stored).toMatchObject({ state: 'review', referenceLock: null });
    expect(advance(stored!, 'review', { note: 'asked' }, new Date()).referenceLock).toBeNull();
    expect(await store.find('default', 'TWO')).toEqual(open);
    expect([owed.count, published]).toEqual([0, ['ONE:2 refund.review']]);
  });

  it('does not throw even if the payment has been deleted from the store, and owes nothing', async () => {
    expect(await writer.settle(CHARGING, succeed)).toMatchObject({ record: { state: 'succeeded' }, isStored: false });
    expect(log).toEqual([`error ${LINE} succeeded (B0000): it has been deleted from the store meanwhile.`]);
    expect(owed.count).toBe(0);
  });

  it('tries as often as another writer is first', async () => {
    const record = await add('charging');
    const replace = store.replace.bind(store);
    let others = 0;
    store.replace = async (next, previous, event) => {
      if (others < 5) {
        others += 1;
        const current = (await store.find('default', ID))!;
        await replace({ ...current, inquiries: others, version: current.version + 1 }, current);
      }
      return replace(next, previous, event);
    };
    expect((await writer.settle(record, succeed)).record).toMatchObject({ state: 'succeeded', version: 7 });
    expect(await store.find('default', ID)).toMatchObject({ inquiries: 5 });
  });
});
