import assert from 'node:assert/strict';
import type { PaymentRecord } from '../../../../lib/payment/payment.js';
import type { PaymentStore } from '../../../../lib/store/payment-store.js';
import { at, eventIds, type PaymentStoreCase, RACERS, same, type StoreTrial, unique } from '../store-trial.js';

/** Payments that each have three events of `unknown`. */
async function publishVersions(trial: StoreTrial, payments: number): Promise<PaymentRecord[]> {
  const records = await Promise.all(Array.from({ length: payments }, () => trial.insert()));
  return Promise.all(
    records.map(async (inserted, index) => {
      let record = inserted;
      for (let version = 2; version <= 4; version += 1) {
        ({ record } = await trial.publish(record, 'unknown', at(version), trial.racer(index)));
      }
      return record;
    }),
  );
}

/**
 * Leases deliveries to a handler, notes the ids of their events, and then acknowledges them. The order matters: once
 * one is acknowledged, another worker may take the next one of its payment.
 */
async function work(trial: StoreTrial, handlerId: string, store: PaymentStore, noted: string[]): Promise<void> {
  const taken = eventIds(await trial.lease(handlerId, { store, limit: 5 }));
  noted.push(...taken);
  for (const eventId of taken) await store.acknowledge(trial.account, handlerId, eventId);
}

/** Announcing handlers, and creating deliveries for the events that wait for them. */
export const fanOutCases: readonly PaymentStoreCase[] = [
  {
    name: 'announce adds pairs to a handler id and removes none',
    async run(trial) {
      const handler = await trial.handler('payment.failed', 'payment.expired');
      await trial.announce(handler, 'payment.failed');
      await trial.announce(handler, 'payment.review');
      await trial.store.announce(trial.account, []);
      const published: string[] = [];
      for (const state of ['failed', 'expired', 'review'] as const) {
        published.push(await trial.publishNew(state));
      }
      same((await trial.drain(handler)).sort(), published.sort());
    },
  },
  {
    name: 'announcing a handler in another account has no effect in this one',
    async run(trial) {
      const handler = unique('Orders.failed');
      const pair = { handlerId: handler, type: 'payment.failed' } as const;
      await trial.store.announce(`${trial.account}-other`, [pair]);
      const eventId = await trial.publishNew('failed');
      assert.equal(await trial.fanOut(), 0);
      same(await trial.lease(handler), []);
      await trial.store.announce(trial.account, [pair]);
      same(await trial.drain(handler), [eventId]);
    },
  },
  {
    name: 'announcing again makes no second delivery',
    async run(trial) {
      const { handler, eventId } = await trial.oneEvent();
      const again = () =>
        trial.race((store) => store.announce(trial.account, [{ handlerId: handler, type: 'payment.failed' }]));
      await again();
      same(eventIds(await trial.take(handler)), [eventId]);
      await trial.acknowledge(handler, eventId);
      await again();
      trial.moveTo(1_000_000);
      await again();
      same(await trial.take(handler), []);
    },
  },
  {
    name: 'a handler that is announced while events are written and fanned out gets each of them once',
    async run(trial) {
      const records = await Promise.all(Array.from({ length: RACERS }, () => trial.insert()));
      const handlerId = unique('Orders.failed');
      await Promise.all([
        ...records.map((record, index) => trial.publish(record, 'failed', at(index), trial.racer(index))),
        trial.second.announce(trial.account, [{ handlerId, type: 'payment.failed' }]),
        ...[0, 1, 2, 3].map((index) => trial.fanOut({ store: trial.racer(index) })),
      ]);
      const delivered = await trial.drain(handlerId);
      same(delivered.sort(), records.map((record) => `${record.conversationId}:2`).sort());
    },
  },
  {
    name: 'an event that is written before any handler is known waits for the first ones, and does not reach later ones',
    async run(trial) {
      await trial.handler('payment.failed');
      const [first, second] = await trial.publishTwice();
      const record = await trial.insertWithEvent('expired');
      assert.equal(await trial.fanOut(), 0);
      assert.equal((await trial.counts()).waitingEvents, 3);

      const one = await trial.handler('payment.unknown', 'payment.succeeded', 'payment.expired');
      const two = await trial.handler('payment.succeeded');
      assert.equal(await trial.fanOut({ store: trial.second }), 3);
      const late = await trial.handler('payment.unknown', 'payment.succeeded', 'payment.expired');
      assert.equal(await trial.fanOut(), 0);
      same(await trial.drain(late), []);
      same(await trial.drain(two), [second]);
      same((await trial.drain(one)).sort(), [first, second, `${record.conversationId}:1`].sort());
    },
  },
  {
    name: 'events of types that no handler takes delay no other event, and keep waiting',
    async run(trial) {
      const handler = await trial.handler('payment.succeeded');
      const waiting: string[] = [];
      for (let ms = 1; ms <= 20; ms += 1) {
        waiting.push(await trial.publishNew('expired', ms));
      }
      const [unknown, succeeded] = await trial.publishTwice();
      assert.equal(await trial.fanOut({ limit: 1 }), 1);
      same(await trial.drain(handler), [succeeded]);
      await trial.announce(handler, 'payment.expired', 'payment.unknown');
      same((await trial.drain(handler)).sort(), [...waiting, unknown].sort());
    },
  },
  {
    name: 'fanOut takes all waiting events of a payment together, and as many payments as the limit says',
    async run(trial) {
      const handler = await trial.handler('payment.unknown');
      const records = await publishVersions(trial, 5);
      const fannedOut: number[] = [];
      for (let step = 0; step < 4; step += 1) fannedOut.push(await trial.fanOut({ limit: 2 }));
      same(fannedOut, [6, 6, 3, 0]);
      same((await trial.drain(handler)).length, 3 * records.length);
    },
  },
  {
    name: 'fanOut makes deliveries due at once, by the store’s time',
    async run(trial) {
      trial.moveTo(5_000);
      const handler = await trial.handler('payment.failed');
      const early = await trial.publishNew('failed');
      const future = await trial.publishNew('failed', 9_000_000);
      const found = eventIds(await trial.take(handler));
      same(found.sort(), [early, future].sort());
    },
  },
  {
    name: 'fanOut in another account has no effect in this one',
    async run(trial) {
      const { handler, eventId } = await trial.oneEvent();
      assert.equal(await trial.store.fanOut(`${trial.account}-other`, 10), 0);
      same(await trial.lease(handler), []);
      same(await trial.drain(handler), [eventId]);
    },
  },
  {
    name: 'an event that is written late is fanned out, although a newer one was fanned out before',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const slow = await trial.insert({ createdAt: at(1) });
      const quick = await trial.insert({ createdAt: at(2) });
      const first = await trial.publish(quick, 'failed', at(20));
      same(await trial.drain(handler), [first.event.eventId]);
      const second = await trial.publish(slow, 'failed', at(10), trial.second);
      same(await trial.drain(handler), [second.event.eventId]);
    },
  },
  {
    name: 'events that are written while others are fanned out are all fanned out in the end',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const records = await Promise.all(Array.from({ length: 48 }, () => trial.insert()));
      const fanOuts: Promise<number>[] = [];
      await trial.race(async (store, index) => {
        await trial.publish(records[index]!, 'failed', at(index), store);
        fanOuts.push(trial.fanOut({ limit: 4, store: trial.racer(index + 1) }));
      }, records.length);
      await Promise.all(fanOuts);
      same((await trial.drain(handler)).sort(), records.map((record) => `${record.conversationId}:2`).sort());
    },
  },
  {
    name: 'with concurrent fan-outs, each handler gets each event once, in the order of the versions',
    async run(trial) {
      const handlers = [await trial.handler('payment.unknown'), await trial.handler('payment.unknown')];
      const records = await publishVersions(trial, 12);
      const came = new Map(handlers.map((handler) => [handler, [] as string[]]));
      const fannedOut: number[] = [];
      const race = () =>
        trial.race(async (store, index) => {
          const handler = handlers[index % 4 === 0 ? 0 : 1]!;
          if (index < 4) fannedOut.push(await trial.fanOut({ limit: 3, store }));
          else await work(trial, handler, store, came.get(handler) ?? []);
        }, 8);
      for (let round = 0; round < 8; round += 1) await race();
      fannedOut.push(await trial.fanOut());

      const total = fannedOut.reduce((sum, count) => sum + count, 0);
      assert.equal(total, 3 * records.length, 'each event must be fanned out once');
      for (const [handler, events] of came) {
        events.push(...(await trial.drain(handler)));
        for (const { conversationId } of records) {
          const ofThis = events.filter((eventId) => eventId.startsWith(`${conversationId}:`));
          same(ofThis, [`${conversationId}:2`, `${conversationId}:3`, `${conversationId}:4`]);
        }
        assert.equal(events.length, 3 * records.length);
      }
    },
  },
];
