import type { PaymentRecord, PaymentStore, PurgeCounts, Retention } from 'nestjs-card-payment';
import type { SqlPaymentStore } from 'nestjs-card-payment/sql';
import { aPaymentEvent } from 'nestjs-card-payment/testing';
import { setTimeout as delay } from 'node:timers/promises';
import { awaitingRecord, claimedRecord } from '../records.js';
import { median } from '../table.js';
import { sampleKeys, SPREAD_MS } from './sample-payments.js';
import type { ScaleServer } from './scale-server.js';

const ACCOUNT = 'default';
const YEAR_MS = 365 * 86_400_000;

/** What a purge of a tenth of all payments does, and what it does to payments that are made meanwhile. */
export interface PurgeFigures {
  readonly payments: number;
  readonly seconds: number;
  /** How long each transaction, and with it every lock, lasts. */
  readonly batchMs: readonly number[];
  /** Claims of other payments meanwhile. */
  readonly claimMs: readonly number[];
  /** From the event of another payment to its delivery, asking every 5 milliseconds. */
  readonly deliveryMs: readonly number[];
}

export async function measurePurge(server: ScaleServer, url: string): Promise<PurgeFigures> {
  const batchMs: number[] = [];
  const { store, end } = server.timedStoreOf(url, (ms) => void batchMs.push(ms));
  await store.open();
  batchMs.length = 0;
  const beside = server.storeOf(url, 2);
  await beside.open();
  await beside.now();

  const began = performance.now();
  const retention = { paymentsMs: SPREAD_MS * 0.9, pairsMs: YEAR_MS, keysMs: YEAR_MS };
  let isDone = false;
  const purging = purgeAll(store, retention).finally(() => (isDone = true));
  const claimMs: number[] = [];
  const deliveryMs: number[] = [];
  for (let number = 0; !isDone; number += 1) {
    const { claim, delivery } = await payBeside(beside, number);
    if (!isDone) {
      claimMs.push(claim);
      deliveryMs.push(delivery);
    }
    await delay(20);
  }
  const { payments } = await purging;
  const seconds = (performance.now() - began) / 1000;
  await Promise.all([store.close(), beside.close()]);
  await end();
  return { payments, seconds, batchMs, claimMs, deliveryMs };
}

/** One payment whose event is fanned out and leased as soon as it can be. */
async function payBeside(store: SqlPaymentStore, number: number): Promise<{ claim: number; delivery: number }> {
  const { conversationId, reference, tokenHash } = sampleKeys(-900_000_000 - number);
  const awaiting = { ...awaitingRecord(number), conversationId, reference, tokenHash };
  await store.insert(awaiting);
  const claimed = claimedRecord(awaiting, new Date());
  const began = performance.now();
  await store.replace(claimed, 1);
  const claim = performance.now() - began;
  const at = new Date();
  const settled: PaymentRecord = {
    ...claimed,
    state: 'succeeded',
    version: 3,
    updatedAt: at,
    finalizedAt: at,
    dueAt: null,
  };
  await store.replace(settled, 2, aPaymentEvent(settled as never));
  const stored = performance.now();
  const types = ['payment.succeeded'] as const;
  const lease = { account: ACCOUNT, handlerId: 'Orders.settled', types, lease: 'bench', leaseMs: 60_000, limit: 10 };
  for (;;) {
    await store.fanOut(ACCOUNT, 100);
    const deliveries = await store.leaseDeliveries(lease);
    for (const { event } of deliveries) await store.acknowledge(ACCOUNT, lease.handlerId, event.eventId);
    if (deliveries.some(({ event }) => event.payment.conversationId === conversationId)) break;
    await delay(5);
  }
  return { claim, delivery: performance.now() - stored };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export function shown(values: readonly number[]): string {
  return `${median(values).toFixed(1)} / ${percentile(values, 0.99).toFixed(1)}`;
}

/** As many passes of the background work as it takes. */
async function purgeAll(store: PaymentStore, retention: Retention): Promise<PurgeCounts> {
  const counts = { payments: 0, events: 0 };
  for (let hasMore = true; hasMore;) {
    const purged = await store.purge(ACCOUNT, retention);
    counts.payments += purged.payments;
    counts.events += purged.events;
    hasMore = purged.hasMore ?? false;
  }
  return counts;
}
