import assert from 'node:assert/strict';
import { OutboxScript } from './outbox-script.js';
import { at, many, type PaymentStoreCase, same, type StoreTrial } from './store-trial.js';

/** What is promised of events and deliveries, and steps that show it. A pair counts as alive for 600,000 ms. */
const SCRIPTS: readonly (readonly [promise: string, script: string])[] = [
  // Announcing, and fanning out.
  [
    'announce adds pairs to a handler id and removes none',
    'announce h fs; announce h f; announce h r; announce h -; publish pf; publish qs; publish or; fan -> 3; counts -> 0 3 0 0',
  ],
  [
    'announcing again makes no second delivery',
    'announce h f; publish pf; announce h f; take h -> pf; ack h pf; announce h f; at 900000; announce h f; take h ->; counts -> 0 0 0 0',
  ],
  [
    'an event waits for the first handlers of its type, and does not reach later ones',
    'announce g f; publish pu; publish ps; insert qr; fan -> 0; counts -> 3 0 0 0; announce h usr; announce i s; fan -> 3; ' +
      'announce j usr; fan -> 0; drain j ->; drain i -> ps; lease h -> pu qr; ack h pu; lease h -> ps; drain g ->',
  ],
  [
    'events of types that no handler takes delay no other event, and keep waiting',
    'announce h s; publish ar; publish br; publish cr; publish dr; publish pu; publish ps; fan limit=1 -> 1; drain h -> ps; ' +
      'counts -> 5 0 0 0; announce h ru; fan -> 5; lease h -> ar br cr dr pu',
  ],
  [
    'fanOut takes as many events as the limit says, of one type where no other waits',
    'announce h usr; publish au bu cu du eu; fan limit=4 -> 4; fan limit=4 -> 1',
  ],
  [
    'fanOut takes as many events as the limit says',
    'announce h f; publish af bf cf df ef; fan limit=2 -> 2; counts -> 3 2 0 0; fan limit=2 -> 2; fan limit=2 -> 1; ' +
      'fan limit=2 -> 0; lease h -> af bf cf df ef',
  ],
  ['fanOut gives each type its turn', 'announce h us; publish au bu cu ds; fan limit=2 -> 2; lease h of=s -> ds'],
  [
    'fanOut gives each type its turn, whichever has more',
    'announce h us; publish as bs cs du; fan limit=2 -> 2; lease h of=u -> du',
  ],
  [
    'deliveries are due at once by the store’s time, whenever their events occurred',
    'at 5000; announce h f; publish pf on=1; publish qf on=9000000; take h -> pf qf',
  ],
  [
    'an event that is written late is fanned out, although a newer one was fanned out before',
    'announce h f; publish pf on=20; drain h -> pf; publish qf on=10; drain h -> qf',
  ],
  ['an event that is written with an insert is delivered, too', 'announce h f; insert pf; take h -> pf'],
  [
    'each handler of its type gets an event once',
    'announce h fs; announce i s; announce j f; publish ps; fan -> 1; lease h -> ps; lease i -> ps; lease j ->; lease h ->; lease k ->',
  ],
  // Leasing.
  [
    'only the types that are asked for are leased, even where the handler id was announced with more',
    'announce h fs; publish af; publish bf; publish cf; fan; at 10; publish ps; fan; lease h of=- ->; lease h of=r ->; ' +
      'lease h of=s limit=1 -> ps; lease h of=s ->; lease h of=f -> af bf cf',
  ],
  [
    'the longest due is leased first, up to the limit',
    'announce h f; publish pf; take h -> pf; retry h pf for=30; at 10; publish qf on=90; fan; at 20; publish af on=80; fan; ' +
      'at 40; publish bf on=5; fan; at 50; lease h limit=1 -> qf; lease h limit=1 -> af; lease h limit=2 -> bf pf',
  ],
  [
    'a leased delivery is not leased again until its lease runs out by the store’s time',
    'announce h f; publish pf; at 10; take h for=90 -> pf; at 99; take h ->; at 100; lease h -> pf',
  ],
  [
    'an acknowledged delivery is gone for good, for that handler only',
    'announce h f; announce i f; publish pf; take h -> pf; ack h pf; ack h pf; at 900000; announce h f; take h ->; take i -> pf',
  ],
  [
    'a delivery can be acknowledged under another’s lease, and then nothing renews or postpones it',
    'announce h f; publish pf; take h for=100 -> pf; at 100; lease h as=other -> pf; ack h pf; renew h pf as=other -> false; ' +
      'park h pf as=other; parked ->; at 900000; take h ->; counts -> 0 0 0 0',
  ],
  [
    'the holder of a lease can renew it, from the store’s time on',
    'announce h f; publish pf; take h for=100 -> pf; at 80; renew h pf for=100 -> true; at 179; lease h ->; ' +
      'renew h pf for=100 -> true; at 278; lease h ->; at 279; lease h -> pf',
  ],
  [
    'only the holder of a lease can renew it',
    'announce h f; publish pf; take h for=100 -> pf; renew h pf as=other -> false; renew h pf as=MINE -> false; ' +
      'at 100; lease h as=other -> pf; renew h pf as=mine -> false; renew h pf as=other -> true',
  ],
  [
    'a lease that ran out can still be renewed while nobody has leased the delivery again',
    'announce h f; publish pf; take h for=100 -> pf; at 500; renew h pf for=100 -> true; at 599; lease h ->',
  ],
  [
    'a delivery that is not there, or not leased, is not renewed',
    'announce h f; announce i f; publish pf; take h -> pf; renew k pf -> false; renew h qf -> false; renew i pf -> false; ' +
      'ack h pf; renew h pf -> false; counts -> 0 1 0 0',
  ],
  [
    'only the holder of a lease can postpone its delivery, which ends the lease',
    'announce h f; publish pf; take h for=100 -> pf; park h pf as=other; parked ->; retry h pf for=50; park h pf; parked ->; ' +
      'renew h pf -> false; at 49; lease h ->; at 50; lease h -> pf',
  ],
  [
    'a holder whose lease was taken over can no longer postpone the delivery',
    'announce h f; publish pf; take h for=100 -> pf; at 100; lease h as=other for=100 -> pf; park h pf; retry h pf for=1; ' +
      'parked ->; at 199; lease h ->; at 200; lease h -> pf',
  ],
  // Order.
  [
    'a later version waits until the earlier one is acknowledged',
    'announce h us; publish pu ps; take h for=10 -> pu; take h ->; at 10; lease h for=10 -> pu; ack h pu; lease h -> ps; ack h ps; take h ->',
  ],
  [
    'events come by version, too, where the host chose the id of the payment',
    'announce h us; publish qu qs; take h -> qu; lease h of=s ->; ack h qu; lease h -> qs; ack h qs; take h ->',
  ],
  [
    'a later version waits while the earlier one is postponed',
    'announce h us; publish pu ps; take h -> pu; retry h pu for=5000; at 4999; lease h ->; at 5000; lease h -> pu; ack h pu; lease h -> ps',
  ],
  [
    'a later version waits for an earlier one of a type that is not asked for',
    'announce h us; publish pu ps; fan; lease h of=s ->; ack h pu; lease h of=s -> ps',
  ],
  [
    'nothing is leased before it is fanned out',
    'announce h us; publish pu; publish ps; lease h ->; fan limit=1 -> 1; fan limit=1 -> 1; lease h -> pu; ack h pu; lease h -> ps',
  ],
  [
    'an earlier version that nobody takes, or the handler does not, delays no later one',
    'announce h s; publish pu ps; take h -> ps; announce i u; publish qu qs; fan; lease h -> qs',
  ],
  [
    'a replay tells whether the handler has had a later event, or a later one of its types is only on its way',
    'announce h us; publish pu ps; take h -> pu; park h pu; replay h pu -> replayed; take h -> pu; park h pu; take h -> ps; ' +
      'replay h pu -> replayed; lease h -> pu; park h pu; ack h ps; publish pr; replay h pu -> overtaken; replay h pu -> absent',
  ],
  [
    'an earlier version whose type is announced late comes before a later one that is open',
    'announce h s; publish pu ps; fan -> 1; announce h u; lease h ->; fan -> 1; drain h -> pu ps',
  ],
  [
    'versions are numbers, 10 after 9, even when the host’s clock is set back',
    'announce h usr; publish pu; publish pu2; publish pu3; publish pu4; publish pu5; drain h -> pu pu2 pu3 pu4 pu5',
  ],
  [
    'versions that are published one by one come one by one, whichever is fanned out when',
    'announce h us; publish pu; fan; publish pu2; take h -> pu; publish ps; take h ->; ack h pu; take h -> pu2; ack h pu2; lease h -> ps',
  ],
  [
    'a delivery delays neither other payments nor other handlers',
    'announce h us; announce i us; publish pu ps; take h -> pu; drain i -> pu ps; publish qu qs; take h -> qu',
  ],
  [
    'a limit counts what can be leased, not what waits for an earlier version',
    'announce h us; publish pu ps pr; take h -> pu; at 1; publish qu qs; take h limit=1 -> qu',
  ],
  // Parked deliveries.
  [
    'a parked delivery is listed, is not leased again and delays no later version',
    'announce h us; publish pu ps; take h -> pu; park h pu for=0; parked -> pu; at 900; drain h -> ps; take h ->; counts -> 0 0 1 0',
  ],
  [
    'parked deliveries are listed by when their events occurred, up to the limit',
    'announce h f; publish pf on=30; take h -> pf; park h pf; publish qf on=10; take h -> qf; park h qf; publish af on=20; ' +
      'take h -> af; park h af; publish bf on=1; fan; parked -> qf af pf; parked limit=2 -> qf af',
  ],
  [
    'a replayed delivery is due now, and comes before a later version that is still open',
    'announce h us; publish pu ps; take h -> pu; park h pu for=9000; at 50; replay h pu -> replayed; parked ->; drain h -> pu ps',
  ],
  [
    'after a replayed delivery, a later one that is leased stays leased',
    'announce h us; publish pu ps; take h -> pu; park h pu; lease h for=1000 -> ps; replay h pu -> replayed; lease h -> pu; ack h pu; ' +
      'at 999; take h ->; at 1000; lease h -> ps',
  ],
  [
    'after a replayed delivery, a later one that failed still waits for its next try',
    'announce h us; publish pu ps; take h -> pu; park h pu; lease h -> ps; retry h ps for=5000; replay h pu -> replayed; lease h -> pu; ' +
      'ack h pu; at 4999; take h ->; at 5000; lease h -> ps',
  ],
  [
    'only what is parked can be replayed, once',
    'announce h f; publish pf; take h for=100 -> pf; replay h pf -> absent; at 99; lease h ->; at 100; take h -> pf; park h pf; ' +
      'replay k pf -> absent; replay h qf -> absent; replay h pf -> replayed; replay h pf -> absent',
  ],
  [
    'a parked delivery can be acknowledged, and is neither renewed nor postponed',
    'announce h f; publish pf; take h -> pf; park h pf; renew h pf -> false; retry h pf for=1; parked -> pf; ack h pf; parked ->; replay h pf -> absent',
  ],
  [
    'parked deliveries, however many, keep no other one from being leased',
    `announce h f; ${[...'abcdefgh'].map((one) => `publish ${one}f; take h -> ${one}f; park h ${one}f for=1; `).join('')}` +
      'at 10; publish pf; take h limit=1 -> pf',
  ],
  // Orphaned pairs.
  [
    'a pair that has not been announced for ten minutes delays no later version',
    'announce h us; publish pu ps; fan; at 599999; announce h s; lease h of=s ->; at 600001; lease h of=s -> ps',
  ],
  [
    'a pair that is announced again delays later versions again',
    'announce h us; publish pu ps; fan; at 599999; announce h us; at 1199998; lease h of=s ->; lease h of=u -> pu',
  ],
  [
    'a pair that was orphaned and is announced again delays later versions again',
    'announce h us; publish pu ps; fan; at 600001; counts -> 0 2 0 2; announce h u; counts -> 0 2 0 1; lease h of=s ->; lease h -> pu',
  ],
  [
    'a leased delivery delays later versions, even when its pair is orphaned',
    'announce h us; publish pu ps; fan; at 599990; lease h of=u for=100 -> pu; at 600080; announce h s; lease h of=s ->; ' +
      'renew h pu for=100 -> true; at 600179; lease h of=s ->; at 600180; lease h of=s -> ps',
  ],
  [
    'a postponed orphaned delivery delays no later version, even when both types are asked for',
    'announce h us; publish pu ps; take h -> pu; retry h pu for=6000000; at 600001; announce h s; lease h -> ps',
  ],
  [
    'an orphaned delivery can still be leased, and then delays later versions',
    'announce h us; publish pu ps; fan; at 600001; lease h -> pu; lease h ->; ack h pu; lease h -> ps',
  ],
  [
    'a parked delivery stays parked beside orphaned ones, and delays no later version',
    'announce h us; publish pu ps; take h -> pu; park h pu for=1; publish qu qs; fan; at 600001; announce h s; lease h -> ps qu; parked -> pu',
  ],
  // Counts.
  [
    'counts shows waiting events, open deliveries and parked ones',
    'announce h f; announce i f; publish pr; publish qf; counts -> 2 0 0 0; fan; counts -> 1 2 0 0; lease h for=10 -> qf; counts -> 1 2 0 0; ' +
      'at 10; lease h -> qf; park h qf; counts -> 1 1 1 0; replay h qf; counts -> 1 2 0 0; drain h -> qf; counts -> 1 1 0 0',
  ],
  [
    'counts shows the open deliveries of orphaned pairs, but not the parked ones',
    'announce h us; publish pu ps; announce i f; publish qf; take i -> qf; park i qf; at 599999; counts -> 0 2 1 0; announce h s; ' +
      'at 600001; counts -> 0 2 1 1; announce h u; counts -> 0 2 1 0; at 1800000; counts -> 0 2 1 2; ack h pu; counts -> 0 1 1 1',
  ],
  // Forgetting pairs.
  [
    'purge forgets a pair that has not been announced for pairsMs, with its open and parked deliveries',
    'announce h f; announce i f; publish pf; publish qf; take h -> pf qf; park h pf; retry h qf; counts -> 0 3 1 0; at 500; announce i f; ' +
      'at 999; forget 1000; counts -> 0 3 1 0; at 1001; forget 1000; counts -> 0 2 0 0; parked ->; take h ->; lease i -> pf qf',
  ],
  [
    'purge can forget one type of a handler and keep its others',
    'announce h fs; publish pf; publish qs; fan; at 500; announce h s; at 1001; forget 1000; counts -> 0 1 0 0; drain h -> qs',
  ],
  [
    'events of a type wait for a new handler once the last pair of that type is forgotten',
    'announce h f; at 1001; forget 1000; publish pf; fan -> 0; announce i f; fan -> 1; drain h ->; drain i -> pf',
  ],
  [
    'a pair that was forgotten with its deliveries gets none of them when it is announced again',
    'announce h us; publish pu; fan; at 1001; forget 1000; announce h us; publish ps; drain h -> ps',
  ],
];

/** More of them than a store looks at in each lease. */
const MANY = 60;

const behindMany: PaymentStoreCase = {
  name: 'what is due behind many that wait for an earlier version is leased, and these soon after they are free',
  async run(trial) {
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

/** Events on their way to handlers. */
export const outboxCases: readonly PaymentStoreCase[] = [
  ...SCRIPTS.map(([name, script], index) => ({
    name,
    run: (trial: StoreTrial) => new OutboxScript(trial, index % 2 === 1).run(script),
  })),
  behindMany,
];
