import type { PaymentRecord } from '../../../lib/payment/payment.js';
import type { Delivery } from '../../../lib/store/payment-store.js';
import {
  at,
  eventIds,
  ids,
  leased,
  aPostponement,
  type PaymentStoreCase,
  same,
  type StoreTrial,
  unique,
} from './store-trial.js';

/** Neither in the order of a dictionary nor in that of UTF-16, as they are in that of their bytes. */
const TAILS = ['', '1', '10', '9', 'B', 'Z', 'a', 'i', 'ç', 'İ', 'ı', 'ｚ', '🧾'];
const TIMES = [100, 101, 102];

/** Lists in pages. Each page goes on after the last one of the one before. */
interface Pages {
  page(
    trial: StoreTrial,
    after: unknown,
    limit: number,
  ): Promise<readonly (readonly [time: Date, id: string, place: unknown])[]>;
  readonly isNewestFirst: boolean;
}

const placeOf = ({ createdAt, finalizedAt, conversationId }: PaymentRecord) => ({
  createdAt,
  finalizedAt,
  conversationId,
});

const PAGES: Readonly<Record<string, Pages>> = {
  list: {
    isNewestFirst: true,
    async page({ account, store }, after, limit) {
      const page = {
        account,
        type: 'payment',
        states: ['failed'],
        reference: 'R',
        after: after as never,
        limit,
      } as const;
      const records = await store.list(page);
      return records.map((record) => [record.createdAt, record.conversationId, placeOf(record)]);
    },
  },
  listSettled: {
    isNewestFirst: false,
    async page({ account, store }, after, limit) {
      const page = { account, from: at(100), to: at(103), after: after as never, limit };
      const records = await store.listSettled(page);
      return records.map((record) => [record.finalizedAt!, record.conversationId, placeOf(record)]);
    },
  },
  'listDeliveries of the open': deliveries(false),
  'listDeliveries of the parked': deliveries(true),
};

function deliveries(parked: boolean): Pages {
  return {
    isNewestFirst: false,
    async page({ account, store }, after, limit) {
      const page = await store.listDeliveries({ account, parked, after: after as never, limit });
      return page.map(({ handlerId, event: { eventId, occurredAt } }: Delivery) => [
        occurredAt,
        `${eventId} ${handlerId}`,
        { occurredAt, eventId, handlerId },
      ]);
    },
  };
}

/** Listing records and deliveries. */
export const listCases: readonly PaymentStoreCase[] = [
  ...Object.entries(PAGES).map(([name, { page, isNewestFirst }]): PaymentStoreCase => ({
    name: `${name} goes on after each page, and misses and repeats nothing where many have the same time`,
    async run(trial) {
      const prefix = unique('id');
      const handlers = ['Mail.failed', 'Orders.failed'];
      for (const handler of handlers) await trial.announce(handler, 'payment.failed');
      // Neither the order in which they are stored nor that of their ids is the order of the times.
      for (const [index, tail] of [...TAILS].reverse().entries()) {
        for (const ms of TIMES) {
          const [createdAt, conversationId] = [at(ms), `${prefix}${TIMES.at(-1)! - ms}${tail}${index % 2}`];
          const record = { conversationId, createdAt, updatedAt: createdAt, finalizedAt: createdAt, reference: 'R' };
          await trial.putWithEvent(trial.record({ ...record, state: 'failed' }));
        }
      }
      await trial.fanOut();
      for (const handler of name.includes('parked') ? handlers : []) {
        for (const delivery of await trial.lease(handler, { lease: 'L' })) {
          await trial.store.postpone(leased(delivery, 'L'), aPostponement({ parked: true }));
        }
      }
      const all = (await page(trial, null, 1_000)).map(([time, id]) => ({ time: time.getTime(), id }));
      const sorted = [...all].sort((a, b) => a.time - b.time || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
      same(all, isNewestFirst ? sorted.reverse() : sorted);
      same(all.length, TIMES.length * TAILS.length * (name.includes('Deliveries') ? handlers.length : 1));
      for (const limit of [1, 4, TAILS.length, all.length]) {
        const listed: string[] = [];
        let after: unknown = null;
        for (let turn = 0; listed.length < all.length; turn += 1) {
          const rows = await page(turn % 2 === 0 ? trial : trial.swapped, after, limit);
          same(rows.length, Math.min(limit, all.length - listed.length));
          listed.push(...rows.map(([, id]) => id));
          after = rows.at(-1)![2];
        }
        same(
          listed,
          all.map(({ id }) => id),
        );
        same(await page(trial, after, limit), []);
      }
      same(await page(trial.in(`${trial.account}-other`), null, 10), []);
    },
  })),
  {
    name: 'listSettled lists what was settled in a period, its first moment included and its last excluded, and still is',
    async run(trial) {
      const settled = (ms: number, changes: Partial<PaymentRecord> = {}) =>
        trial.insert({ state: 'succeeded', finalizedAt: at(ms), ...changes });
      const full = await trial.put(trial.fullRecord({ state: 'succeeded', finalizedAt: at(100) }));
      for (const ms of [99, 200]) await settled(ms);
      const failed = await settled(199, { state: 'failed' });
      const expired = await settled(150, { state: 'expired' });
      await trial.insert({ state: 'unknown', updatedAt: at(150), dueAt: at(150) });
      await trial.replace(await settled(150), { state: 'review', finalizedAt: null });
      const refund = await trial.insertRefund(full, { state: 'succeeded', finalizedAt: at(150), referenceLock: null });
      const page = { account: trial.account, from: at(100), to: at(200), after: null, limit: 10 };
      const atOnce = [expired, refund].sort((one, other) => (one.conversationId < other.conversationId ? -1 : 1));
      for (const store of trial.stores) same(await store.listSettled(page), [full, ...atOnce, failed]);
    },
  },
  {
    name: 'a page goes on after a place whose record is gone, and from the beginning where the place is before it',
    async run(trial) {
      const [one, two, three] = ['1', '2', '3'].map((tail) => unique(`id${tail}`));
      for (const conversationId of [one, two, three]) {
        await trial.insert({ state: 'failed', finalizedAt: at(100), createdAt: at(100), conversationId });
      }
      const listed = async (ms: number, conversationId = '') => {
        const { account, store } = trial;
        const after = { finalizedAt: at(ms), createdAt: at(ms), conversationId };
        const settled = { account, from: at(100), to: at(200), after, limit: 10 };
        return [
          ids(await store.listSettled(settled)),
          ids(await store.list({ account, type: 'payment', after, limit: 10 })),
        ];
      };
      same(await listed(100, `${one}-gone`), [[two, three], [one]]);
      same(await listed(99, three), [[one, two, three], []]);
      same(await listed(101), [[], [three, two, one]]);
    },
  },
  {
    name: 'list gives only the states and the reference that are asked for, of payments or of refunds',
    async run(trial) {
      const { account, store } = trial;
      const stored = (ms: number, state: 'unknown' | 'review' | 'failed', reference: string) =>
        trial.insert({ state, reference, createdAt: at(ms), updatedAt: at(100 - ms) });
      const third = await stored(30, 'unknown', 'R');
      const first = await stored(10, 'review', 'R');
      const failed = await stored(0, 'failed', 'R');
      const second = await stored(20, 'unknown', 'Q');
      await stored(25, 'failed', 'Q');
      await trial.in(`${account}-other`).insert({ state: 'unknown', reference: 'R' });
      const open = ['unknown', 'review'] as const;
      const refund = await trial.insertRefund(failed, { state: 'unknown', createdAt: at(40) });
      const byState = async (limit: number, type: 'payment' | 'refund' = 'payment') =>
        ids(await store.list({ account, type, states: open, after: null, limit }));
      same(await byState(10, 'refund'), ids([refund]));
      same([await byState(10), await byState(2)], [ids([third, second, first]), ids([third, second])]);
      const list = async (page: object) =>
        ids(await store.list({ account, type: 'payment', after: null, limit: 10, ...page }));
      same(await list({ states: open }), ids([third, second, first]));
      same(await list({ states: open, reference: 'R' }), ids([third, first]));
      same(await list({ reference: 'R' }), ids([third, first, failed]));
      for (const page of [{}, { states: open }, { reference: 'R' }])
        same(await list({ type: 'refund', ...page }), ids([refund]));
      same([(await list({})).length, await list({ states: [] })], [5, []]);
      same(await trial.findByReference('R'), [failed, first, third]);
      same(await store.findRefunds(account, failed.conversationId), [refund]);
    },
  },
  {
    name: 'otherGateways counts the unsettled records that name another gateway',
    async run(trial) {
      const [own, former, one, two] = [
        'own.example 00',
        'former.example 01',
        `${'o'.repeat(253)}.example 02`,
        'two 03',
      ];
      for (const gateway of [own, former, one, two, null, undefined]) {
        for (const state of ['unknown', 'awaiting', 'failed'] as const) await trial.insert({ state, gateway });
        await trial.insertRefund(await trial.insert({ state: 'succeeded', gateway }), { gateway });
      }
      const others = (gateways: readonly string[]) => trial.second.otherGateways(trial.account, gateways);
      same(await others([own, former]), { [one]: 3, [two]: 3 });
      same(await others([own, former, one, two]), {});
      same(await others([]), { [own]: 3, [former]: 3, [one]: 3, [two]: 3 });
      same(await trial.store.otherGateways(`${trial.account}-other`, []), {});
    },
  },
  {
    name: 'listDeliveries lists those that wait, are leased or postponed as open, and none that is parked, acknowledged or not fanned out',
    async run(trial) {
      const { account, store } = trial;
      const handler = await trial.handler('payment.failed');
      const events: string[] = [];
      for (const ms of [1, 2, 3, 4, 5]) events.push(await trial.publishNew('failed', ms));
      const list = async (parked: boolean) =>
        eventIds(await store.listDeliveries({ account, parked, after: null, limit: 10 }));
      same([await list(false), await list(true)], [[], []]);
      const taken = await trial.take(handler, { lease: 'L' });
      const of = (index: number) =>
        leased(
          taken.find(({ event }) => event.eventId === events[index])!,
          'L',
        );
      await store.postpone(of(1), aPostponement());
      await store.postpone(of(2), aPostponement({ parked: true }));
      await store.acknowledge(account, handler, events[3]!);
      await trial.publishNew('failed');
      same([await list(false), await list(true)], [[events[0], events[1], events[4]], [events[2]]]);
    },
  },
];
