import type { Delivery, PaymentRecord, PaymentStore } from 'nestjs-card-payment';
import { aPaymentEvent } from 'nestjs-card-payment/testing';
import { awaitingRecord, claimedRecord } from '../records.js';
import { sampleIdempotencyKey, sampleKeys, sampleNumbers } from './sample-payments.js';

const ACCOUNT = 'default';
const HANDLER = 'Orders.settled';
const HANDLED = ['payment.succeeded', 'payment.failed', 'payment.unknown', 'payment.review'] as const;

/** One operation of the store, a call for each payment that it is about. */
export interface Operation {
  readonly name: string;
  readonly calls: readonly (() => Promise<unknown>)[];
}

/** The handler that every shop has. */
export function announce(store: PaymentStore): Promise<void> {
  return store.announce(
    ACCOUNT,
    HANDLED.map((type) => ({ handlerId: HANDLER, type })),
  );
}

/** Payments under way, as many in a large store as in a small one: the same traffic. */
export async function insertUnderWay(store: PaymentStore): Promise<void> {
  const now = new Date();
  for (let number = 0; number < 2_000; number += 1) {
    const at = new Date(now.getTime() - number * 100);
    const { conversationId, reference, tokenHash } = sampleKeys(-1_000_000 - number);
    const record = { ...awaitingRecord(number, at), conversationId, reference, tokenHash };
    if (number < 900) await store.insert(record);
    else if (number < 1_000) await store.insert({ ...record, state: 'review', referenceLock: reference, dueAt: null });
    else await store.insert({ ...record, state: 'unknown', referenceLock: reference, expiresAt: null, dueAt: at });
  }
}

/** What a payment, its callback, its event and the background work ask of the store, one operation after the other. */
export function* operations(store: PaymentStore, stored: number, count: number, run: number): Generator<Operation> {
  const each = <T>(items: readonly T[], call: (item: T) => Promise<unknown>) => items.map((item) => () => call(item));
  const threeD = sampleNumbers('threeD', stored, count).map(sampleKeys);
  const direct = sampleNumbers('direct', stored, count).map(sampleIdempotencyKey);
  yield { name: 'find', calls: each(threeD, (keys) => store.find(ACCOUNT, keys.conversationId)) };
  yield { name: 'findByTokenHash', calls: each(threeD, (keys) => store.findByTokenHash(ACCOUNT, keys.tokenHash)) };
  yield { name: 'findByReference', calls: each(threeD, (keys) => store.findByReference(ACCOUNT, keys.reference)) };
  yield { name: 'findByIdempotencyKey', calls: each(direct, (key) => store.findByIdempotencyKey(ACCOUNT, key)) };
  yield { name: 'history', calls: each(threeD, (keys) => store.history(ACCOUNT, keys.conversationId)) };

  const opened = Array.from({ length: count }, (_, i): PaymentRecord => {
    const { conversationId, reference, tokenHash } = sampleKeys(-(run + 1) * 10_000_000 - i);
    return { ...awaitingRecord(i), conversationId, reference, tokenHash };
  });
  yield { name: 'insert (a payment begins)', calls: each(opened, (record) => store.insert(record)) };
  const claimed = opened.map((record) => claimedRecord(record, new Date()));
  yield {
    name: 'replace (claim, with its lock)',
    calls: each(claimed, (record) => expectReplaced(store.replace(record, record.version - 1))),
  };
  const settled = claimed.map((record): PaymentRecord => {
    const at = new Date();
    return { ...record, state: 'succeeded', version: record.version + 1, updatedAt: at, finalizedAt: at, dueAt: null };
  });
  yield {
    name: 'replace (settle, with its event)',
    calls: each(settled, (record) =>
      expectReplaced(store.replace(record, record.version - 1, aPaymentEvent(record as never))),
    ),
  };
  const steps = Array.from({ length: Math.ceil(count / 5) }, (_, i) => i);
  yield { name: 'fanOut (5 events)', calls: steps.map(() => () => store.fanOut(ACCOUNT, 5)) };
  const leased: Delivery[] = [];
  const lease = { account: ACCOUNT, handlerId: HANDLER, types: HANDLED, lease: 'bench', leaseMs: 60_000, limit: 5 };
  yield {
    name: 'leaseDeliveries (5)',
    calls: steps.map(() => async () => leased.push(...(await store.leaseDeliveries(lease)))),
  };
  if (leased.length < count) throw new Error(`${leased.length} deliveries of ${count}`);
  yield {
    name: 'acknowledge',
    calls: each(leased, ({ event }) => store.acknowledge(ACCOUNT, HANDLER, event.eventId)),
  };

  const due: PaymentRecord[] = [];
  const passes = Array.from({ length: 20 }, (_, i) => i);
  yield {
    name: 'leaseDue (50)',
    calls: passes.map(() => async () => {
      due.push(...(await store.leaseDue({ account: ACCOUNT, leaseMs: 600_000, limit: 50 })));
    }),
  };
  if (due.length !== 1_000) throw new Error(`${due.length} payments were due`);
  const past = new Date(Date.now() - 60_000);
  yield {
    name: 'handBack',
    calls: each(due, ({ conversationId, version }) => store.handBack(ACCOUNT, conversationId, version, past)),
  };
  yield {
    name: 'listByState (50 unknown)',
    calls: passes.map(() => () => store.listByState(ACCOUNT, ['unknown'], 50)),
  };
  yield { name: 'counts', calls: passes.map(() => () => store.counts(ACCOUNT)) };
}

async function expectReplaced(outcome: Promise<string>): Promise<void> {
  const got = await outcome;
  if (got !== 'replaced') throw new Error(`a transition was ${got}`);
}
