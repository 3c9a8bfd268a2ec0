import assert from 'node:assert/strict';
import { ledgerEventOf } from '../../../lib/payment/payment-event.js';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import { pinReference } from '../../../lib/payment/transitions.js';
import { MAX_WAIT_MS, type PaymentStore, type UniqueKey } from '../../../lib/store/payment-store.js';
import { inWhole } from '../../rigs/extent.js';
import {
  at,
  casesOf,
  eventIds,
  ids,
  many,
  type StoreCase,
  type StoreCases,
  RACERS,
  same,
  type StoreTrial,
  tally,
  unique,
} from './store-trial.js';

/** How many times a race of two or three is run, because a flaw may show only in a certain order of events. */
const ROUNDS = inWhole(3, 1) * RACERS;
const HOST_ID_NONCE = '09382017465f';
const released = { state: 'failed', finalizedAt: at(5), referenceLock: null } as const;

const INSERTS: readonly (readonly [key: UniqueKey, where?: string, fields?: Partial<PaymentRecord>])[] = [
  ['conversationId'],
  ['conversationId', ', where the host chose it', { hostIdNonce: HOST_ID_NONCE }],
  ['idempotencyKey'],
  ['tokenHash'],
  ['referenceLock'],
];

interface Order {
  readonly trial: StoreTrial;
  readonly reference: string;
  /** One that was declined and is found to have been charged all the same, and one that holds the reference. */
  readonly first: PaymentRecord;
  readonly holder: PaymentRecord;
}

/** A payment that claims a reference while another one pins it. @returns the payment that has the lock, if it got it */
type Rival = (order: Order) => Promise<(store: PaymentStore) => Promise<PaymentRecord | null>>;

const RIVALS: Readonly<Record<string, Rival>> = {
  'nothing else': () => Promise.resolve(() => Promise.resolve(null)),
  'an insert': ({ trial, reference }) => {
    const record = trial.record({ state: 'charging', reference, referenceLock: reference });
    return Promise.resolve(async (store) => ((await store.insert(record)) === null ? record : null));
  },
  'a claim': async ({ trial, reference }) => {
    const awaiting = await trial.insert({ reference });
    const claim = trial.next(awaiting, { state: 'authorizing', referenceLock: reference });
    return async (store) => ((await trial.tryReplace(claim, awaiting, undefined, store)) === 'replaced' ? claim : null);
  },
};

async function orderOf(trial: StoreTrial): Promise<Order> {
  const reference = unique('sipariş 📌');
  const first = await trial.insert({ ...released, reference });
  const holder = await trial.insert({ state: 'charging', reference, referenceLock: reference });
  return { trial, reference, first, holder };
}

/** The next version of a payment, after it proved to have been charged, too. */
function proven(trial: StoreTrial, record: PaymentRecord): PaymentRecord {
  return pinReference(trial.next(record, { state: 'review', finalizedAt: null }));
}

async function expectLocked(trial: StoreTrial, referenceLock: string): Promise<void> {
  for (const store of trial.stores) assert.equal(await store.insert(trial.record({ referenceLock })), 'referenceLock');
}

/** Runs a race of two or three again and again, the connections of either in turn the other's. */
function rounds(run: (trial: StoreTrial, ms: number) => Promise<void>, count = RACERS): StoreCase {
  return async (trial) => {
    for (let round = 0; round < count; round += 1) {
      trial.moveTo(round * 1_000);
      await run(round % 2 === 0 ? trial : trial.swapped, round * 1_000);
    }
  };
}

const ledgerRaces: StoreCases = {
  ...casesOf(INSERTS, ([key, where = '', fields = {}]) => [
    `of ${RACERS} inserts with the same ${key} at once one is stored${where}`,
    async (trial) => {
      const value = unique(key);
      const records = Array.from({ length: RACERS }, () => trial.record({ ...fields, [key]: value, reference: 'R' }));
      const outcomes = await trial.race((store, index) => store.insert(records[index]!));
      same(tally(outcomes), { null: 1, [key]: RACERS - 1 });
      const winner = records[outcomes.indexOf(null)]!;
      same(await trial.findByReference('R'), [winner]);
      same(await trial.versions(winner), [1]);
    },
  ]),
  [`of ${RACERS} refunds of a payment that are opened at once one is stored`]: async (trial) => {
    const payment = await trial.insert({ state: 'succeeded', finalizedAt: at(1) });
    const refunds = Array.from({ length: RACERS }, () => trial.refund(payment));
    const outcomes = await trial.race((store, index) => store.insert(refunds[index]!));
    same(tally(outcomes), { null: 1, referenceLock: RACERS - 1 });
    same(await trial.store.findRefunds(trial.account, payment.conversationId), [refunds[outcomes.indexOf(null)]]);
  },
  [`of ${RACERS} replaces of one version at once one is written, with its event and line of history`]: async (
    trial,
  ) => {
    const handler = await trial.handler('payment.unknown');
    const record = await trial.insert();
    const bids = Array.from({ length: RACERS }, (_, index) =>
      trial.next(record, { state: 'unknown', code: `bid ${index}`, updatedAt: at(index) }),
    );
    const outcomes = await trial.race((store, index) =>
      trial.tryReplace(bids[index]!, record, ledgerEventOf(bids[index]!), store),
    );
    same(tally(outcomes), { replaced: 1, stale: RACERS - 1 });
    const winner = bids[outcomes.indexOf('replaced')]!;
    await trial.expectStored(winner);
    const history = await trial.store.history(trial.account, record.conversationId);
    same(
      history.map(({ version, code }) => [version, code]),
      [
        [1, null],
        [2, winner.code],
      ],
    );
    same(
      (await trial.take(handler)).map(({ event }) => event),
      [ledgerEventOf(winner)],
    );
  },
  // A store that guesses from its version whether a record is new fails here instead of saying who was first.
  'of eight claims of each of two payments of an order at once one is written, and every other one learns why not':
    rounds(async (trial) => {
      const reference = unique('sipariş');
      const tabs = await many(2, () =>
        trial.insert({ reference, tokenHash: unique('token'), idempotencyKey: unique('key') }),
      );
      const claims = tabs.flatMap((tab) => Array.from({ length: 8 }, () => [tab, unique('attempt')] as const));
      const claimed = claims.map(([tab, attemptId]) =>
        trial.next(tab, { state: 'authorizing', referenceLock: reference, attemptId }),
      );
      const outcomes = await trial.race(
        (store, index) => trial.tryReplace(claimed[index]!, claims[index]![0], undefined, store),
        claims.length,
      );
      const winner = outcomes.indexOf('replaced');
      const of = (isWinner: boolean) =>
        tally(outcomes.filter((_, index) => (claims[index]![0] === claims[winner]?.[0]) === isWinner));
      same([of(true), of(false)], [{ replaced: 1, stale: 7 }, { locked: 8 }]);
      await trial.expectStored(
        claimed[winner]!,
        tabs.find((tab) => tab !== claims[winner]![0])!,
      );
    }, 8),
  ...casesOf(Object.entries(RIVALS), ([what, rivalOf]) => [
    `when a pin, the release by the holder and ${what} happen at once, nobody gets the reference afterwards`,
    rounds(async (trial, ms) => {
      const order = await orderOf(trial);
      const { first, holder } = order;
      const rival = await rivalOf(order);
      const isRivalFirst = (ms / 1_000) % 4 < 2;
      const [early, pinned, ended, late] = await Promise.all([
        isRivalFirst ? rival(trial.store) : null,
        trial.tryReplace(proven(trial, first), first),
        trial.tryReplace(trial.next(holder, released), holder, undefined, trial.second),
        isRivalFirst ? null : rival(trial.store),
      ]);
      same([pinned, ended], ['replaced', 'replaced']);
      // A rival that came before the pin may have got the reference; when it ends, it releases nothing.
      const winner = early ?? late;
      if (winner) await trial.replace(winner, released);
      await expectLocked(trial, order.reference);
    }, ROUNDS),
  ]),
  [`all of ${RACERS} payments that pin one reference at once are written`]: async (trial) => {
    const { reference, holder } = await orderOf(trial);
    const records = await many(RACERS, () => trial.insert({ ...released, reference }));
    const outcomes = await trial.race((store, index) =>
      trial.tryReplace(proven(trial, records[index]!), records[index]!, undefined, store),
    );
    same(tally(outcomes), { replaced: RACERS });
    await trial.replace(holder, released);
    await expectLocked(trial, reference);
  },
  'no record is leased twice at once': async (trial) => {
    const records = await many(40, (index) => trial.insert({ dueAt: at(index) }));
    trial.moveTo(100);
    const found = await inTurns(trial, records.length, async (store) => ids(await trial.leaseDue({ limit: 6, store })));
    same(found.sort(), ids(records).sort());
  },
};

/** Eight callers at once lease at most six, until as many are leased as there are. */
async function inTurns(trial: StoreTrial, count: number, lease: (store: PaymentStore) => Promise<string[]>) {
  const found: string[] = [];
  while (found.length < count) {
    const batches = await trial.race(lease, 8);
    assert.ok(batches.every((batch) => batch.length <= 6));
    assert.ok(batches.flat().length > 0, 'what is due and free must be leased in the end');
    found.push(...batches.flat());
  }
  return found;
}

/** Payments that each have three events of `unknown`. */
function publishThrice(trial: StoreTrial, payments: number): Promise<PaymentRecord[]> {
  return many(payments, async (index) => {
    let record = await trial.insert();
    for (let ms = 1; ms <= 3; ms += 1)
      ({ record } = await trial.publish(record, 'unknown', at(ms), trial.racer(index)));
    return record;
  });
}

const outboxRaces: StoreCases = {
  'no delivery is leased twice at once': async (trial) => {
    const handler = await trial.handler('payment.failed');
    const events = await many(40, (index) => trial.publishNew('failed', index));
    await trial.fanOut();
    const lease = async (store: PaymentStore) => eventIds(await trial.lease(handler, { limit: 6, store }));
    same((await inTurns(trial, events.length, lease)).sort(), events.sort());
  },
  'a lease that runs out is either renewed or taken over, never both': rounds(async (trial, ms) => {
    const handler = await trial.handler('payment.failed');
    const eventId = await trial.publishNew('failed');
    await trial.take(handler, { lease: 'mine', leaseMs: 100 });
    trial.moveTo(ms + 100);
    const [renewed, taken] = await Promise.all([
      trial.store.renewLease({ account: trial.account, handlerId: handler, eventId, lease: 'mine' }, 1_000),
      trial.lease(handler, { store: trial.second }),
    ]);
    same([renewed, eventIds(taken)], renewed ? [true, []] : [false, [eventId]]);
  }),
  'a handler that is announced while events are written and fanned out gets each of them once': async (trial) => {
    const handlerId = unique('Orders.failed');
    const records = await many(3 * RACERS, () => trial.insert());
    await Promise.all([
      ...records.map(async (record, index) => {
        await trial.publish(record, 'failed', at(index), trial.racer(index));
        await trial.fanOut({ limit: 4, store: trial.racer(index + 1) });
      }),
      ...trial.stores.map((store) => store.announce(trial.account, [{ handlerId, type: 'payment.failed' }])),
    ]);
    same((await trial.drain(handlerId)).sort(), records.map((record) => `${record.conversationId}:2`).sort());
    same((await trial.counts()).waitingEvents, 0);
  },
  'with concurrent fan-outs, each handler gets each event once, in the order of the versions': async (trial) => {
    const came = new Map([
      [await trial.handler('payment.unknown'), [] as string[]],
      [await trial.handler('payment.unknown'), []],
    ]);
    const handlers = [...came.keys()];
    const records = await publishThrice(trial, 12);
    let fannedOut = 0;
    for (let round = 0; round < 8; round += 1) {
      await trial.race(async (store, index) => {
        const count = index < 4 ? await trial.fanOut({ limit: 3, store }) : 0;
        fannedOut += count;
        if (index < 4) return;
        const handlerId = handlers[index % 4 === 0 ? 0 : 1]!;
        const taken = eventIds(await trial.lease(handlerId, { store, limit: 5 }));
        // Noted first: once one is acknowledged, another worker may take the next one of its payment.
        came.get(handlerId)?.push(...taken);
        for (const eventId of taken) await store.acknowledge(trial.account, handlerId, eventId);
      }, 8);
    }
    assert.equal(fannedOut + (await trial.fanOut()), 3 * records.length, 'each event must be fanned out once');
    for (const [handlerId, events] of came) {
      events.push(...(await trial.drain(handlerId)));
      for (const { conversationId } of records) {
        const ofThis = events.filter((eventId) => eventId.startsWith(`${conversationId}:`));
        same(
          ofThis,
          [2, 3, 4].map((version) => `${conversationId}:${version}`),
        );
      }
      assert.equal(events.length, 3 * records.length);
    }
  },
};

/** A payment that was settled long ago, and a refund of it. */
async function refunded(trial: StoreTrial, ms: number): Promise<[PaymentRecord, PaymentRecord]> {
  const payment = await trial.putWithEvent(
    trial.record({ state: 'succeeded', updatedAt: at(ms - 1), finalizedAt: at(ms - 1) }),
  );
  const settled = { updatedAt: at(ms - 1), finalizedAt: at(ms - 1) };
  return [payment, await trial.putWithEvent(trial.refund(payment, { ...released, ...settled }))];
}

const purgeRaces: StoreCases = {
  ...casesOf(['payment', 'refund'], (what, index) => [
    `when a purge and a replace of a ${what} happen at once, one of them is done`,
    rounds(async (trial, ms) => {
      const records = await refunded(trial.in(), ms - MAX_WAIT_MS);
      const own = trial.in(records[0].account);
      const review = trial.next(records[index]!, { state: 'review', finalizedAt: null });
      const [{ payments }, outcome] = await Promise.all([
        own.purge(),
        trial.tryReplace(review, records[index]!, undefined, trial.second),
      ]);
      same([payments, outcome], outcome === 'replaced' ? [0, 'replaced'] : [1, 'stale']);
      if (outcome === 'replaced') await trial.expectStored(review, records[1 - index]!);
      else await trial.expectGone(...records);
      same((await trial.versions(review)).length, outcome === 'replaced' ? 2 : 0);
    }),
  ]),
  'when a purge and a first announcement happen at once, the waiting event is deleted with its payment or delivered':
    rounds(async (trial, ms) => {
      const own = trial.in();
      const long = at(ms - 1 - MAX_WAIT_MS);
      const failed = await own.putWithEvent(own.record({ state: 'failed', updatedAt: long, finalizedAt: long }));
      const takeOver = async () => {
        await own.second.announce(own.account, [{ handlerId: 'H', type: 'payment.failed' }]);
        await own.fanOut({ store: own.second });
      };
      const [{ payments }] = await Promise.all([own.purge(), takeOver()]);
      const delivered = eventIds(await own.take('H'));
      const isThere = (await own.find(failed)) !== null;
      same([isThere, delivered], payments === 0 ? [true, [`${failed.conversationId}:1`]] : [false, []]);
    }),
  'a pair that is announced while it is forgotten keeps its deliveries, or is a new one': rounds(async (trial, ms) => {
    const own = trial.in();
    await own.announce('H', 'payment.failed');
    const eventId = await own.publishNew('failed', ms);
    await own.fanOut();
    own.moveTo(ms + 500);
    await Promise.all([own.purge({ paymentsMs: null, pairsMs: 100 }), own.swapped.announce('H', 'payment.failed')]);
    const { openDeliveries } = await own.counts();
    same(eventIds(await own.lease('H')), openDeliveries === 0 ? [] : [eventId]);
    // Whichever came first, it is known now.
    const next = await own.publishNew('failed', ms);
    same(await own.drain('H'), [next]);
  }),
  'a refund that is opened while its payment is purged is stored, and keeps the payment, or finds none': rounds(
    async (trial, ms) => {
      const own = trial.in();
      const records = await refunded(own, ms - MAX_WAIT_MS);
      const refund = own.refund(records[0]);
      const [{ payments }, refusal] = await Promise.all([own.purge(), own.second.insert(refund)]);
      same([payments, refusal], refusal === null ? [0, null] : [1, 'parentId']);
      if (refusal === null) await own.expectStored(refund, ...records);
      else await own.expectGone(refund, ...records);
    },
  ),
  ...casesOf([HOST_ID_NONCE, undefined], (hostIdNonce) => [
    `no repeat of a payment is stored while it is purged${hostIdNonce ? '' : ', where an older release wrote it'}`,
    rounds(async (trial, ms) => {
      const { conversationId, ...record } = trial.record({ ...released, finalizedAt: at(ms - 1), hostIdNonce });
      await trial.put({ conversationId, ...record });
      const repeat = () =>
        trial.second.insert(trial.record({ conversationId, hostIdNonce: HOST_ID_NONCE, state: 'charging' }));
      const [first, counts, second] = await Promise.all([repeat(), trial.purge(), repeat()]);
      // A repeat may have locked the payment for a moment: the next purge deletes it then.
      const { payments: late } = await trial.purge();
      same([first, counts.payments + late, second], ['conversationId', 1, 'conversationId']);
      assert.equal(await trial.store.find(trial.account, conversationId), null);
    }, ROUNDS),
  ]),
};

/** Several callers at once, over two connections. */
export const raceCases: StoreCases = { ...ledgerRaces, ...outboxRaces, ...purgeRaces };
