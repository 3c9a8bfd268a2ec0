import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { getHeapSnapshot } from 'node:v8';
import { expect } from 'expect';
import { type PaymentRecord, toPayment } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { openSqlStore } from '../../lib/store/sql/index.js';
import { aPaymentEvent } from '../../lib/testing/index.js';
import { serveTasks } from '../rigs/tasks.mjs';
import { ENGINES, type Engine, type StoreUrls } from './kept-values.js';
import { printings } from './printings.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const PAID = { handlerId: 'Orders: paid', type: 'payment.succeeded' } as const;

/** Random, and outside the heap: a search of the heap finds only the copies that others keep. */
const marks = Object.fromEntries(ENGINES.map((name) => [name, randomBytes(9)])) as Record<Engine, Buffer>;
const planted = randomBytes(9);
/** The control: a search has to find it. A task uses it, or it would be collected. */
const keeper: string[] = [];

const urls = JSON.parse(process.argv[2] ?? '{}') as StoreUrls;
const stores: Record<Engine, PaymentStore> = {
  sqlite: await openSqlStore(urls.sqlite),
  postgres: await openSqlStore(urls.postgres),
};
for (const name of ENGINES) {
  await stores[name].open();
  await payEverything(stores[name], marks[name].toString('hex'));
}
keeper.push(planted.toString('hex'));

serveTasks({
  isPrinted: (name: Engine): boolean => {
    const text = marks[name].toString('hex');
    return printings(stores[name]).some((printed) => printed.includes(text));
  },
  /** Of the planted text, and of the mark of each engine. */
  areInHeap: () => isInHeap([planted, ...ENGINES.map((name) => marks[name])]),
  end: async () => {
    keeper.length = 0;
    for (const store of Object.values(stores)) await store.close();
  },
});

/** A first customer's payments, through every query that is run for a payment; the mark is in each of their texts. */
async function payEverything(store: PaymentStore, mark: string): Promise<void> {
  const texts = { reference: `order ${mark}`, idempotencyKey: `key ${mark}`, message: `note ${mark}` };
  const start: PaymentRecord = aPaymentRecord({
    conversationId: `C${mark}`,
    hostIdNonce: mark,
    state: 'awaiting',
    version: 1,
    tokenHash: mark,
    ...texts,
  });
  await store.announce('default', [PAID]);
  expect(await store.insert(start)).toBeNull();
  expect(await store.insert({ ...start, attemptId: 'again' })).toBe('conversationId');
  expect(await store.insert({ ...start, conversationId: `D${mark}`, tokenHash: null })).toBe('idempotencyKey');
  const claimed: PaymentRecord = { ...start, state: 'authorizing', version: 2, referenceLock: start.reference };
  expect(await store.replace(claimed, 1)).toBe('replaced');
  const paid: PaymentRecord = {
    ...claimed,
    state: 'succeeded',
    version: 3,
    dueAt: null,
    finalizedAt: claimed.createdAt,
    idempotencyKey: null,
  };
  const event = aPaymentEvent({ ...toPayment(paid), state: 'succeeded' });
  expect(await store.replace(paid, 2, event)).toBe('replaced');
  const second: PaymentRecord = { ...start, ...paid, conversationId: `E${mark}`, tokenHash: null, version: 1 };
  const unlocked: PaymentRecord = { ...second, state: 'charging', referenceLock: null };
  expect(await store.insert(unlocked)).toBeNull();
  expect(await store.replace({ ...unlocked, version: 2, state: 'review', pinsReference: true }, 1)).toBe('replaced');

  await store.find('default', start.conversationId);
  await store.findByTokenHash('default', mark);
  await store.findByIdempotencyKey('default', texts.idempotencyKey);
  await store.listByState('default', ['succeeded'], 10);
  await store.history('default', start.conversationId);
  await store.leaseDue({ account: 'default', leaseMs: 1000, limit: 10 });
  await store.fanOut('default', 10);
  const lease = {
    account: 'default',
    handlerId: PAID.handlerId,
    types: [PAID.type],
    lease: 'mine',
    leaseMs: 1000,
    limit: 2,
  };
  for (const { event: told } of await store.leaseDeliveries(lease)) {
    await store.acknowledge('default', PAID.handlerId, told.eventId);
  }
  await store.counts('default');
  await store.purge('default', { paymentsMs: 1, pairsMs: 1e9, keysMs: 1e9 });
  // Not before: Kysely keeps the values of the query that it compiled last.
  await store.findByReference('default', texts.reference);
}

/** Whether each text stands anywhere in the heap of this process. */
async function isInHeap(texts: readonly Buffer[]): Promise<boolean[]> {
  const found = texts.map(() => false);
  const sought = texts.map((text) => Buffer.from(text.toString('hex')));
  let rest: Buffer = Buffer.alloc(0);
  const snapshot = getHeapSnapshot();
  snapshot.on('data', (chunk: Buffer | string) => {
    const text = Buffer.concat([rest, typeof chunk === 'string' ? Buffer.from(chunk) : chunk]);
    sought.forEach((one, index) => (found[index] ||= text.includes(one)));
    rest = text.subarray(-40);
  });
  await once(snapshot, 'end');
  return found;
}
