import assert from 'node:assert/strict';
import type { LedgerState } from '../../../lib/payment/states.js';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import { MAX_WAIT_MS, type PurgeCounts } from '../../../lib/store/payment-store.js';
import { at, many, type PaymentStoreCase, same, type StoreTrial, unique } from './store-trial.js';

/** When no event keeps its payment any more that no handler takes. */
const LATE = MAX_WAIT_MS;
/** More than a step of a purge takes. */
const MANY = 250;
const NOTHING: PurgeCounts = { payments: 0, events: 0, unheard: 0 };
const ONE: PurgeCounts = { payments: 1, events: 0, unheard: 0 };
const ONE_EVENT: PurgeCounts = { ...ONE, events: 1 };
const paid = { state: 'succeeded', finalizedAt: at(10) } as const;
const failed = { state: 'failed', finalizedAt: at(20), referenceLock: null } as const;

/** The record that is looked at: a settled payment, or a settled refund of one. Either has an event. */
interface Subject {
  readonly own: StoreTrial;
  readonly record: PaymentRecord;
  readonly eventId: string;
  readonly handler: string;
  readonly isRefund: boolean;
}

type Step = (subject: Subject) => Promise<unknown>;

const acknowledge: Step = ({ own, handler, eventId }) => own.store.acknowledge(own.account, handler, eventId);
const announce: Step = ({ own, handler, isRefund }) =>
  own.announce(handler, isRefund ? 'refund.failed' : 'payment.failed');
const fanOut: Step = async (subject) => [await announce(subject), await subject.own.fanOut()];

/** An open delivery that is leased and then postponed. */
function failing(parked: boolean): Step {
  return async (subject) => {
    await announce(subject);
    await subject.own.fail(subject.handler, { parked, retryInMs: 5 });
  };
}

/** Reopens the record in another state, and settles it again. */
function inState(state: LedgerState): readonly [Step, Step] {
  const unsettled = { state, finalizedAt: null };
  return [
    ({ own, record }) => own.replace(record, unsettled),
    ({ own, record }) => own.replace(own.next(record, unsettled), failed),
  ];
}

/** What keeps a payment from being purged, be it true of itself or of a refund of it, and what then ends that. */
const KEEPERS: readonly (readonly [what: string, keep: Step, end: Step])[] = [
  ['has an event that waits for a known handler', announce, ({ own, handler }) => own.drain(handler)],
  ['has an open delivery', fanOut, acknowledge],
  [
    'has a leased delivery',
    async (subject) => [await fanOut(subject), await subject.own.lease(subject.handler)],
    acknowledge,
  ],
  ['has a postponed delivery', failing(false), acknowledge],
  ['has a parked delivery', failing(true), acknowledge],
  [
    'has a replayed delivery',
    async (subject) => [await failing(true)(subject), await subject.own.replay(subject.handler, subject.eventId)],
    acknowledge,
  ],
  ['is unknown', ...inState('unknown')],
  ['is in review', ...inState('review')],
  ['is in a state of a newer release', ...inState('settling' as LedgerState)],
  [
    'has a delivery of a pair that is forgotten later',
    fanOut,
    async ({ own }) => {
      own.moveTo(LATE + 2_000);
      same(await own.purge({ paymentsMs: null, pairsMs: LATE + 1_000 }), NOTHING);
    },
  ],
  [
    'was settled within paymentsMs',
    ({ own, record }) => own.replace(record, { finalizedAt: at(LATE + 900) }),
    ({ own, record }) => own.replace(own.next(record), { finalizedAt: at(20) }),
  ],
];

/** What keeps it no longer than {@link MAX_WAIT_MS}. */
const OTHERS: readonly (readonly [what: string, step: Step])[] = [
  ['no handler is known', () => Promise.resolve()],
  ['a handler takes events of another type', ({ own }) => own.handler('payment.succeeded', 'refund.succeeded')],
  [
    'a handler of another account takes events of this type',
    ({ own }) => own.in().handler('payment.failed', 'refund.failed'),
  ],
  ['its delivery is acknowledged', async (subject) => [await fanOut(subject), await acknowledge(subject)]],
];

async function subjectOf(trial: StoreTrial, isRefund: boolean): Promise<Subject & { all: readonly PaymentRecord[] }> {
  const payment = trial.record(isRefund ? paid : failed);
  const record = isRefund ? trial.refund(payment, failed) : payment;
  const quiet = trial.refund(payment, { ...failed, kind: 'void' });
  const all = isRefund ? [payment, quiet, record] : [payment, quiet];
  for (const one of all) await (one === record ? trial.putWithEvent(one) : trial.put(one));
  return { own: trial, record, eventId: `${record.conversationId}:1`, handler: unique('H'), isRefund, all };
}

const keeping = [false, true].flatMap((isRefund): PaymentStoreCase[] => {
  const whose = isRefund ? 'a refund of it' : 'it';
  return [
    ...KEEPERS.map(([what, keep, end]): PaymentStoreCase => ({
      name: `a payment is not purged while ${whose} ${what}`,
      async run(trial) {
        const { all, ...subject } = await subjectOf(trial, isRefund);
        await keep(subject);
        trial.moveTo(LATE + 1_000);
        const before = await many(all.length, (index) => trial.find(all[index]!));
        same(await trial.purge({ paymentsMs: 500 }), NOTHING);
        same(await many(all.length, (index) => trial.find(all[index]!)), before);
        await end(subject);
        trial.moveTo(LATE + 3_000);
        // An event that no handler takes would keep it, too.
        await announce(subject);
        await trial.drain(subject.handler);
        same(await trial.purge({ paymentsMs: 500 }, trial.second), { payments: 1, events: 1, unheard: 0 });
        await trial.expectGone(...all);
        same(await trial.purge(), NOTHING);
      },
    })),
    ...OTHERS.map(([what, step]): PaymentStoreCase => ({
      name: `an event of ${isRefund ? 'a refund' : 'a payment'} keeps no payment and goes with it where ${what}`,
      async run(trial) {
        const { all, ...subject } = await subjectOf(trial, isRefund);
        await step(subject);
        const unheard = (await trial.counts()).waitingEvents;
        trial.moveTo(MAX_WAIT_MS - 1);
        same(await trial.purge(), unheard === 0 ? ONE_EVENT : NOTHING);
        trial.moveTo(MAX_WAIT_MS);
        same(await trial.purge(), unheard === 0 ? NOTHING : { ...ONE_EVENT, unheard });
        await trial.expectGone(...all);
        await announce(subject);
        same([await subject.own.fanOut(), await subject.own.lease(subject.handler)], [0, []]);
        same([(await subject.own.counts()).waitingEvents, (await subject.own.counts()).openDeliveries], [0, 0]);
      },
    })),
  ];
});

/** Deleting payments, with their refunds, and pairs that are no longer announced. */
export const purgeCases: readonly PaymentStoreCase[] = [
  ...keeping,
  {
    name: 'purge deletes a payment and its refunds with all that shows them, and nothing of another account with the same ids',
    async run(trial) {
      const other = trial.in();
      const full = trial.fullRecord({ state: 'authorizing', finalizedAt: null, dueAt: null });
      const refund = trial.refund(full, { tokenHash: unique('token'), idempotencyKey: unique('key') });
      for (const here of [trial, other]) {
        const [payment, back] = [
          { ...full, account: here.account },
          { ...refund, account: here.account },
        ];
        for (const record of [payment, back]) {
          const unknown = await here.publish(await here.put(record), 'unknown', at(5));
          await here.replace(unknown.record, { ...failed, updatedAt: at(10) });
        }
      }
      trial.moveTo(2 * MAX_WAIT_MS);
      same(await trial.purge(), { payments: 1, events: 2, unheard: 2 });
      for (const { account, store } of [trial, other]) {
        const left = account === other.account ? 1 : 0;
        const found = [
          ...(await store.findByReference(account, full.reference!)),
          ...(await store.findRefunds(account, full.conversationId)),
          ...(await store.listSettled({ account, from: at(0), to: at(99), after: null, limit: 10 })),
        ];
        for (const [type, record] of [
          ['payment', full],
          ['refund', refund],
        ] as const) {
          found.push(
            ...[await store.find(account, record.conversationId)].filter((one) => one !== null),
            ...[await store.findByTokenHash(account, record.tokenHash!)].filter((one) => one !== null),
            ...(await store.list({ account, type, states: ['failed'], after: null, limit: 10 })),
            ...(await store.list({ account, type, after: null, limit: 10 })),
          );
          same((await store.history(account, record.conversationId)).length, 3 * left);
        }
        same(found.length, 12 * left);
        same((await store.counts(account)).waitingEvents, 2 * left);
      }
    },
  },
  {
    name: 'purge keeps a settled payment for paymentsMs, and for good where that is null',
    async run(trial) {
      const record = await trial.insert({ ...paid, createdAt: at(-9_000_000) });
      trial.moveTo(1_009);
      same(await trial.purge({ paymentsMs: 1_000 }), NOTHING);
      trial.moveTo(1_011);
      same(await trial.purge({ paymentsMs: null }), NOTHING);
      await trial.expectStored(record);
      same(await trial.purge({ paymentsMs: 1_000 }), ONE);
      await trial.expectGone(record);
    },
  },
  {
    name: 'purge keeps a settled payment while it is due',
    async run(trial) {
      const late = await trial.insert({ ...paid, state: 'expired', dueAt: at(500) });
      trial.moveTo(1_000);
      same(await trial.purge(), NOTHING);
      await trial.replace(late, { dueAt: null });
      same(await trial.purge(), ONE);
    },
  },
  {
    name: 'purge deletes no refund of a payment that stays',
    async run(trial) {
      const kept: PaymentRecord[] = [];
      for (const changes of [{ state: 'review', finalizedAt: null }, { finalizedAt: at(900) }] as const) {
        const payment = await trial.insert({ ...paid, ...changes });
        kept.push(payment, await trial.insertRefund(payment, failed));
      }
      trial.moveTo(1_000);
      same(await trial.purge({ paymentsMs: 500 }), NOTHING);
      same(await trial.purge({ paymentsMs: null }), NOTHING);
      await trial.expectStored(...kept);
    },
  },
  {
    name: 'the key of a deleted refund, and its id if the host chose it, stay taken for a while, the key for refunds alone',
    async run(trial) {
      const payment = await trial.insert(paid);
      const names = { hostIdNonce: '09382017465f', idempotencyKey: unique('anahtar 🔑') };
      const { conversationId } = await trial.insertRefund(payment, { ...failed, ...names });
      const made = await trial.insertRefund(payment, { ...failed, hostIdNonce: null });
      trial.moveTo(1_000);
      same(await trial.purge(), ONE);
      const other = await trial.insert(paid);
      const byKey = (type: 'payment' | 'refund') =>
        trial.second.findByIdempotencyKey(trial.account, type, names.idempotencyKey);
      same([await byKey('refund'), await byKey('payment')], ['purged', null]);
      for (const [changes, key] of [
        [{ idempotencyKey: names.idempotencyKey }, 'idempotencyKey'],
        [{ conversationId, hostIdNonce: names.hostIdNonce }, 'conversationId'],
      ] as const) {
        assert.equal(await trial.store.insert(trial.refund(other, { ...failed, ...changes })), key);
      }
      await trial.insert({ ...names });
      await trial.insertRefund(other, { ...failed, conversationId: made.conversationId });
      trial.moveTo(2_000);
      await trial.purge({ paymentsMs: null, keysMs: 500 });
      same(await byKey('refund'), null);
      await trial.insertRefund(other, { ...failed, conversationId, ...names });
    },
  },
  {
    name: 'a refund is stored only while its payment is, and only if that is a payment',
    async run(trial) {
      const payment = await trial.insert(paid);
      const refund = await trial.insertRefund(payment, failed);
      const missing = [trial.record({ state: 'succeeded' }), refund, { ...payment, account: trial.in().account }];
      for (const parent of missing) {
        const orphan = trial.refund(parent);
        assert.equal(await trial.store.insert(orphan), 'parentId');
        await trial.expectGone(orphan);
      }
      trial.moveTo(1_000);
      same(await trial.purge(), ONE);
      assert.equal(await trial.second.insert(trial.refund(payment)), 'parentId');
    },
  },
  {
    name: 'however many payments, refunds and deliveries there are, purge deletes those that it should and gets past the others',
    async run(trial) {
      await trial.handler('refund.failed');
      await many(MANY, async () => trial.insertRefund(await trial.insert(paid)));
      same(await trial.purge(), NOTHING);
      const one = await trial.insert(paid);
      await many(MANY, () => trial.insertRefund(one, failed));
      await many(MANY, () => trial.putWithEvent(trial.record(failed)));
      const handler = await trial.handler('payment.failed');
      same(await trial.fanOut(), MANY);
      trial.moveTo(1_001);
      same(await trial.purge({ pairsMs: 1_000 }), { payments: MANY + 1, events: MANY, unheard: 0 });
      await trial.expectGone(one);
      same([(await trial.counts()).openDeliveries, await trial.take(handler)], [0, []]);
      same((await trial.counts()).refunds.refunding.count, MANY);
    },
  },
];
