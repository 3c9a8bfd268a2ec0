import type { PaymentRecord } from '../../../../lib/payment/payment.js';
import type { SettledPlace } from '../../../../lib/store/payment-store.js';
import { at, ids, type PaymentStoreCase, same, type StoreTrial, unique } from '../store-trial.js';

/** In the order of their bytes in UTF-8, which is neither that of a dictionary nor that of UTF-16. */
const TAILS = ['', '1', '10', '9', 'B', 'Z', 'a', 'i', 'ç', 'İ', 'ı', 'ｚ', '🧾'];

function settledAt(ms: number, changes: Partial<PaymentRecord> = {}): Partial<PaymentRecord> {
  return { state: 'succeeded', finalizedAt: at(ms), updatedAt: at(ms), ...changes };
}

/** What was settled from `from` to `to`, in pages of this size, by both connections in turn. */
async function pagesOf(trial: StoreTrial, [from, to]: readonly [number, number], limit = 100): Promise<string[][]> {
  const pages: string[][] = [];
  let after: SettledPlace | null = null;
  for (;;) {
    const store = trial.racer(pages.length);
    const page: PaymentRecord[] = await store.listSettled({
      account: trial.account,
      from: at(from),
      to: at(to),
      after,
      limit,
    });
    if (page.length === 0) return pages;
    pages.push(ids(page));
    const { finalizedAt, conversationId } = page.at(-1)!;
    after = { finalizedAt: finalizedAt!, conversationId };
  }
}

/** Listing what was settled in a period. */
export const settledCases: readonly PaymentStoreCase[] = [
  {
    name: 'listSettled finds what was settled in a period, its first moment included and its last excluded',
    async run(trial) {
      const record = trial.fullRecord(settledAt(100));
      await trial.put(record);
      await trial.insert(settledAt(99));
      await trial.insert(settledAt(200));
      const failed = await trial.insert(settledAt(199, { state: 'failed' }));
      const expired = await trial.insert(settledAt(150, { state: 'expired' }));
      const page = { account: trial.account, from: at(100), to: at(200), after: null, limit: 10 };
      for (const store of [trial.store, trial.second]) {
        same(await store.listSettled(page), [record, expired, failed]);
      }
    },
  },
  {
    name: 'listSettled lists nothing that is not settled, or is not settled any more',
    async run(trial) {
      await trial.insert({ state: 'unknown', updatedAt: at(100), dueAt: at(100) });
      const failed = await trial.insert(settledAt(100, { state: 'failed' }));
      const kept = await trial.insert(settledAt(101));
      await trial.replace(failed, { state: 'review', finalizedAt: null, updatedAt: at(102) });
      same(await pagesOf(trial, [0, 1_000]), [[kept.conversationId]]);
    },
  },
  {
    name: 'listSettled goes on after each page, and misses and repeats nothing where many have the same time',
    async run(trial) {
      const prefix = unique('id');
      const byTime = [100, 101, 102].map((ms) => TAILS.map((tail) => `${prefix}${ms}${tail}`));
      const stored = byTime.flatMap((names, index) => names.map((conversationId) => ({ conversationId, index })));
      // Neither the order in which they are stored nor that of their ids is the order of the times.
      await trial.inChunks(stored.reverse(), ({ conversationId, index }) =>
        trial.insert(settledAt(102 - index, { conversationId })),
      );
      const all = byTime.reverse().flat();
      for (const limit of [1, 4, TAILS.length, all.length, 100]) {
        const pages = await pagesOf(trial, [100, 103], limit);
        same(pages.flat(), all);
        same(
          pages.map(({ length }) => length).slice(0, -1),
          pages.slice(1).map(() => limit),
        );
      }
    },
  },
  {
    name: 'listSettled goes on after a place whose payment is gone, and from the beginning where the place is before it',
    async run(trial) {
      const [one, two, three] = ['1', '2', '3'].map((tail) => unique(`id${tail}`));
      for (const conversationId of [one, two, three]) await trial.insert(settledAt(100, { conversationId }));
      const list = async (place: SettledPlace) => {
        const page = { account: trial.account, from: at(100), to: at(200), after: place, limit: 10 };
        return ids(await trial.store.listSettled(page));
      };
      same(await list({ finalizedAt: at(100), conversationId: `${one}-gone` }), [two, three]);
      same(await list({ finalizedAt: at(99), conversationId: three! }), [one, two, three]);
      same(await list({ finalizedAt: at(101), conversationId: '' }), []);
    },
  },
  {
    name: 'listSettled lists the payments of one account, and the refunds in theirs',
    async run(trial) {
      const payment = await trial.insert(settledAt(100));
      const refund = trial.refund(payment, settledAt(100));
      await trial.put(refund);
      same(await pagesOf(trial, [0, 1_000]), [[payment.conversationId]]);
      const page = { account: trial.refunds.account, from: at(0), to: at(1_000), after: null, limit: 10 };
      for (const store of [trial.store, trial.second]) same(await store.listSettled(page), [refund]);
    },
  },
];
