import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { PaymentValidationError, type ValidationProblem } from '../errors/payment-validation.error.js';
import { holdsCard } from '../payment/kept-text.js';
import type { Translations } from '../runtime/text-language.js';
import { CARD_CHECKS, type CardDetails } from './card-details.dto.js';
import { copyInput, fieldPath, unknownField } from './copy-input.js';
import type { DoPaymentDto, HostedPaymentDto } from './do-payment.dto.js';
import { isMaskedCard, MASKED_CARD_TEXTS } from './masked-card.js';
import { obeysRules } from './obeys-rules.js';
import { CARD_FREE, EXPIRED, hasExpired } from './rules/card.rules.js';

export interface InputChecks {
  /** Whether the card number's check digit is checked. */
  readonly luhn: boolean;
  /** The time at which the card must not have expired. */
  readonly now: Date;
}

/**
 * Checks the merchant's input, a plain object or an instance, and does not change it. A card number and an expiry are
 * read as people type them; nothing else is converted, and unknown fields are refused.
 *
 * @returns a new instance, which prints its card masked
 * @throws PaymentValidationError, which names every path and rule and shows no value
 */
export function checkInput<T extends DoPaymentDto | HostedPaymentDto>(
  type: ClassConstructor<T>,
  input: unknown,
  { luhn, now }: InputChecks,
): T {
  const instance = plainToInstance(type, copyInput(input));
  // Rules without a group always apply; of those with one, at most Luhn does. The expiry is checked below, at `now`.
  const group = luhn ? CARD_CHECKS.luhn : 'none';
  const errors = obeysRules(instance, group) ? [] : brokenRules(instance, group);
  const card: Partial<CardDetails> | null = 'cardDetails' in instance ? instance.cardDetails : null;
  if (card && isMaskedCard(card)) {
    const masked = { path: 'cardDetails', rule: 'masked', message: MASKED_CARD_TEXTS };
    throw new PaymentValidationError([masked]);
  }
  const problems = problemsOf(errors);
  if (hasExpired(card?.expDate, now)) {
    problems.push({ path: 'cardDetails.expDate', rule: EXPIRED.name, message: EXPIRED.texts });
  }
  if (problems.length === 0 && card) problems.push(...cardsInTexts({ ...instance, cardDetails: card }));
  if (problems.length > 0) throw new PaymentValidationError(problems);
  return instance;
}

/**
 * Checks an input that holds no card, a plain object or an instance, and does not change it. Nothing is converted, and
 * unknown fields are refused.
 *
 * @returns a new instance
 * @throws PaymentValidationError, which names every path and rule and shows no value
 */
export function checkedInput<T extends object>(type: ClassConstructor<T>, input: unknown): T {
  const instance = plainToInstance(type, copyInput(input));
  const problems = problemsOf(brokenRules(instance, 'none'));
  if (problems.length > 0) throw new PaymentValidationError(problems);
  return instance;
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

/** Turns class-validator's errors into problems with a path and, where possible, both languages. */
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

/** The host's own rules may have contexts of any other kind. */
function isTranslations(context: unknown): context is Translations {
  const { en, tr } = Object(context) as Partial<Record<keyof Translations, unknown>>;
  return typeof en === 'string' && typeof tr === 'string';
}

/** A problem for each field besides `cardNo` that holds the card number. */
export function cardsInTexts(input: { readonly cardDetails?: Partial<CardDetails> | null }): ValidationProblem[] {
  const { cardNo } = input.cardDetails ?? {};
  if (typeof cardNo !== 'string') return [];
  return textsIn(input)
    .filter(([path, text]) => path !== 'cardDetails.cardNo' && holdsCard(text, { cardNo }))
    .map(([path]) => ({ path, rule: CARD_FREE.name, message: CARD_FREE.texts }));
}

/** The texts and numbers of a message with their paths. A message is at most two objects deep. */
function textsIn(fields: object, parent = ''): [path: string, text: string][] {
  return Object.entries(fields).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const path = fieldPath(parent, name);
    if (typeof value === 'string' || typeof value === 'number') return [[path, String(value)]];
    return typeof value === 'object' && value !== null && parent === '' ? textsIn(value, path) : [];
  });
}
