import assert from 'node:assert/strict';
import { at, eventIds, type PaymentStoreCase, RACERS, unique } from './store-trial.js';
import { same } from './same.js';

/** Making known which handler takes which type of event. */
export const announcementCases: readonly PaymentStoreCase[] = [
  {
    name: 'announce adds pairs to those of the same handler id and takes none away',
    async run(trial) {
      const handler = await trial.handler('payment.failed', 'payment.expired');
      await trial.announce(handler, 'payment.failed');
      await trial.announce(handler, 'payment.review');
      await trial.store.announce(trial.account, []);
      const published: string[] = [];
      for (const state of ['failed', 'expired', 'review'] as const) {
        published.push((await trial.publish(await trial.insert(), state, at(1))).event.eventId);
      }
      same((await trial.drain(handler)).sort(), published.sort());
    },
  },
  {
    name: 'announce takes nothing from other handlers',
    async run(trial) {
      const one = await trial.handler('payment.failed');
      const two = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      for (const handler of [one, two]) same(await trial.drain(handler), [event.eventId]);
    },
  },
  {
    name: 'announce in another account gives and takes nothing',
    async run(trial) {
      const handler = unique('Orders.failed');
      const pair = { handlerId: handler, type: 'payment.failed' } as const;
      await trial.store.announce(`${trial.account}-other`, [pair]);
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      assert.equal(await trial.fanOut(), 0);
      same(await trial.lease(handler), []);
      await trial.store.announce(trial.account, [pair]);
      same(await trial.drain(handler), [event.eventId]);
    },
  },
  {
    name: 'announcing again makes no second delivery',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      const again = () =>
        trial.race((store) => store.announce(trial.account, [{ handlerId: handler, type: 'payment.failed' }]));
      await again();
      same(eventIds(await trial.take(handler)), [event.eventId]);
      await trial.store.acknowledge(trial.account, handler, event.eventId);
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
];
