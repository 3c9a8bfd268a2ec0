import { type ColumnType, CompiledQuery, type Generated, type Kysely, type Selectable } from 'kysely';
import { eventOfVersion, type LedgerEvent } from '../../payment/payment-event.js';
import { isRefund, type PaymentRecord } from '../../payment/payment.js';
import type { Delivery, RecordType } from '../payment-store.js';
import { recordFromJson, recordToJson, versionOf } from '../record-json.js';

/** Some drivers return a bigint as text. */
type BigIntColumn = ColumnType<number | string, number, number>;
type NullableBigIntColumn = ColumnType<number | string | null, number | null, number | null>;

/** What becomes of a delivery: it is open or parked, or it is a waiting event that is not fanned out yet. */
export const OPEN = 0;
export const PARKED = 1;
export const WAITING = 2;

/** The tables of the SQL store, as Kysely knows them. */
export interface PaymentTables {
  /** A record, to search by. What it says is its last version. */
  card_payment: {
    account: string;
    conversation_id: string;
    version: number;
    state: string;
    /** 1 for a refund, 0 for a payment: SQLite has no boolean. */
    is_refund: number;
    /** Of a refund: the conversationId of its payment. */
    parent_id: string | null;
    reference: string | null;
    gateway: string | null;
    created_at: BigIntColumn;
    updated_at: BigIntColumn;
    finalized_at: NullableBigIntColumn;
    /** Kept only here: a lease changes it without a new version. */
    due_at: NullableBigIntColumn;
    /** As JSON. Kept only here: the history does not keep where one can pay. */
    redirect_url: string | null;
    /** How many refunds of it were opened: a purge and a refund at two nodes of a cluster both write its row. */
    refunds: Generated<number>;
  };
  /** The versions of a record, which never change. They are its history, and its events. */
  card_payment_version: {
    account: string;
    conversation_id: string;
    version: number;
    /** The type of its event; null where it has none. */
    type: string | null;
    /** As JSON, without what is in `card_payment` only. */
    record: string;
  };
  /** What at most one record of an account has; see `unique-names.ts`. */
  card_payment_name: {
    account: string;
    name: string;
    /** The record that has it; null for what nobody can release. */
    conversation_id: string | null;
    /** When its record was purged; null for a lock, which is never forgotten. */
    purged_at: NullableBigIntColumn;
  };
  /** Pairs of a handler and a type of event that it takes. */
  card_payment_handler: {
    account: string;
    type: string;
    handler_id: string;
    announced_at: BigIntColumn;
  };
  /** An event on its way to a handler, or to nobody yet: then `handler_id` is empty. */
  card_payment_delivery: {
    account: string;
    handler_id: string;
    event_id: string;
    conversation_id: string;
    version: number;
    type: string;
    occurred_at: BigIntColumn;
    status: number;
    attempts: number;
    /** As JSON. */
    error: string | null;
    /** The lease that holds it until `due_at`. */
    lease: string | null;
    due_at: BigIntColumn;
  };
  card_payment_schema_version: {
    version: number;
    /** The lowest version that a release must know to use these tables. */
    lowest: number;
    applied_at: BigIntColumn;
  };
}

export type PaymentDb = Kysely<PaymentTables>;

/** Work of a transaction: it may run more than once. */
export type Work<T> = (db: PaymentDb) => Promise<T>;

/** Runs a statement without values. */
export async function execute(db: PaymentDb, statement: string): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(statement));
}

/** The value of the column `is_refund`. */
export const IS_REFUND: Readonly<Record<RecordType, 0 | 1>> = { payment: 0, refund: 1 };

export function toRow(record: PaymentRecord) {
  return {
    account: record.account,
    conversation_id: record.conversationId,
    version: record.version,
    state: record.state,
    is_refund: IS_REFUND[isRefund(record) ? 'refund' : 'payment'],
    parent_id: record.parentId ?? null,
    reference: record.reference,
    gateway: record.gateway ?? null,
    created_at: record.createdAt.getTime(),
    updated_at: record.updatedAt.getTime(),
    finalized_at: record.finalizedAt?.getTime() ?? null,
    due_at: record.dueAt?.getTime() ?? null,
    redirect_url: record.redirectUrl === undefined ? null : JSON.stringify(record.redirectUrl),
  };
}

export function toVersionRow(record: PaymentRecord, event: LedgerEvent | undefined) {
  return {
    account: record.account,
    conversation_id: record.conversationId,
    version: record.version,
    type: event?.type ?? null,
    record: recordToJson(versionOf(record)),
  };
}

/** The event of a record, which waits to be fanned out: a delivery to nobody. */
export function toWaitingRow({ account, conversationId, version }: PaymentRecord, event: LedgerEvent) {
  const occurredAt = event.occurredAt.getTime();
  return {
    account,
    handler_id: '',
    event_id: event.eventId,
    conversation_id: conversationId,
    version,
    type: event.type,
    occurred_at: occurredAt,
    status: WAITING,
    attempts: 0,
    error: null,
    lease: null,
    due_at: occurredAt,
  };
}

/** A record with the text of its version. */
export type RecordRow = Pick<Selectable<PaymentTables['card_payment']>, 'conversation_id' | 'due_at' | 'redirect_url'> &
  Pick<Selectable<PaymentTables['card_payment_version']>, 'record'>;

export function toRecord({ record, due_at: dueAt, redirect_url: redirectUrl }: RecordRow): PaymentRecord {
  return {
    ...recordFromJson(record),
    dueAt: dueAt === null ? null : toDate(dueAt),
    ...(redirectUrl !== null && { redirectUrl: JSON.parse(redirectUrl) as string }),
  };
}

/** A delivery with the text of the version that its event is of. */
export type DeliveryRow = Selectable<PaymentTables['card_payment_delivery']> &
  Pick<Selectable<PaymentTables['card_payment_version']>, 'record'>;

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    account: row.account,
    handlerId: row.handler_id,
    event: eventOfVersion(recordFromJson(row.record)),
    attempts: Number(row.attempts),
    parked: Number(row.status) === PARKED,
    error: row.error === null ? null : (JSON.parse(row.error) as string),
    dueAt: toDate(row.due_at),
  };
}

export function toDate(milliseconds: number | string): Date {
  return new Date(Number(milliseconds));
}
