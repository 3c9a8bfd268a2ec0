import assert from 'node:assert/strict';
import { PAIR_ALIVE_MS } from '../../../../lib/store/payment-store.js';
import { at, eventIds, type PaymentStoreCase, RACERS, same, type StoreTrial } from '../store-trial.js';

const FIRST = 'payment.unknown';
const SECOND = 'payment.succeeded';

/** A handler of both types, and a payment whose two events are fanned out. */
async function fanOutTwice(trial: StoreTrial): Promise<{ handler: string; first: string; second: string }> {
  const published = await trial.twoVersions();
  await trial.fanOut();
  return published;
}

/** Deliveries that are not tried again: parked ones, and those of pairs that are no longer announced. */
export const parkedAndOrphanedCases: readonly PaymentStoreCase[] = [
  {
    name: 'a parked delivery is listed as it was postponed, and is not leased again',
    async run(trial) {
      const { handler } = await trial.oneEvent();
      trial.moveTo(10);
      const delivery = await trial.fail(handler, { attempts: 15, error: 'E', parked: true, retryInMs: 5 });
      trial.moveTo(1_000_000);
      same(await trial.take(handler), []);
      same(await trial.second.listDeliveries({ account: trial.account, parked: true, after: null, limit: 10 }), [
        { ...delivery, attempts: 15, error: 'E', parked: true, dueAt: at(15) },
      ]);
    },
  },
  {
    name: 'listParked gives the oldest event first, up to the limit, of this account only',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const park = async (ms: number): Promise<string> => {
        const eventId = await trial.publishNew('failed', ms);
        await trial.fail(handler, { parked: true });
        return eventId;
      };
      const [third, first, second] = [await park(30), await park(10), await park(20)];
      await trial.publishNew('failed');
      await trial.fanOut();
      const list = async (limit: number) => eventIds(await trial.listParked(limit));
      same(await list(10), [first, second, third]);
      same(await list(2), [first, second]);
      same(
        await trial.store.listDeliveries({ account: `${trial.account}-other`, parked: true, after: null, limit: 10 }),
        [],
      );
    },
  },
  {
    name: 'replay makes a parked delivery due now, with no failed attempts',
    async run(trial) {
      const { handler, eventId } = await trial.oneEvent();
      const delivery = await trial.fail(handler, { attempts: 15, parked: true, retryInMs: 9_000 });
      trial.moveTo(50);
      assert.equal(await trial.replay(handler, eventId), true);
      same(await trial.listParked(), []);
      same(await trial.lease(handler, { leaseMs: 10, store: trial.second }), [{ ...delivery, dueAt: at(60) }]);
    },
  },
  {
    name: 'once a replayed delivery is acknowledged, a later one that is leased stays leased',
    async run(trial) {
      const { handler, first, second } = await trial.twoVersions();
      await trial.fail(handler, { parked: true });
      same(eventIds(await trial.lease(handler, { leaseMs: 1_000 })), [second]);
      assert.equal(await trial.replay(handler, first), true);
      same(eventIds(await trial.lease(handler)), [first]);
      await trial.acknowledge(handler, first);
      trial.moveTo(999);
      same(await trial.take(handler), []);
      trial.moveTo(1_000);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'once a replayed delivery is acknowledged, a later one that failed still waits for its next try',
    async run(trial) {
      const { handler, first, second } = await trial.twoVersions();
      await trial.fail(handler, { parked: true });
      same((await trial.fail(handler, { retryInMs: 5_000 })).event.eventId, second);
      assert.equal(await trial.replay(handler, first), true);
      same(eventIds(await trial.lease(handler)), [first]);
      await trial.acknowledge(handler, first);
      trial.moveTo(4_999);
      same(await trial.take(handler), []);
      trial.moveTo(5_000);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'many parked deliveries do not keep another one from being leased',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      for (let parked = 0; parked < 3 * RACERS; parked += 1) {
        await trial.publishNew('failed');
        await trial.fail(handler, { parked: true, retryInMs: 1 });
      }
      trial.moveTo(10);
      const eventId = await trial.publishNew('failed', 9);
      same(eventIds(await trial.take(handler, { limit: 1 })), [eventId]);
    },
  },
  {
    name: 'replay returns false where no such delivery is parked, and changes nothing',
    async run(trial) {
      const { handler, eventId } = await trial.oneEvent();
      const replay = async (account: string, id: string, eventId: string) =>
        (await trial.store.replay(account, id, eventId)) !== 'absent';
      await trial.take(handler, { leaseMs: 100 });
      assert.equal(await replay(trial.account, handler, eventId), false);
      trial.moveTo(99);
      same(await trial.lease(handler), []);
      trial.moveTo(100);
      await trial.fail(handler, { parked: true });
      assert.equal(await replay(trial.account, 'none', eventId), false);
      assert.equal(await replay(trial.account, handler, 'none:2'), false);
      assert.equal(await replay(`${trial.account}-other`, handler, eventId), false);
      assert.equal(await replay(trial.account, handler, eventId), true);
      assert.equal(await replay(trial.account, handler, eventId), false);
    },
  },
  {
    name: 'a parked delivery can be acknowledged',
    async run(trial) {
      const { handler, eventId } = await trial.oneEvent();
      await trial.fail(handler, { parked: true });
      await trial.acknowledge(handler, eventId);
      same(await trial.listParked(), []);
      assert.equal(await trial.replay(handler, eventId), false);
    },
  },
  {
    name: 'a pair that has not been announced for ten minutes delays no later version',
    async run(trial) {
      const { handler, second } = await fanOutTwice(trial);
      trial.moveTo(PAIR_ALIVE_MS - 1);
      await trial.announce(handler, SECOND);
      same(await trial.lease(handler, { types: [SECOND] }), []);
      trial.moveTo(PAIR_ALIVE_MS + 1);
      same(eventIds(await trial.lease(handler, { types: [SECOND] })), [second]);
    },
  },
  {
    name: 'a pair that is announced again delays later versions again',
    async run(trial) {
      const { handler, first } = await fanOutTwice(trial);
      trial.moveTo(PAIR_ALIVE_MS - 1);
      await trial.announce(handler, FIRST, SECOND);
      trial.moveTo(2 * PAIR_ALIVE_MS - 2);
      same(await trial.lease(handler, { types: [SECOND] }), []);
      same(eventIds(await trial.lease(handler, { types: [FIRST] })), [first]);
    },
  },
  {
    name: 'a leased delivery delays later versions, even when its pair is no longer announced',
    async run(trial) {
      const { handler, first, second } = await fanOutTwice(trial);
      trial.moveTo(PAIR_ALIVE_MS - 10);
      const [delivery] = await trial.lease(handler, { types: [FIRST], lease: 'mine', leaseMs: 100 });
      same(delivery?.event.eventId, first);
      trial.moveTo(PAIR_ALIVE_MS + 80);
      await trial.announce(handler, SECOND);
      same(await trial.lease(handler, { types: [SECOND] }), []);
      await trial.renew(delivery!, 'mine', 100);
      trial.moveTo(PAIR_ALIVE_MS + 179);
      same(await trial.lease(handler, { types: [SECOND] }), []);
      trial.moveTo(PAIR_ALIVE_MS + 180);
      same(eventIds(await trial.lease(handler, { types: [SECOND] })), [second]);
    },
  },
  {
    name: 'a postponed orphaned delivery delays no later version, even when both types are asked for',
    async run(trial) {
      const { handler, second } = await fanOutTwice(trial);
      await trial.fail(handler, { retryInMs: 10 * PAIR_ALIVE_MS });
      trial.moveTo(PAIR_ALIVE_MS + 1);
      await trial.announce(handler, SECOND);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'an orphaned delivery can still be leased, and then delays later versions',
    async run(trial) {
      const { handler, first, second } = await fanOutTwice(trial);
      trial.moveTo(PAIR_ALIVE_MS + 1);
      same(eventIds(await trial.lease(handler)), [first]);
      same(await trial.lease(handler), []);
      await trial.acknowledge(handler, first);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'a parked delivery stays parked beside orphaned ones, and delays no later version',
    async run(trial) {
      const { handler, second } = await fanOutTwice(trial);
      const parked = await trial.fail(handler, { parked: true, retryInMs: 1 });
      const [orphan] = await trial.publishTwice();
      await trial.fanOut();
      trial.moveTo(PAIR_ALIVE_MS + 1);
      await trial.announce(handler, SECOND);
      same(eventIds(await trial.lease(handler)).sort(), [orphan, second].sort());
      same(eventIds(await trial.listParked()), [parked.event.eventId]);
    },
  },
  {
    name: 'counts shows the open deliveries of orphaned pairs, but not the parked ones',
    async run(trial) {
      const { handler, first } = await fanOutTwice(trial);
      const other = await trial.handler('payment.failed');
      await trial.publishNew('failed');
      await trial.fail(other, { parked: true });
      const orphaned = async () => (await trial.second.counts(trial.account)).orphanedDeliveries;
      trial.moveTo(PAIR_ALIVE_MS - 1);
      same(await orphaned(), 0);
      await trial.announce(handler, SECOND);
      trial.moveTo(PAIR_ALIVE_MS + 1);
      same(await orphaned(), 1);
      await trial.announce(handler, FIRST);
      same(await orphaned(), 0);
      trial.moveTo(3 * PAIR_ALIVE_MS);
      same(await orphaned(), 2);
      await trial.acknowledge(handler, first);
      same(await orphaned(), 1);
    },
  },
];
