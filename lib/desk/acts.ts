import { createHash } from 'node:crypto';
import type { PaymentAct, PaymentDetails, RefundAct, RefundDetails } from '../operations/payment-details.js';
import { MAX_NOTE_LENGTH } from '../operations/resolution.js';
import type { OperationsHistoryEntry, PaymentOperations } from '../operations/staff.js';
import { amountProblem, compareAmounts } from '../payment/amount.js';
import { keptNote } from '../payment/kept-text.js';
import type { Refund } from '../payment/refund.js';
import type { DeskRight } from './desk-access.js';
import { textIn } from './desk-request.js';
import type { TextName } from './texts.js';

export type ActName = PaymentAct | RefundAct;

/** What a form says. */
export type Given = Readonly<Partial<Record<'amount' | 'state' | 'note' | 'refundId', string>>>;

/** A form as it was sent. */
export interface Asked {
  readonly act: ActName;
  readonly given: Given;
  /** What was shown when the form was made. */
  readonly shown: string;
  readonly idempotencyKey: string;
  /** The time of the last line of its history that was shown. */
  readonly seen: number;
}

/** What an act is done with. */
interface Call {
  readonly operations: PaymentOperations;
  readonly conversationId: string;
  readonly by: string;
  readonly given: Given;
  readonly idempotencyKey: string;
}

interface Act {
  readonly right: DeskRight;
  /** What its form says. */
  readonly fields: readonly (keyof Given)[];
  readonly isNoteOptional?: boolean;
  readonly run: (call: Call) => Promise<unknown>;
}

/** What the desk can do with a payment. */
export const ACTS: Readonly<Record<ActName, Act>> = {
  inquire: {
    right: 'ask',
    fields: [],
    run: ({ operations, conversationId, by }) => operations.inquire(conversationId, { by }),
  },
  inquireRefund: {
    right: 'ask',
    fields: ['refundId'],
    run: ({ operations, given: { refundId = '' }, by }) => operations.inquireRefund(refundId, { by }),
  },
  abandon: {
    right: 'settle',
    fields: [],
    run: ({ operations, conversationId, by }) => operations.abandon(conversationId, { by }),
  },
  resolve: {
    right: 'settle',
    fields: ['state', 'note'],
    run: ({ operations, conversationId, given, by }) =>
      operations.resolve(conversationId, stateIn(given), given.note ?? '', { by }),
  },
  resolveRefund: {
    right: 'settle',
    fields: ['refundId', 'state', 'note'],
    run: ({ operations, given, by }) =>
      operations.resolveRefund(given.refundId ?? '', stateIn(given), given.note ?? '', { by }),
  },
  refund: {
    right: 'refund',
    fields: ['amount', 'note'],
    isNoteOptional: true,
    run: ({ operations, conversationId, given: { amount, note }, idempotencyKey, by }) =>
      operations.refund({ conversationId, amount, note, idempotencyKey, by }),
  },
  void: {
    right: 'refund',
    fields: ['note'],
    isNoteOptional: true,
    run: ({ operations, conversationId, given: { note }, idempotencyKey, by }) =>
      operations.void({ conversationId, note, idempotencyKey, by }),
  },
  recordRefund: {
    right: 'refund',
    fields: ['amount', 'note'],
    run: ({ operations, conversationId, given: { amount = '', note = '' }, idempotencyKey, by }) =>
      operations.recordRefund({ conversationId, amount, note, idempotencyKey, by }),
  },
};

function stateIn({ state }: Given): 'succeeded' | 'failed' {
  return state as 'succeeded' | 'failed';
}

export function actIn(name: string | null): ActName | null {
  return name !== null && Object.hasOwn(ACTS, name) ? (name as ActName) : null;
}

/** @returns null for a form that no page of the desk has */
export function askedIn(form: unknown): Asked | null {
  const act = actIn(textIn(form, 'act'));
  const [shown, idempotencyKey] = [textIn(form, 'shown'), textIn(form, 'idempotencyKey')];
  if (act === null || shown === null || idempotencyKey === null) return null;
  const given = ACTS[act].fields.flatMap((name) => {
    const text = textIn(form, name);
    // A host's own book must not get a card number that somebody typed.
    if (name === 'note') return text === null ? [] : [[name, asKept(text.trim(), MAX_NOTE_LENGTH)]];
    const value = name === 'amount' ? (textIn(form, 'all') ?? plainDecimal(text)) : text;
    return value === null ? [] : [[name, value]];
  });
  const seen = Number(textIn(form, 'seen') ?? Infinity);
  return { act, given: Object.fromEntries(given) as Given, shown, idempotencyKey, seen };
}

/**
 * A note or a name as the history keeps it, which masks what it is given: what a key stood between may be one long number
 * without it, so only what was masked twice stays as it is.
 */
export function asKept(text: string, maxLength: number): string {
  return keptNote(keptNote(text, maxLength), maxLength);
}

/** In Turkey, decimals follow a comma: `10,50`. It is not clear what is meant by `1.234,50`, which is refused. */
function plainDecimal(typed: string | null): string | null {
  const text = typed?.trim() ?? null;
  return text !== null && /^\d+,\d{1,2}$/.test(text) ? text.replace(',', '.') : text;
}

/** Whether a refund is what an act makes: only one that is written down is `recorded`. */
export function isMadeBy(act: ActName, { kind, reason }: Refund): boolean {
  return (
    ACTS[act].right === 'refund' &&
    (kind === 'void') === (act === 'void') &&
    (reason === 'recorded') === (act === 'recordRefund')
  );
}

/** Whether a line of the history was written by hand. */
export function isByHand({ reason }: OperationsHistoryEntry): boolean {
  return reason === 'operator';
}

/** The refund or void that a form is about; undefined if it is about the payment. */
export function refundIn({ refunds }: PaymentDetails, { refundId }: Given): RefundDetails | undefined {
  return refunds.find(({ refund }) => refund.refundId === refundId);
}

/** What is wrong with a form, or why the payment does not allow it; null if nothing is. */
export function problemOf({ act, given }: Asked, details: PaymentDetails): TextName | null {
  const { fields, isNoteOptional = false } = ACTS[act];
  const about = fields.includes('refundId') ? refundIn(details, given) : details;
  if (!about) return 'notFound';
  if (!(about.acts as readonly ActName[]).includes(act)) return 'notPossible';
  if (fields.includes('state') && given.state !== 'succeeded' && given.state !== 'failed') return 'notUnderstood';
  if (fields.includes('note') && !isNoteOptional && given.note === undefined) return 'needsNote';
  if (!fields.includes('amount')) return null;
  const { amount = '' } = given;
  if (amountProblem(amount, details.payment.currencyCode) !== null) return 'needsAmount';
  return (compareAmounts(amount, details.totals.refundable) ?? 1) > 0 ? 'exceeds' : null;
}

/** What a page shows of a payment, in short: the ids and versions of it and of its refunds. */
export function fingerprintOf({ payment, refunds }: PaymentDetails): string {
  const versions = [payment, ...refunds.map(({ refund }) => refund)].map((one) => [
    'refundId' in one ? one.refundId : one.conversationId,
    one.version,
  ]);
  return createHash('sha256').update(JSON.stringify(versions)).digest('base64url').slice(0, 24);
}

/**
 * The key of what is given back from a page. Pages that show the same have the same one, whoever looks at them: of all
 * that is sent from them one refund is made.
 */
export function idempotencyKeyOf({ payment: { account, conversationId } }: PaymentDetails, shown: string): string {
  const text = JSON.stringify([account, conversationId, shown]);
  return `desk-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}
