import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { PaymentValidationError, type ValidationProblem } from '../errors/payment-validation.error.js';
import { cardFinder } from '../payment/card-mask.js';
import { textLanguage, type Translations } from '../payment/text-language.js';
import { CARD_CHECKS, type CardDetails } from './card-details.dto.js';
import { copyInput, fieldPath, unknownField } from './copy-input.js';
import type { DoPaymentDto } from './do-payment.dto.js';
import { isMaskedCard, MASKED_CARD_TEXTS } from './masked-card.js';
import { obeysRules } from './obeys-rules.js';
import { CARD_FREE, EXPIRED, hasExpired } from './rules/card.rules.js';

export interface InputChecks {
  /** Whether the card number's check digit is checked. */
  readonly luhn: boolean;
  /** The time that the expiry is judged by. */
  readonly now: Date;
  /** That of the messages, unless the input names one. */
  readonly language: string;
}

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
    const masked = { path: 'cardDetails', rule: 'masked', message: MASKED_CARD_TEXTS };
    return new PaymentValidationError([masked], language);
  }
  const problems = problemsOf(errors);
  if (hasExpired(card?.expDate, now)) {
    problems.push({ path: 'cardDetails.expDate', rule: EXPIRED.name, message: EXPIRED.texts });
  }
  if (problems.length === 0) problems.push(...cardsInTexts(instance));
  return problems.length > 0 ? new PaymentValidationError(problems, language) : instance;
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

/** class-validator's errors, by path and in both languages. */
export function problemsOf(errors: readonly ValidationError[], parent = ''): ValidationProblem[] {
  return errors.flatMap(({ property, constraints = {}, contexts = {}, children = [] }) => {
    const path = fieldPath(parent, property);
    const own = Object.entries(constraints).map(([rule, message]) => {
      if (rule === 'whitelistValidation') return unknownField(path);
      const context: unknown = contexts[rule];
      return { path, rule, message: isTranslations(context) ? context : message };
    });
    return [...own, ...problemsOf(children, path)];
  });
}

/** A host's own rule may have a context of any other kind. */
function isTranslations(context: unknown): context is Translations {
  const { en, tr } = Object(context) as Partial<Record<keyof Translations, unknown>>;
  return typeof en === 'string' && typeof tr === 'string';
}

/** Each field but the card number's own that holds the card number. */
export function cardsInTexts(input: { readonly cardDetails?: Partial<CardDetails> | null }): ValidationProblem[] {
  const { cardNo } = input.cardDetails ?? {};
  if (typeof cardNo !== 'string') return [];
  const holdsThisCard = cardFinder({ cardNo });
  return textsIn(input)
    .filter(([path, text]) => path !== 'cardDetails.cardNo' && holdsThisCard(text))
    .map(([path]) => ({ path, rule: CARD_FREE.name, message: CARD_FREE.texts }));
}

/** The texts and numbers of a message, which is two objects deep at most, by their paths. */
function textsIn(fields: object, parent = ''): [path: string, text: string][] {
  return Object.entries(fields).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const path = fieldPath(parent, name);
    if (typeof value === 'string' || typeof value === 'number') return [[path, String(value)]];
    return typeof value === 'object' && value !== null && parent === '' ? textsIn(value, path) : [];
  });
}
