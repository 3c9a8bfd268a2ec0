import type { Cluster, Redis } from 'ioredis';
import { merchantAccountOf, refundsAccountOf } from '../../payment/account.js';
import type { PaymentClock } from '../../payment/clock.js';
import type { LedgerEvent } from '../../payment/ledger-event.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import type { LedgerState } from '../../payment/payment-state.js';
import type { LeaseRequest, ReplaceOutcome, UniqueKey } from '../payment-ledger.js';
import type { Delivery, DeliveryLeaseRequest, HandlerPair, LeasedDelivery, Postponement } from '../payment-outbox.js';
import {
  MAX_PURGE_MS,
  PaymentStore,
  type PurgeCounts,
  type Retention,
  type SettledPage,
  type StoreCounts,
} from '../payment-store.js';
import { historyFromJson } from '../record-json.js';
import { RedisConnection } from './redis-connection.js';
import {
  hashOfKey,
  readCounts,
  readDeliveries,
  readRecord,
  readRecords,
  type Script,
  type ScriptValues,
  toArguments,
  writeOf,
} from './script-calls.js';
import * as ledger from './scripts/ledger.js';
import { NOW } from './scripts/library.js';
import * as outbox from './scripts/outbox.js';
import { COUNTS, DELETE_PAYMENTS, FORGET_KEYS, FORGET_PAIRS } from './scripts/purge-and-counts.js';
import { checkSchema, warnIfNotDurable } from './server-check.js';

/** How many payments, pairs or keys one step of a purge looks at. */
const PURGE_STEP = 200;
/** How many times a lease looks further, when every delivery that it looked at had to wait for an earlier version. */
const MAX_LEASE_LOOKS = 20;
/** How long a call may take, in milliseconds, unless the options say otherwise. */
export const DEFAULT_TIMEOUT_MS = 5000;

export interface RedisPaymentStoreOptions {
  /**
   * The prefix of this store's keys, written as a hash tag in braces, so that a cluster keeps them on one node.
   * Default: `card-payment`, for keys such as `{card-payment}:default:due`.
   */
  readonly prefix?: string;
  /** How long a call may take, in milliseconds, including reconnects. Default: 5000. */
  readonly timeoutMs?: number;
  /** For tests: where the store's time comes from instead of the Redis server. */
  readonly clock?: PaymentClock;
  /** Whether `open` refuses a database that is not a payment store yet, and writes nothing. Default false. */
  readonly mustExist?: boolean;
}

/**
 * Keeps payments in Redis 6 or later, on one server or a cluster. Each call is one Lua script, whose keys all have the
 * store's hash tag; leases and purges may take a few, one after the other. The time is that of the server.
 *
 * The module's promises hold only while Redis loses no acknowledged write: it needs `maxmemory-policy noeviction`,
 * `appendonly yes` and `appendfsync always`. Replication is asynchronous, so a failover may lose the last writes;
 * `min-replicas-to-write` makes that rarer, not impossible. Where that is not enough, take a SQL store.
 *
 * The client stays the caller's: {@link close} leaves it open, and a connection that has gone silent is the client's to
 * replace. ioredis may send a command again when a connection breaks; a write that arrives twice is recognised and
 * answered as the first time. A call that got no answer rejects, and may have been carried out nevertheless; give the
 * client `enableOfflineQueue: false` and `maxRetriesPerRequest: 0`, so that it does not send it later.
 *
 * Keys never expire by themselves: only {@link purge} deletes, as a payment with open deliveries must stay.
 */
export class RedisPaymentStore extends PaymentStore {
  override readonly keepsRefunds = true;
  private readonly connection: RedisConnection;
  private readonly base: string;
  private readonly clock: PaymentClock | undefined;
  private readonly mustExist: boolean;
  /**
   * For each account whose last purge ran out of time: how many payments that must stay it had passed. The next purge
   * skips that many; otherwise it might never get past them.
   */
  private readonly purgeSkips = new Map<string, number>();

  /** @throws Error when the prefix is empty or has braces of its own. */
  constructor(
    client: Redis | Cluster,
    {
      prefix = 'card-payment',
      timeoutMs = DEFAULT_TIMEOUT_MS,
      clock,
      mustExist = false,
    }: RedisPaymentStoreOptions = {},
  ) {
    super();
    if (!/^[^{}]+$/.test(prefix)) {
      throw new Error('The prefix of a Redis store must be a text without braces.');
    }
    this.connection = new RedisConnection(client, timeoutMs, () => this.onSilence());
    this.base = `{${prefix}}:`;
    this.clock = clock;
    this.mustExist = mustExist;
  }

  /** Checks the schema, and warns through Nest's Logger of settings with which the server could lose payments. */
  override async open(): Promise<void> {
    await checkSchema(this.connection, this.base, this.mustExist);
    await this.connection.ask(warnIfNotDurable);
  }

  async now(): Promise<Date> {
    return new Date(Number(await this.run(NOW, '', {})));
  }

  async insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    return (await this.run(ledger.INSERT, record.account, writeOf(record, event))) as UniqueKey | null;
  }

  async replace(record: PaymentRecord, expectedVersion: number, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const values = { ...writeOf(record, event), expectedVersion };
    return (await this.run(ledger.REPLACE, record.account, values)) as ReplaceOutcome;
  }

  async find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    return readRecord(await this.run(ledger.FIND, account, { id: conversationId }));
  }

  async findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return readRecord(await this.run(ledger.FIND_BY_TOKEN_HASH, account, { tokenHash }));
  }

  async findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | 'purged' | null> {
    const values = { idempotencyKey, keyHash: hashOfKey(idempotencyKey) };
    const reply = await this.run(ledger.FIND_BY_IDEMPOTENCY_KEY, account, values);
    return reply === 'purged' ? reply : readRecord(reply);
  }

  async findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return readRecords(await this.run(ledger.FIND_BY_REFERENCE, account, { reference }));
  }

  async listByState(account: string, states: readonly LedgerState[], limit: number): Promise<PaymentRecord[]> {
    return readRecords(await this.run(ledger.LIST_BY_STATE, account, { states: JSON.stringify(states), limit }));
  }

  async history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    const lines = (await this.run(ledger.HISTORY, account, { id: conversationId })) as string[];
    return lines.map(historyFromJson);
  }

  async leaseDue({ account, leaseMs, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    return readRecords(await this.run(ledger.LEASE_DUE, account, { leaseMs, limit }));
  }

  async handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    await this.run(ledger.HAND_BACK, account, { id: conversationId, version, dueAt });
  }

  async announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    const names = pairs.map(({ handlerId, type }) => `${type}:${encodeURIComponent(handlerId)}`);
    await this.run(outbox.ANNOUNCE, account, { pairs: JSON.stringify(names) });
  }

  async fanOut(account: string, limit: number): Promise<number> {
    return Number(await this.run(outbox.FAN_OUT, account, { limit }));
  }

  async leaseDeliveries(request: DeliveryLeaseRequest): Promise<Delivery[]> {
    const { account, handlerId, types, lease, leaseMs, limit } = request;
    const handler = encodeURIComponent(handlerId);
    const values = { handler, types: JSON.stringify(types), lease, leaseMs, limit };
    for (let looks = 1; ; looks += 1) {
      const [leased, hasMore] = (await this.run(outbox.LEASE_DELIVERIES, account, values)) as [unknown[], number];
      if (leased.length > 0 || hasMore === 0 || looks === MAX_LEASE_LOOKS) return readDeliveries(account, leased);
    }
  }

  async renewLease({ account, handlerId, eventId, lease }: LeasedDelivery, leaseMs: number): Promise<boolean> {
    const values = { handler: encodeURIComponent(handlerId), event: eventId, lease, leaseMs };
    return (await this.run(outbox.RENEW_LEASE, account, values)) === 1;
  }

  async acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    await this.run(outbox.ACKNOWLEDGE, account, { handler: encodeURIComponent(handlerId), event: eventId });
  }

  async postpone({ account, handlerId, eventId, lease }: LeasedDelivery, to: Postponement): Promise<void> {
    const { attempts, error, retryInMs, parked } = to;
    const values = { attempts, error, retryInMs, parked: String(parked), lease };
    await this.run(outbox.POSTPONE, account, {
      handler: encodeURIComponent(handlerId),
      event: eventId,
      ...values,
    });
  }

  async listParked(account: string, limit: number): Promise<Delivery[]> {
    return readDeliveries(account, await this.run(outbox.LIST_PARKED, account, { limit }));
  }

  async replay(account: string, handlerId: string, eventId: string): Promise<boolean> {
    const values = { handler: encodeURIComponent(handlerId), event: eventId };
    return (await this.run(outbox.REPLAY, account, values)) === 1;
  }

  async purge(account: string, { paymentsMs, pairsMs, keysMs }: Retention): Promise<PurgeCounts> {
    const end = performance.now() + MAX_PURGE_MS;
    const step = (script: Script, values: ScriptValues) => this.run(script, account, { ...values, limit: PURGE_STEP });
    const isLeftAfter = async (script: Script, values: ScriptValues) => {
      while ((await step(script, values)) === 1) if (performance.now() >= end) return true;
      return false;
    };
    const hasPairs = await isLeftAfter(FORGET_PAIRS, { pairsMs });
    const hasKeys = await isLeftAfter(FORGET_KEYS, { keysMs });
    let [payments, events] = [0, 0];
    let skip = this.purgeSkips.get(account) ?? 0;
    const refunds = this.keyOf(refundsAccountOf(account));
    // Refunds are deleted with their payments only.
    let isLeft = paymentsMs !== null && merchantAccountOf(account) === account;
    while (isLeft) {
      const reply = await step(DELETE_PAYMENTS, { paymentsMs, skip, refunds });
      const [looked, deleted, ofEvents, hasMore] = reply as [number, number, number, 0 | 1];
      skip += looked - deleted;
      payments += deleted;
      events += ofEvents;
      isLeft = hasMore === 1;
      if (isLeft && performance.now() >= end) break;
    }
    if (isLeft) this.purgeSkips.set(account, skip);
    else this.purgeSkips.delete(account);
    return hasPairs || hasKeys || isLeft ? { payments, events, hasMore: true } : { payments, events };
  }

  async counts(account: string): Promise<StoreCounts> {
    return readCounts(await this.run(COUNTS, account, {}));
  }

  override async listSettled({ account, from, to, after, limit }: SettledPage): Promise<PaymentRecord[]> {
    const values = { from, to, afterAt: after?.finalizedAt, afterId: after?.conversationId, limit };
    return readRecords(await this.run(ledger.LIST_SETTLED, account, values));
  }

  /** Called when Redis has not answered in time. */
  protected onSilence(): void {}

  private run(script: Script, account: string, values: ScriptValues): Promise<unknown> {
    const key = this.keyOf(account);
    const given = toArguments({ ...values, now: this.clock?.now() });
    return this.connection.ask((client) => script.run(client, key, given));
  }

  /** What all keys of an account begin with. */
  private keyOf(account: string): string {
    return `${this.base}${encodeURIComponent(account)}:`;
  }
}
