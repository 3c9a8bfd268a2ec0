import assert from 'node:assert/strict';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import type { Delivery } from '../../../lib/store/payment-store.js';
import {
  at,
  casesOf,
  leased,
  aPostponement,
  many,
  type StoreCases,
  same,
  type StoreTrial,
  unique,
} from './store-trial.js';

/** Neither in the order of a dictionary nor in that of UTF-16, as they are in that of their bytes. */
const TAILS = ['', '1', '10', '9', 'B', 'Z', 'a', 'i', 'ç', 'İ', 'ı', 'ｚ', '🧾'];
const TIMES = [100, 101, 102];
/** More than a store looks at in each lease. */
const MANY = 60;

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

/** Listing records and deliveries, and leasing behind many. */
export const listCases: StoreCases = {
  ...casesOf(Object.entries(PAGES), ([name, { page, isNewestFirst }]) => [
    `${name} goes on after each page, and misses and repeats nothing where many have the same time`,
    async (trial) => {
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
  ]),
  'otherGateways counts the unsettled records that name another gateway': async (trial) => {
    const [own, former, one, two] = ['own.example 00', 'former.example 01', `${'o'.repeat(253)}.example 02`, 'two 03'];
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
  'what is due behind many that wait for an earlier version is leased, and these soon after they are free': async (
    trial,
  ) => {
    const handlerId = await trial.handler('payment.unknown', 'payment.succeeded');
    const first = await many(MANY, async () => trial.publish(await trial.insert(), 'unknown', at(1)));
    await trial.fanOut();
    const earlier = await trial.lease(handlerId);
    for (const { record } of first) await trial.publish(record, 'succeeded', at(1));
    await trial.fanOut();
    trial.moveTo(2);
    const behind = [await trial.publishNew('succeeded'), await trial.publishNew('succeeded')];
    await trial.fanOut({ store: trial.second });
    for (const store of trial.stores) {
      const [delivery, ...more] = await trial.lease(handlerId, { limit: 1, store });
      assert.deepEqual([behind.includes(delivery?.event.eventId ?? ''), more], [true, []]);
    }
    same(await trial.lease(handlerId), []);
    for (const { event } of earlier) await trial.store.acknowledge(trial.account, handlerId, event.eventId);
    trial.moveTo(10_000);
    assert.equal((await trial.lease(handlerId)).length, MANY);
  },
};
