import { createHash, randomBytes } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { LedgerEvent } from '../../payment/ledger-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import { rowOf } from '../../payment/payment-state.js';
import { pinnedReferenceOf } from '../../payment/transitions.js';
import type { Delivery } from '../payment-outbox.js';
import type { StateCount, StoreCounts } from '../payment-store.js';
import {
  eventFromJson,
  eventToJson,
  historyEntryOf,
  historyToJson,
  recordFromJson,
  recordToJson,
} from '../record-json.js';

/**
 * A Lua script whose keys all have the same hash tag. It is called by its digest, and sent in full only to a server
 * that does not know it yet.
 */
export class Script {
  private readonly digest: string;

  constructor(private readonly lua: string) {
    this.digest = createHash('sha1').update(lua).digest('hex');
  }

  async run(client: Redis | Cluster, key: string, values: readonly (string | number)[]): Promise<unknown> {
    try {
      return await client.evalsha(this.digest, 1, key, ...values);
    } catch (error) {
      if (String((error as { message?: unknown }).message).startsWith('NOSCRIPT')) {
        return client.eval(this.lua, 1, key, ...values);
      }
      throw error;
    }
  }
}

/** The arguments of a script, by name. */
export type ScriptValues = Readonly<Record<string, string | number | Date | null | undefined>>;

/** The arguments as names and values in turn, without those that are null or undefined. */
export function toArguments(values: ScriptValues): (string | number)[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [name, value instanceof Date ? value.getTime() : value],
  );
}

/** The arguments of a write. A random mark tells the script when the same write is sent twice. */
export function writeOf(record: PaymentRecord, event: LedgerEvent | undefined): ScriptValues {
  return {
    write: randomBytes(16).toString('base64url'),
    id: record.conversationId,
    record: recordToJson(record),
    history: historyToJson(historyEntryOf(record)),
    version: record.version,
    state: record.state,
    reference: record.reference,
    idempotencyKey: record.idempotencyKey,
    keyHash: record.idempotencyKey === null ? null : hashOfKey(record.idempotencyKey),
    tokenHash: record.tokenHash,
    referenceLock: record.referenceLock,
    pinnedReference: pinnedReferenceOf(record),
    isHostId: record.hostIdNonce ? 1 : null,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    dueAt: record.dueAt,
    finalizedAt: rowOf(record.state).settled ? record.finalizedAt : null,
    event: event && eventToJson(event),
    eventId: event?.eventId,
    eventType: event?.type,
    occurredAt: event?.occurredAt,
  };
}

/** What is remembered of an idempotency key once its payment is purged. */
export function hashOfKey(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey, 'utf8').digest('base64url');
}

type RecordReply = [json: string, dueAt: string | null];

/** `dueAt` is stored separately from the record, because a lease changes only this field. */
export function readRecord(reply: unknown): PaymentRecord | null {
  if (reply === null) {
    return null;
  }
  const [json, dueAt] = reply as RecordReply;
  return { ...recordFromJson(json), dueAt: dueAt === null ? null : new Date(Number(dueAt)) };
}

export function readRecords(reply: unknown): PaymentRecord[] {
  return (reply as RecordReply[]).map((one) => readRecord(one)!);
}

/** A delivery as the scripts write it. */
interface DeliveryJson {
  readonly attempts: number;
  readonly parked: boolean;
  readonly error?: string;
  readonly dueAt: number;
}

export function readDeliveries(account: string, reply: unknown): Delivery[] {
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

/** {@link StoreCounts} as the scripts write them. */
interface CountsJson extends Omit<StoreCounts, 'states'> {
  readonly states: Readonly<Record<keyof StoreCounts['states'], { readonly count: number; readonly oldest?: number }>>;
}

export function readCounts(reply: unknown): StoreCounts {
  const { states, ...counts } = JSON.parse(reply as string) as CountsJson;
  const dated = Object.entries(states).map(([state, { count, oldest }]): [string, StateCount] => [
    state,
    { count, oldest: oldest === undefined ? null : new Date(oldest) },
  ]);
  return { ...counts, states: Object.fromEntries(dated) as StoreCounts['states'] };
}
