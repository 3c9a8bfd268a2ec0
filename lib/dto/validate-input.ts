import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { PaymentValidationError, type ValidationIssue } from '../errors/payment-validation.error.js';
import { holdsCard } from '../payment/card-mask.js';
import { type TextLanguage, textLanguage, type Translations } from '../payment/text-language.js';
import { CARD_CHECKS, type CardDetails } from './card-details.dto.js';
import { copyInput, fieldPath, unknownField } from './copy-input.js';
import type { DoPaymentDto } from './do-payment.dto.js';
import { isMaskedCard, MASKED_CARD_TEXTS } from './masked-card.js';
import { obeysRules } from './obeys-rules.js';
import { EXPIRED, hasExpired } from './rules/card.rules.js';

export interface InputChecks {
  /** Whether the card number's check digit is checked. */
  readonly luhn: boolean;
  /** The time that the expiry is judged by. */
  readonly now: Date;
  /** That of the messages, unless the input names one. */
  readonly language: string;
}

/** The merchant's own texts that are stored, logged or sent in URLs. */
const VISIBLE_FIELDS = ['conversationId', 'reference', 'idempotencyKey', 'returnUrl', 'failUrl'] as const;

const CARD_FREE_TEXTS: Translations = {
  en: 'must not hold the card number: it is stored, logged or sent in URLs',
  tr: 'kart numarasını içermemeli: saklanır, günlüğe yazılır veya adreslerde gönderilir',
};

/**
 * Checks what a merchant passed in, a plain object or an instance, and leaves it as it was. A card number and an expiry
 * are read as people type them; nothing else is coerced, and unknown fields are refused.
 *
 * @returns a fresh instance, which prints its card masked; or the refusal, naming every path and rule, and showing no
 *   value. It is not thrown here, where a card is at hand: see `rejectApart`
 */
export function checkInput<T extends DoPaymentDto>(
  type: ClassConstructor<T>,
  input: unknown,
  { luhn, now, language: otherwise }: InputChecks,
): T | PaymentValidationError {
  const copy = copyInput(input, textLanguage(otherwise));
  if (copy instanceof PaymentValidationError) return copy;
  const instance = plainToInstance(type, copy);
  const own: unknown = instance.language;
  const language = textLanguage(typeof own === 'string' ? own : otherwise);
  // All rules without a group, and of the others at most Luhn: below, the expiry is judged by the given time.
  const group = luhn ? CARD_CHECKS.luhn : 'none';
  const errors = obeysRules(instance, group) ? [] : brokenRules(instance, group);
  const card: Partial<CardDetails> | null = instance.cardDetails;
  if (card && isMaskedCard(card)) {
    const masked = { path: 'cardDetails', rule: 'masked', message: MASKED_CARD_TEXTS[language] };
    return new PaymentValidationError([masked], language);
  }
  const issues = errors.flatMap((error) => issuesOf(error, '', language));
  if (hasExpired(card?.expDate, now)) {
    const message = textOf(EXPIRED.texts[language], 'expDate');
    issues.push({ path: 'cardDetails.expDate', rule: EXPIRED.name, message });
  }
  if (issues.length === 0) issues.push(...cardsInTexts(instance, language));
  return issues.length > 0 ? new PaymentValidationError(issues, language) : instance;
}

function brokenRules(instance: object, group: string): ValidationError[] {
  return validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
    always: true,
    groups: [group],
  });
}

function issuesOf(
  { property, constraints = {}, contexts = {}, children = [] }: ValidationError,
  parent: string,
  language: TextLanguage,
): ValidationIssue[] {
  const path = fieldPath(parent, property);
  const own = Object.entries(constraints).map(([rule, message]) => {
    if (rule === 'whitelistValidation') return unknownField(path, language);
    const texts = contexts[rule] as Translations | undefined;
    return { path, rule, message: texts ? textOf(texts[language], property) : message };
  });
  return [...own, ...children.flatMap((child) => issuesOf(child, path, language))];
}

function textOf(text: string, property: string): string {
  return text.replaceAll('$property', property);
}

function cardsInTexts(input: DoPaymentDto, language: TextLanguage): ValidationIssue[] {
  const { cardNo } = input.cardDetails;
  return VISIBLE_FIELDS.filter((field) => holdsCard(input[field] ?? '', { cardNo })).map((path) => ({
    path,
    rule: 'cardFree',
    message: CARD_FREE_TEXTS[language],
  }));
}
