import { createHash } from 'node:crypto';
import { isRefund, type PaymentRecord } from '../payment/payment.js';
import { pinnedReferenceOf } from '../payment/transitions.js';
import type { RecordType, UniqueKey } from './payment-store.js';

/**
 * What a name is of: an idempotency key, a callback token, the lock of a reference, or a conversationId that the host
 * chose, which is to stay taken once its payment is purged. Keys of refunds, and the locks of refunded payments, are
 * apart from those of payments, whatever text a host may choose for these.
 */
export type NameKind = 'key' | 'token' | 'lock' | 'id' | 'refund-key' | 'refund-lock';

/** Makes the name by which a store knows a value. */
export type NameOf = (kind: NameKind, value: string) => string;

const KEY_OF: Readonly<Record<NameKind, UniqueKey>> = {
  id: 'conversationId',
  key: 'idempotencyKey',
  token: 'tokenHash',
  lock: 'referenceLock',
  'refund-key': 'idempotencyKey',
  'refund-lock': 'referenceLock',
};

/** The value itself, for a store that others cannot read. */
export function plainName(kind: NameKind, value: string): string {
  return `${kind}:${value}`;
}

/** The value as a hash, which may outlive the record. */
export function hashedName(kind: NameKind, value: string): string {
  return `${kind}:${createHash('sha256').update(plainName(kind, value), 'utf8').digest('base64url')}`;
}

/** The name of an idempotency key. */
export function keyName(nameOf: NameOf, type: RecordType, idempotencyKey: string): string {
  return nameOf(type === 'refund' ? 'refund-key' : 'key', idempotencyKey);
}

/** The names that a record has while it is stored, each with the key that it stands for. */
export function namesOf(record: PaymentRecord, nameOf: NameOf): Map<string, UniqueKey> {
  const { conversationId, hostIdNonce, idempotencyKey, tokenHash, referenceLock } = record;
  const ofRefund = isRefund(record);
  const values: readonly (readonly [NameKind, string | null])[] = [
    ['id', hostIdNonce === null ? null : conversationId],
    [ofRefund ? 'refund-key' : 'key', idempotencyKey],
    ['token', tokenHash],
    [ofRefund ? 'refund-lock' : 'lock', referenceLock],
  ];
  return new Map(values.flatMap(([kind, value]) => (value === null ? [] : [[nameOf(kind, value), KEY_OF[kind]]])));
}

/** What a replacement changes in the names of a record. */
export interface NameChange {
  readonly released: readonly string[];
  readonly taken: readonly string[];
  /** The name that has no owner from now on, whether it was free or held. */
  readonly pinned: string | null;
}

/** The change of names from the record as it was read to its next version. Names that stay are in none of the lists. */
export function nameChange(next: PaymentRecord, previous: PaymentRecord, nameOf: NameOf): NameChange {
  const [now, before] = [namesOf(next, nameOf), namesOf(previous, nameOf)];
  const reference = pinnedReferenceOf(next);
  const isPinned = reference !== null && reference !== pinnedReferenceOf(previous);
  const pinned = isPinned ? nameOf('lock', reference) : null;
  return {
    released: [...before.keys()].filter((name) => !now.has(name) && name !== pinned),
    taken: [...now.keys()].filter((name) => !before.has(name)),
    pinned,
  };
}
