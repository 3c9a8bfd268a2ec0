import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { PaymentValidationError, type ValidationIssue } from '../errors/payment-validation.error.js';
import { holdsCard } from '../payment/card-mask.js';
import { CARD_CHECKS, type CardDetails } from './card-details.dto.js';
import { copyInput, fieldPath, unknownField } from './copy-input.js';
import type { DoPaymentDto } from './do-payment.dto.js';
import { isMaskedCard, MASKED_CARD } from './masked-card.js';
import { EXPIRED, hasExpired } from './rules/card.rules.js';

export interface InputChecks {
  /** Whether the card number's check digit is checked. */
  readonly luhn: boolean;
  /** The time that the expiry is judged by. */
  readonly now: Date;
}

/** The merchant's own texts that are stored, logged or sent in URLs. */
const VISIBLE_FIELDS = ['conversationId', 'reference', 'idempotencyKey', 'returnUrl', 'failUrl'] as const;

/**
 * Checks what a merchant passed in, a plain object or an instance, and leaves it as it was. A card number and an expiry
 * are read as people type them; nothing else is coerced, and unknown fields are refused.
 *
 * @returns a fresh instance, which prints its card masked
 * @throws PaymentValidationError naming every path and rule, and showing no value
 */
export function validateInput<T extends DoPaymentDto>(
  type: ClassConstructor<T>,
  input: unknown,
  { luhn, now }: InputChecks,
): T {
  const instance = plainToInstance(type, copyInput(input));
  const errors = validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
    // All rules without a group, and of the others at most Luhn: below, the expiry is judged by the given time.
    always: true,
    groups: [luhn ? CARD_CHECKS.luhn : 'none'],
  });
  const card: Partial<CardDetails> | null = instance.cardDetails;
  if (card && isMaskedCard(card)) throw new PaymentValidationError([{ path: 'cardDetails', ...MASKED_CARD }]);
  const issues = errors.flatMap((error) => issuesOf(error, ''));
  if (hasExpired(card?.expDate, now)) issues.push({ path: 'cardDetails.expDate', ...EXPIRED });
  if (issues.length === 0) issues.push(...cardsInTexts(instance));
  if (issues.length > 0) throw new PaymentValidationError(issues);
  return instance;
}

function issuesOf({ property, constraints = {}, children = [] }: ValidationError, parent: string): ValidationIssue[] {
  const path = fieldPath(parent, property);
  const own = Object.entries(constraints).map(([rule, message]) =>
    rule === 'whitelistValidation' ? unknownField(path) : { path, rule, message },
  );
  return [...own, ...children.flatMap((child) => issuesOf(child, path))];
}

function cardsInTexts(input: DoPaymentDto): ValidationIssue[] {
  const { cardNo } = input.cardDetails;
  const message = 'must not hold the card number: it is stored, logged or sent in URLs';
  return VISIBLE_FIELDS.filter((field) => holdsCard(input[field] ?? '', { cardNo })).map((path) => ({
    path,
    rule: 'cardFree',
    message,
  }));
}
