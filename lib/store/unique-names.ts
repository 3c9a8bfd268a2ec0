import { createHash } from 'node:crypto';
import { merchantAccountOf } from '../payment/account.js';
import type { PaymentRecord } from '../payment/payment.js';
import { pinnedReferenceOf } from '../payment/transitions.js';
import type { UniqueKey } from './payment-store.js';

/**
 * What a name is of: an idempotency key, a callback token, the lock of a reference, or a conversationId that the host
 * chose, which is to stay taken once its payment is purged.
 */
export type NameKind = 'key' | 'token' | 'lock' | 'id';

/** Makes the name by which a store knows a value. */
export type NameOf = (account: string, kind: NameKind, value: string) => string;

const KEY_OF: Readonly<Record<NameKind, UniqueKey>> = {
  id: 'conversationId',
  key: 'idempotencyKey',
  token: 'tokenHash',
  lock: 'referenceLock',
};

/** The value itself, for a store that others cannot read. Refunds have names of their own, beside those of payments. */
export function plainName(account: string, kind: NameKind, value: string): string {
  return `${kind}:${merchantAccountOf(account) === account ? '' : 'refund/'}${value}`;
}

/** The value as a hash, which may outlive the record. */
export function hashedName(account: string, kind: NameKind, value: string): string {
  return `${kind}:${createHash('sha256')
    .update(plainName(account, kind, value), 'utf8')
    .digest('base64url')}`;
}

/** The names that a record has while it is stored, each with the key that it stands for. */
export function namesOf(record: PaymentRecord, nameOf: NameOf): Map<string, UniqueKey> {
  const { account, conversationId, hostIdNonce } = record;
  const values: Record<NameKind, string | null> = {
    // Records of older releases do not say who chose the conversationId.
    id: hostIdNonce === null ? null : conversationId,
    key: record.idempotencyKey,
    token: record.tokenHash,
    lock: record.referenceLock,
  };
  const kinds = (Object.keys(values) as NameKind[]).filter((kind) => values[kind] !== null);
  return new Map(kinds.map((kind) => [nameOf(account, kind, values[kind] ?? ''), KEY_OF[kind]]));
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
  const pinned = isPinned ? nameOf(next.account, 'lock', reference) : null;
  return {
    released: [...before.keys()].filter((name) => !now.has(name) && name !== pinned),
    taken: [...now.keys()].filter((name) => !before.has(name)),
    pinned,
  };
}
