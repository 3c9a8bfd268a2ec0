import { PAIR_ALIVE_MS } from '../../store/payment-outbox.js';
import { at, eventIds, leased, type PaymentStoreCase, type StoreTrial } from './store-trial.js';
import { same } from './same.js';
import { publishTwice } from './version-order-cases.js';

const FIRST = 'payment.unknown';
const SECOND = 'payment.succeeded';

/** A handler of both types, and a payment with an event of each that is fanned out. */
async function fanOutTwice(trial: StoreTrial): Promise<{ handler: string; first: string; second: string }> {
  const handler = await trial.handler(FIRST, SECOND);
  const [first, second] = await publishTwice(trial);
  await trial.fanOut();
  return { handler, first, second };
}

/** Pairs that nobody announces any more, as after a deploy that took a handler's type away. */
export const orphanCases: readonly PaymentStoreCase[] = [
  {
    name: 'a pair that has not been announced for ten minutes holds up no later version',
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
    name: 'a pair that is announced again holds later versions up again',
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
    name: 'a delivery that is leased now holds later versions up, whenever its pair was announced',
    async run(trial) {
      const { handler, first, second } = await fanOutTwice(trial);
      trial.moveTo(PAIR_ALIVE_MS - 10);
      const [delivery] = await trial.lease(handler, { types: [FIRST], lease: 'mine', leaseMs: 100 });
      same(delivery?.event.eventId, first);
      trial.moveTo(PAIR_ALIVE_MS + 80);
      await trial.announce(handler, SECOND);
      same(await trial.lease(handler, { types: [SECOND] }), []);
      await trial.store.renewLease(leased(delivery!, 'mine'), 100);
      trial.moveTo(PAIR_ALIVE_MS + 179);
      same(await trial.lease(handler, { types: [SECOND] }), []);
      trial.moveTo(PAIR_ALIVE_MS + 180);
      same(eventIds(await trial.lease(handler, { types: [SECOND] })), [second]);
    },
  },
  {
    name: 'an orphaned delivery that is put off holds up no later version, even for who asks for both types',
    async run(trial) {
      const { handler, second } = await fanOutTwice(trial);
      await trial.fail(handler, { retryInMs: 10 * PAIR_ALIVE_MS });
      trial.moveTo(PAIR_ALIVE_MS + 1);
      await trial.announce(handler, SECOND);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'an orphaned delivery still goes to who asks for it, and then its payment’s others wait',
    async run(trial) {
      const { handler, first, second } = await fanOutTwice(trial);
      trial.moveTo(PAIR_ALIVE_MS + 1);
      same(eventIds(await trial.lease(handler)), [first]);
      same(await trial.lease(handler), []);
      await trial.store.acknowledge(trial.account, handler, first);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'a parked delivery stays parked beside orphans, and holds up no later version',
    async run(trial) {
      const { handler, second } = await fanOutTwice(trial);
      const parked = await trial.fail(handler, { parked: true, retryInMs: 1 });
      const [orphan] = await publishTwice(trial);
      await trial.fanOut();
      trial.moveTo(PAIR_ALIVE_MS + 1);
      await trial.announce(handler, SECOND);
      same(eventIds(await trial.lease(handler)).sort(), [orphan, second].sort());
      same(eventIds(await trial.store.listParked(trial.account, 10)), [parked.event.eventId]);
    },
  },
  {
    name: 'open deliveries of orphaned pairs show in the counts, parked ones do not',
    async run(trial) {
      const { handler, first } = await fanOutTwice(trial);
      const other = await trial.handler('payment.failed');
      await trial.publish(await trial.insert(), 'failed', at(1));
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
      await trial.store.acknowledge(trial.account, handler, first);
      same(await orphaned(), 1);
    },
  },
];
