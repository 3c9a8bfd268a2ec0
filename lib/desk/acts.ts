import { createHash } from 'node:crypto';
import type { PaymentAct, PaymentDetails, RefundAct, RefundDetails } from '../operations/payment-details.js';
import { MAX_NOTE_LENGTH } from '../operations/resolution.js';
import type { OperationsHistoryEntry, PaymentOperations } from '../operations/staff.js';
import { amountProblem, compareAmounts } from '../payment/amount.js';
import { keptNote } from '../payment/kept-text.js';
import type { Payment } from '../payment/payment.js';
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
  /** The time of the last line of its history that was shown. */
  readonly seen: number;
}

interface Act {
  readonly right: DeskRight;
  /** What its form says. */
  readonly fields: readonly (keyof Given)[];
  readonly isNoteOptional?: boolean;
}

/** What the desk can do with a payment. */
export const ACTS: Readonly<Record<ActName, Act>> = {
  inquire: { right: 'ask', fields: [] },
  inquireRefund: { right: 'ask', fields: ['refundId'] },
  abandon: { right: 'settle', fields: [] },
  resolve: { right: 'settle', fields: ['state', 'note'] },
  resolveRefund: { right: 'settle', fields: ['refundId', 'state', 'note'] },
  refund: { right: 'refund', fields: ['amount', 'note'], isNoteOptional: true },
  void: { right: 'refund', fields: ['note'], isNoteOptional: true },
  recordRefund: { right: 'refund', fields: ['amount', 'note'] },
};

/** Does what a form asks for in which `problemOf` finds nothing wrong. */
export function perform(
  operations: PaymentOperations,
  { conversationId, account }: Payment,
  { act, given, shown }: Asked,
  by: string,
): Promise<unknown> {
  const { refundId = '', amount = '', note } = given;
  const state = given.state as 'succeeded' | 'failed';
  const idempotencyKey = idempotencyKeyOf(account, conversationId, shown);
  switch (act) {
    case 'inquire':
    case 'abandon':
      return operations[act](conversationId, { by });
    case 'inquireRefund':
      return operations.inquireRefund(refundId, { by });
    case 'resolve':
      return operations.resolve(conversationId, state, note ?? '', { by });
    case 'resolveRefund':
      return operations.resolveRefund(refundId, state, note ?? '', { by });
    case 'refund':
      return operations.refund({ conversationId, amount, note, idempotencyKey, by });
    case 'void':
      return operations.void({ conversationId, note, idempotencyKey, by });
    case 'recordRefund':
      return operations.recordRefund({ conversationId, amount, note: note ?? '', idempotencyKey, by });
  }
}

/** Whether what a form asks for was done by it: a double click, or Back and once more. */
export async function isDone(
  operations: PaymentOperations,
  { account, conversationId }: Payment,
  history: readonly OperationsHistoryEntry[],
  { act, given, shown, seen }: Asked,
  by: string,
): Promise<boolean> {
  const isOwn = (line: Pick<Refund, 'by' | 'note'>): boolean =>
    line.by === by && (!ACTS[act].fields.includes('note') || line.note === (given.note ?? null));
  if (ACTS[act].right === 'refund') {
    const made = await operations.findRefund(idempotencyKeyOf(account, conversationId, shown));
    if (made?.conversationId !== conversationId || !isMadeBy(act, made) || !isOwn(made)) return false;
    return act === 'void' || compareAmounts(made.amount, given.amount ?? '') === 0;
  }
  const line = history.findLast(({ refundId }) => refundId === (given.refundId ?? null));
  if (!line || line.at.getTime() <= seen || !isOwn(line)) return false;
  return given.state === undefined || (isByHand(line) && line.state === given.state);
}

export function actIn(name: string | null): ActName | null {
  return name !== null && Object.hasOwn(ACTS, name) ? (name as ActName) : null;
}

/** @returns null for a form that no page of the desk has */
export function askedIn(form: unknown): Asked | null {
  const act = actIn(textIn(form, 'act'));
  const shown = textIn(form, 'shown');
  if (act === null || shown === null) return null;
  const given = ACTS[act].fields.flatMap((name) => {
    const text = textIn(form, name);
    // A host's own book must not get a card number that somebody typed.
    if (name === 'note') return text === null ? [] : [[name, asKept(text.trim(), MAX_NOTE_LENGTH)]];
    const value = name === 'amount' ? (textIn(form, 'all') ?? plainDecimal(text)) : text;
    return value === null ? [] : [[name, value]];
  });
  const seen = Number(textIn(form, 'seen') ?? Infinity);
  return { act, given: Object.fromEntries(given) as Given, shown, seen };
}

/**
 * A note or a name as the history keeps it, which masks what it is given: what a key stood between may be one long
 * number without it, so only what was masked twice stays as it is.
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
  return (compareAmounts(amount, details.totals.refundable) ?? 1) > 0 ? 'refund_exceeds' : null;
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
function idempotencyKeyOf(account: string, conversationId: string, shown: string): string {
  const text = JSON.stringify([account, conversationId, shown]);
  return `desk-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}
