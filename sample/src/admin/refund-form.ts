import { randomUUID } from 'node:crypto';
import {
  PaymentDuplicateError,
  PaymentNotSentError,
  PaymentRefundError,
  PaymentShutdownError,
  PaymentStateError,
  PaymentStoreError,
  PaymentUnsupportedError,
  PaymentValidationError,
} from 'nestjs-card-payment';
import { formText } from '../form-text.js';
import { displayMoney } from '../money.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';

/** What staff can do with a payment: give a part or all back, void it, or write down what was done elsewhere. */
export type RefundAction = 'refund' | 'void' | 'record';

/** A form as it was sent, or as it is shown first. */
export interface RefundValues {
  /**
   * Made when the page is shown, so that a double click, a repeated POST and an old page in the browser's history give
   * back once.
   */
  readonly idempotencyKey: string;
  /** As it was typed. */
  readonly amount: string;
  readonly note: string;
}

/** A form that was refused, to be shown again with what was typed. */
export interface RefusedForm {
  readonly conversationId: string;
  readonly action: RefundAction;
  readonly values: RefundValues;
  readonly problem: RefundProblem;
}

export interface RefundProblem {
  /** The field that is wrong; null if it is none of them. */
  readonly field: 'amount' | 'note' | null;
  readonly text: string;
}

export function emptyRefund(): RefundValues {
  return { idempotencyKey: randomUUID(), amount: '', note: '' };
}

export function readRefund(form: unknown): RefundValues {
  return {
    idempotencyKey: formText(form, 'idempotencyKey'),
    amount: formText(form, 'amount'),
    note: formText(form, 'note'),
  };
}

/**
 * What the payment module takes. The button that gives all back has the amount that was shown: if less is left by now,
 * the module refuses it.
 */
export function askedAmount(form: unknown): string {
  return formText(form, 'all') || plainDecimal(formText(form, 'amount'));
}

/**
 * In Turkey, decimals follow a comma: `10,50`. Any other text is left as it is, and the module refuses what is not a
 * plain decimal: with `1.234,50` and `1.234` it is not clear what is meant.
 */
function plainDecimal(typed: string): string {
  return /^\d+,\d{1,2}$/.test(typed) ? typed.replace(',', '.') : typed;
}

/** The same values with a key that is not taken, if theirs belongs to another refund. */
export function valuesToRepeat(values: RefundValues, error: unknown): RefundValues {
  return error instanceof PaymentDuplicateError ? { ...values, idempotencyKey: randomUUID() } : values;
}

/**
 * What is wrong, in words for staff. After each of these errors nothing was sent.
 * @returns null for any other error
 */
export function problemOf(error: unknown, language: Language): RefundProblem | null {
  const { problems } = TEXTS[language].refunds;
  const general = (text: string): RefundProblem => ({ field: null, text });
  if (error instanceof PaymentValidationError) return wrongField(error, language);
  if (error instanceof PaymentRefundError) return general(refusalText(error, language));
  if (error instanceof PaymentStateError) return general(problems.notTaken);
  if (error instanceof PaymentDuplicateError) return general(problems.usedForm);
  if (error instanceof PaymentNotSentError) return general(problems.notSent);
  if (error instanceof PaymentUnsupportedError) return general(problems.unsupported);
  const isPassing = error instanceof PaymentStoreError || error instanceof PaymentShutdownError;
  return isPassing ? general(problems.notNow) : null;
}

function refusalText({ reason, refundable }: PaymentRefundError, language: Language): string {
  const { problems } = TEXTS[language].refunds;
  if (reason === 'exceeds' && Number(refundable) === 0) return problems.nothingLeft;
  const text = problems[reason];
  return typeof text === 'string' ? text : text(displayMoney(refundable, language));
}

/** @returns null if it is none of the fields that staff fill in */
function wrongField({ issues }: PaymentValidationError, language: Language): RefundProblem | null {
  const { problems } = TEXTS[language].refunds;
  const [issue] = issues;
  if (issue?.path === 'note') return { field: 'note', text: problems.note };
  if (issue?.path !== 'amount') return null;
  const { rule } = issue;
  const isKnown = rule === 'amountPositive' || rule === 'amountDecimals' || rule === 'amountDigits';
  return { field: 'amount', text: problems[isKnown ? rule : 'amountFormat'] };
}
