import { randomBytes } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { PaymentEvent } from '../../payment/payment-event.js';
import {
  SETTLED_STATES,
  type PaymentHistoryEntry,
  type PaymentRecord,
  type PaymentState,
} from '../../payment/payment.js';
import {
  PaymentStore,
  type Delivery,
  type HandlerAnnouncement,
  type LeaseRequest,
  type PurgeCounts,
  type ReplaceOutcome,
  type UniqueKey,
} from '../payment-store.js';
import {
  eventFromJson,
  eventToJson,
  historyEntryOf,
  historyFromJson,
  historyToJson,
  recordFromJson,
  recordToJson,
} from '../record-json.js';
import { RedisConnection } from './redis-connection.js';
import type { Script } from './script.js';
import * as scripts from './scripts.js';
import { warnOfForgetfulServers } from './server-check.js';

/** Of the keys and their contents. */
const KEY_SCHEMA_VERSION = 1;
const PURGE_STEP = 200;
/** How long a call may take where the options do not say. */
export const DEFAULT_TIMEOUT_MS = 5000;

export interface RedisPaymentStoreOptions {
  /**
   * What the keys of this store begin with, in the braces of a hash tag, so that a cluster keeps them on one node.
   * Default: `card-payment`, for keys such as `{card-payment}:default:due`.
   */
  readonly prefix?: string;
  /** How long a call may take, in milliseconds, including reconnects. Default: 5000. */
  readonly timeoutMs?: number;
}

/**
 * Keeps payments in Redis 6 or later, on one server or a cluster. Each call is one Lua script, whose keys all have the
 * store's hash tag.
 *
 * The module's promises hold only while Redis loses no acknowledged write: it needs `maxmemory-policy noeviction`,
 * `appendonly yes` and `appendfsync always`. Replication is asynchronous, so a failover may lose the last writes;
 * `min-replicas-to-write` makes that rarer, not impossible. Where that is not enough, take a SQL store.
 *
 * The client stays the caller's: {@link close} leaves it open. ioredis may send a command again when a connection
 * breaks; a write that arrives twice is recognised and answered as the first time. A call that got no answer rejects,
 * and may have been carried out nevertheless; give the client `enableOfflineQueue: false` and `maxRetriesPerRequest:
 * 0`, so that it does not send it later.
 *
 * Keys never expire by themselves: only {@link purge} deletes, as a payment with open deliveries must stay.
 */
export class RedisPaymentStore extends PaymentStore {
  private readonly connection: RedisConnection;
  private readonly base: string;

  /** @throws Error when the prefix is empty or has braces of its own. */
  constructor(
    client: Redis | Cluster,
    { prefix = 'card-payment', timeoutMs = DEFAULT_TIMEOUT_MS }: RedisPaymentStoreOptions = {},
  ) {
    super();
    if (!/^[^{}]+$/.test(prefix)) {
      throw new Error('The prefix of a Redis store must be a text without braces.');
    }
    this.connection = new RedisConnection(client, timeoutMs, () => this.onSilence());
    this.base = `{${prefix}}:`;
  }

  /** Warns, through Nest's Logger, of settings with which the server would lose payments. */
  override async open(): Promise<void> {
    const found = await this.connection.ask((client) =>
      scripts.SCHEMA.run(client, `${this.base}schema`, [KEY_SCHEMA_VERSION]),
    );
    if (Number(found) > KEY_SCHEMA_VERSION) {
      throw new Error(
        `The Redis store was written by a newer nestjs-card-payment (schema ${Number(found)}, ` +
          `this one knows ${KEY_SCHEMA_VERSION}): upgrade this instance.`,
      );
    }
    await this.connection.ask(warnOfForgetfulServers);
  }

  async insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null> {
    return (await this.run(scripts.INSERT, record.account, writeOf(record, event))) as UniqueKey | null;
  }

  async replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome> {
    const values = { ...writeOf(record, event), expectedVersion };
    return (await this.run(scripts.REPLACE, record.account, values)) as ReplaceOutcome;
  }

  async find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    return readRecord(await this.run(scripts.FIND, account, { id: conversationId }));
  }

  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return this.findByKey(account, 'tokenHash', tokenHash);
  }

  findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | null> {
    return this.findByKey(account, 'idempotencyKey', idempotencyKey);
  }

  async findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return readRecords(await this.run(scripts.FIND_BY_REFERENCE, account, { reference }));
  }

  async listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]> {
    return readRecords(await this.run(scripts.LIST_BY_STATE, account, { states: JSON.stringify(states), limit }));
  }

  async history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    const lines = (await this.run(scripts.HISTORY, account, { id: conversationId })) as string[];
    return lines.map(historyFromJson);
  }

  async leaseDue({ account, now, until, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    return readRecords(await this.run(scripts.LEASE_DUE, account, { now, untilTime: until, limit }));
  }

  async handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    await this.run(scripts.HAND_BACK, account, { id: conversationId, version, dueAt });
  }

  async announceHandlers(account: string, handlers: readonly HandlerAnnouncement[], at: Date): Promise<void> {
    const announced = handlers.map(({ id, types }) => ({ id: encodeURIComponent(id), types }));
    await this.run(scripts.ANNOUNCE, account, { handlers: JSON.stringify(announced), at });
  }

  async leaseDeliveries(lease: LeaseRequest & { readonly handlerIds: readonly string[] }): Promise<Delivery[]> {
    const { account, now, until, limit } = lease;
    const handlers = JSON.stringify(lease.handlerIds.map(encodeURIComponent));
    const reply = await this.run(scripts.LEASE_DELIVERIES, account, { handlers, now, untilTime: until, limit });
    return readDeliveries(account, reply);
  }

  async acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    await this.run(scripts.ACKNOWLEDGE, account, { handler: encodeURIComponent(handlerId), event: eventId });
  }

  async postpone({ account, handlerId, event, attempts, parked, error, dueAt }: Delivery): Promise<void> {
    const handler = encodeURIComponent(handlerId);
    const values = { handler, event: event.eventId, attempts, parked: String(parked), error, dueAt };
    await this.run(scripts.POSTPONE, account, values);
  }

  async listParked(account: string, limit: number): Promise<Delivery[]> {
    return readDeliveries(account, await this.run(scripts.LIST_PARKED, account, { limit }));
  }

  async replay(account: string, handlerId: string, eventId: string, now: Date): Promise<boolean> {
    const values = { handler: encodeURIComponent(handlerId), event: eventId, now };
    return (await this.run(scripts.REPLAY, account, values)) === 1;
  }

  async purge(account: string, before: Date, handlersBefore: Date): Promise<PurgeCounts> {
    await this.run(scripts.DROP_HANDLERS, account, { before: handlersBefore });
    const counts = { payments: 0, events: 0 };
    for (let skip = 0, seen = PURGE_STEP; seen === PURGE_STEP;) {
      const step = await this.run(scripts.PURGE, account, { before, skip, limit: PURGE_STEP });
      const [looked, payments, events] = step as [number, number, number];
      counts.payments += payments;
      counts.events += events;
      skip += looked - payments;
      seen = looked;
    }
    return counts;
  }

  /** Called when Redis has not answered in time. */
  protected onSilence(): void {}

  private async findByKey(account: string, name: UniqueKey, value: string): Promise<PaymentRecord | null> {
    return readRecord(await this.run(scripts.FIND_BY_KEY, account, { name, value }));
  }

  private run(script: Script, account: string, values: ScriptValues): Promise<unknown> {
    const given = Object.entries(values).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [name, value instanceof Date ? value.getTime() : value],
    );
    return this.connection.ask((client) => script.run(client, `${this.base}${encodeURIComponent(account)}:`, given));
  }
}

type ScriptValues = Readonly<Record<string, string | number | Date | null | undefined>>;

/** Each write has a random mark, by which it is recognised when it is sent twice. */
function writeOf(record: PaymentRecord, event: PaymentEvent | undefined): ScriptValues {
  return {
    write: randomBytes(16).toString('base64url'),
    id: record.conversationId,
    record: recordToJson(record),
    history: historyToJson(historyEntryOf(record)),
    version: record.version,
    state: record.state,
    reference: record.reference,
    idempotencyKey: record.idempotencyKey,
    tokenHash: record.tokenHash,
    referenceLock: record.referenceLock,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    dueAt: record.dueAt,
    finalizedAt: SETTLED_STATES.has(record.state) ? record.finalizedAt : null,
    event: event && eventToJson(event),
    eventId: event?.eventId,
    eventType: event?.type,
    occurredAt: event?.occurredAt,
  };
}

type RecordReply = [json: string, dueAt: string | null];

/** `dueAt` stands beside the record, as a lease moves it alone. */
function readRecord(reply: unknown): PaymentRecord | null {
  if (reply === null) {
    return null;
  }
  const [json, dueAt] = reply as RecordReply;
  return { ...recordFromJson(json), dueAt: dueAt === null ? null : new Date(Number(dueAt)) };
}

function readRecords(reply: unknown): PaymentRecord[] {
  return (reply as RecordReply[]).map((one) => readRecord(one)!);
}

/** As the scripts write it. */
interface DeliveryJson {
  readonly attempts: number;
  readonly parked: boolean;
  readonly error?: string;
  readonly dueAt: number;
}

function readDeliveries(account: string, reply: unknown): Delivery[] {
  return (reply as [handler: string, delivery: string, event: string][]).map(([handler, delivery, event]) => {
    const { attempts, parked, error = null, dueAt } = JSON.parse(delivery) as DeliveryJson;
    return {
      account,
      handlerId: decodeURIComponent(handler),
      event: eventFromJson(event),
      attempts,
      parked,
      error,
      dueAt: new Date(dueAt),
    };
  });
}
