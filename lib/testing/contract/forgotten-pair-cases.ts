import assert from 'node:assert/strict';
import { at, ids, type PaymentStoreCase } from './store-trial.js';
import { same } from './same.js';

/** Purging pairs that nobody has announced for long. */
export const forgottenPairCases: readonly PaymentStoreCase[] = [
  {
    name: 'purge forgets a pair that nobody has announced for long, with its deliveries, parked ones too',
    async run(trial) {
      const gone = await trial.handler('payment.failed');
      const known = await trial.handler('payment.failed');
      const [one, two] = [
        await trial.publish(await trial.insert(), 'failed', at(1)),
        await trial.publish(await trial.insert(), 'failed', at(2)),
      ];
      await trial.fail(gone, { parked: true });
      trial.moveTo(500);
      await trial.announce(known, 'payment.failed');
      trial.moveTo(999);
      await trial.purge({ paymentsMs: null, pairsMs: 1_000 });
      same((await trial.store.listParked(trial.account, 10)).length, 1);

      trial.moveTo(1_001);
      await trial.purge({ paymentsMs: null, pairsMs: 1_000 });
      same(await trial.store.listParked(trial.account, 10), []);
      same(await trial.take(gone), []);
      same((await trial.drain(known)).sort(), [one.event.eventId, two.event.eventId].sort());
      const { openDeliveries, orphanedDeliveries } = await trial.store.counts(trial.account);
      same([openDeliveries, orphanedDeliveries], [0, 0]);
    },
  },
  {
    name: 'purge forgets one type of a handler and leaves it the others',
    async run(trial) {
      const handler = await trial.handler('payment.failed', 'payment.succeeded');
      await trial.publish(await trial.insert(), 'failed', at(1));
      const stays = await trial.publish(await trial.insert(), 'succeeded', at(1));
      await trial.fanOut();
      trial.moveTo(500);
      await trial.announce(handler, 'payment.succeeded');
      trial.moveTo(1_001);
      await trial.purge({ paymentsMs: null, pairsMs: 1_000 });
      same(await trial.drain(handler), [stays.event.eventId]);
    },
  },
  {
    name: 'once its last pair is forgotten, a type waits again for the first who takes it',
    async run(trial) {
      const gone = await trial.handler('payment.failed');
      trial.moveTo(1_001);
      await trial.purge({ paymentsMs: null, pairsMs: 1_000 });
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      assert.equal(await trial.fanOut(), 0);
      const handler = await trial.handler('payment.failed');
      same(await trial.drain(gone), []);
      same(await trial.drain(handler), [event.eventId]);
    },
  },
  {
    name: 'a forgotten pair holds no payment back',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const fannedOut = trial.record({ state: 'failed', finalizedAt: at(1) });
      const waiting = trial.record({ state: 'failed', finalizedAt: at(1) });
      await trial.store.insert(fannedOut, trial.event(fannedOut, 'failed'));
      await trial.fanOut();
      await trial.store.insert(waiting, trial.event(waiting, 'failed'));
      trial.moveTo(1_001);
      same(await trial.purge({ pairsMs: 1_000 }), { payments: 2, events: 2 });
      same(await trial.take(handler), []);
      same(ids(await trial.store.listByState(trial.account, ['failed'], 10)), []);
    },
  },
  {
    name: 'purge forgets a pair with all its deliveries, however many',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const records = Array.from({ length: 250 }, () => trial.record({ state: 'failed', finalizedAt: at(1) }));
      await trial.inChunks(records, (record) => trial.store.insert(record, trial.event(record, 'failed')));
      assert.equal(await trial.fanOut(), records.length);
      trial.moveTo(1_001);
      same(await trial.purge({ pairsMs: 1_000 }), { payments: records.length, events: records.length });
      await trial.announce(handler, 'payment.failed');
      assert.equal((await trial.store.counts(trial.account)).openDeliveries, 0);
      same(await trial.take(handler), []);
    },
  },
  {
    name: 'purge forgets no pair of another account',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      trial.moveTo(1_001);
      await trial.store.purge(`${trial.account}-other`, { paymentsMs: 0, pairsMs: 1_000, keysMs: 1_000 });
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      same(await trial.drain(handler), [event.eventId]);
    },
  },
];
