import type { ColumnType, Kysely } from 'kysely';
import { createHash } from 'node:crypto';
import type { LedgerEvent } from '../../payment/ledger-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import { eventToJson, historyEntryOf, historyToJson, recordFromJson, recordToJson } from '../record-json.js';

/** Some drivers return a bigint as text. */
type BigIntColumn = ColumnType<number | string, number, number>;
type NullableBigIntColumn = ColumnType<number | string | null, number | null, number | null>;

/** 1 for yes, 0 for no: SQLite has no boolean. */
type FlagColumn = ColumnType<0 | 1, 0 | 1, 0 | 1>;

/** The tables of the SQL store, as Kysely knows them. */
export interface PaymentTables {
  card_payment: {
    account: string;
    conversation_id: string;
    version: number;
    state: string;
    reference: string | null;
    token_hash: string | null;
    created_at: BigIntColumn;
    updated_at: BigIntColumn;
    finalized_at: NullableBigIntColumn;
    /** `dueAt` is kept only here: a lease changes it without rewriting the record. */
    due_at: NullableBigIntColumn;
    /** The record as JSON, without `dueAt`. */
    record: string;
  };
  card_payment_reference_lock: {
    account: string;
    reference: string;
    /**
     * The payment that holds the lock. Null once that is purged, or another one was charged as well: never released.
     */
    conversation_id: string | null;
  };
  card_payment_key: {
    account: string;
    /** The hash of an idempotency key, or of a conversationId that the host chose. */
    key_hash: string;
    /**
     * The payment that has the idempotency key; null once that is purged. Always null for a conversationId, since a
     * release that knows only idempotency keys would delete the row as a key that the payment no longer has.
     */
    conversation_id: string | null;
    /** When the payment was purged. */
    purged_at: NullableBigIntColumn;
  };
  card_payment_history: {
    account: string;
    conversation_id: string;
    version: number;
    /** As JSON. */
    entry: string;
  };
  card_payment_event: {
    account: string;
    event_id: string;
    conversation_id: string;
    version: number;
    type: string;
    occurred_at: BigIntColumn;
    /** 1 until it is fanned out. */
    waiting: FlagColumn;
    /** As JSON. */
    event: string;
  };
  /** Pairs of a handler and a type of event that it takes. */
  card_payment_handler: {
    account: string;
    type: string;
    handler_id: string;
    announced_at: BigIntColumn;
  };
  card_payment_delivery: {
    account: string;
    handler_id: string;
    event_id: string;
    conversation_id: string;
    version: number;
    type: string;
    occurred_at: BigIntColumn;
    attempts: number;
    parked: FlagColumn;
    /** As JSON. */
    error: string | null;
    /** The lease that holds it until `due_at`. */
    lease: string | null;
    due_at: BigIntColumn;
  };
  card_payment_migration: {
    version: number;
    /** The lowest version that a release must know to use these tables. */
    lowest: number;
    applied_at: BigIntColumn;
  };
}

export type PaymentDb = Kysely<PaymentTables>;

export function rowOf(record: PaymentRecord) {
  return {
    account: record.account,
    conversation_id: record.conversationId,
    version: record.version,
    state: record.state,
    reference: record.reference,
    token_hash: record.tokenHash,
    created_at: record.createdAt.getTime(),
    updated_at: record.updatedAt.getTime(),
    finalized_at: record.finalizedAt?.getTime() ?? null,
    due_at: record.dueAt?.getTime() ?? null,
    record: recordToJson({ ...record, dueAt: null }),
  };
}

export function historyRowOf(record: PaymentRecord) {
  const { account, conversationId: conversation_id, version } = record;
  return { account, conversation_id, version, entry: historyToJson(historyEntryOf(record)) };
}

/** The event of a record, which waits to be fanned out. */
export function eventRowOf({ account, conversationId, version }: PaymentRecord, event: LedgerEvent) {
  return {
    account,
    event_id: event.eventId,
    conversation_id: conversationId,
    version,
    type: event.type,
    occurred_at: event.occurredAt.getTime(),
    waiting: 1 as const,
    event: eventToJson(event),
  };
}

export function recordOf(row: { record: string; due_at: number | string | null }): PaymentRecord {
  return { ...recordFromJson(row.record), dueAt: row.due_at === null ? null : dateOf(row.due_at) };
}

export function dateOf(milliseconds: number | string): Date {
  return new Date(Number(milliseconds));
}

/** The hash that is stored for an idempotency key; it outlives the payment. */
export function keyHashOf(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey, 'utf8').digest('base64url');
}

/**
 * The hash that is stored for a conversationId, so that it stays taken once its payment is purged. Never equal to a
 * key's hash.
 */
export function idHashOf(conversationId: string): string {
  return `id:${keyHashOf(conversationId)}`;
}

/** The hash that is stored for a conversationId that the host chose; null if the module made it. */
export function hostIdHashOf({ conversationId, hostIdNonce }: PaymentRecord): string | null {
  return typeof hostIdNonce === 'string' ? idHashOf(conversationId) : null;
}
