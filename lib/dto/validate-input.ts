import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { PaymentValidationError, type ValidationProblem } from '../errors/payment-errors.js';
import { holdsCard } from '../payment/kept-text.js';
import type { Translations } from '../runtime/text-language.js';
import { CARD_CHECKS, type CardDetails, isMaskedCard, MASKED_CARD_TEXTS } from './card.dto.js';
import { EXPIRED, hasExpired, IsCardFree } from './rules.js';

/** How an input's card is checked. */
export interface CardChecks {
  /** Whether the card number's check digit is checked. */
  readonly luhn: boolean;
  /** The time at which the card must not have expired. */
  readonly now: Date;
}

/**
 * Checks an input, a plain object or an instance, and does not change it. A card number and an expiry are read as
 * people type them; nothing else is converted, and unknown fields are refused.
 *
 * @param checks of an input that holds a card
 * @returns a new instance, which prints its card masked
 * @throws PaymentValidationError, which names every path and rule and shows no value
 */
export function validateInput<T extends object>(type: ClassConstructor<T>, input: unknown, checks?: CardChecks): T {
  return validateCopy(type, copyInput(input), checks);
}

/** {@link validateInput} of what {@link copyInput} has made. */
export function validateCopy<T extends object>(type: ClassConstructor<T>, copy: object, checks?: CardChecks): T {
  const instance = plainToInstance(type, copy);
  const errors = validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
    // Rules without a group always apply; of those with one, at most Luhn does. The expiry is checked below, at `now`.
    always: true,
    groups: [checks?.luhn ? CARD_CHECKS.luhn : 'none'],
  });
  const { cardDetails: card } = instance as { readonly cardDetails?: Partial<CardDetails> };
  if (card && isMaskedCard(card)) throw refusal('cardDetails', 'masked', MASKED_CARD_TEXTS);
  const problems = problemsOf(errors);
  if (card && checks && hasExpired(card.expDate, checks.now)) {
    problems.push({ path: 'cardDetails.expDate', rule: EXPIRED.rule, message: EXPIRED.texts });
  }
  if (problems.length === 0) problems.push(...cardsInTexts(instance));
  if (problems.length > 0) throw new PaymentValidationError(problems);
  return instance;
}

/** Far more fields than any message has. */
export const MAX_FIELDS = 64;

/** What is wrong with an input as a whole, for which no field has a rule: the messages, by the name of the rule. */
const INPUT_TEXTS = {
  isObject: {
    en: 'must be an object with the fields of the payment',
    tr: 'ödemenin alanlarını içeren bir nesne olmalı',
  },
  unknownField: {
    en: 'is not a field of this message; leave it out',
    tr: 'bu mesajın bir alanı değil; göndermeyin',
  },
  fieldCount: { en: `must have at most ${MAX_FIELDS} fields`, tr: `en çok ${MAX_FIELDS} alan içermeli` },
  unreadable: { en: 'could not be read; pass a plain object', tr: 'okunamadı; düz bir nesne verin' },
  repeatedField: { en: '$property must be given once', tr: '$property bir kez verilmeli' },
} as const satisfies Record<string, Translations>;

export function inputProblem(path: string, rule: keyof typeof INPUT_TEXTS): ValidationProblem {
  return { path: path || 'input', rule, message: INPUT_TEXTS[rule] };
}

function refusal(path: string, rule: string, message: Translations): PaymentValidationError {
  return new PaymentValidationError([{ path, rule, message }]);
}

/**
 * Copies an input field by field into plain objects, so that what is validated has no getters, proxies, cycles or
 * arrays and is not deeply nested. A value that no field can have becomes an empty array, which every rule
 * refuses.
 *
 * @throws PaymentValidationError if the input is not an object or cannot be read
 */
export function copyInput(input: unknown): object {
  const copy = copyPart(input, '', 0);
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) throw refused('', 'isObject');
  return copy;
}

function copyPart(value: unknown, path: string, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const names = read(path, () => (Array.isArray(value) ? null : Object.keys(value)));
  if (names === null || depth > 1) return [];
  if (names.length > MAX_FIELDS) throw refused(path, 'fieldCount');
  const copy: Record<string, unknown> = {};
  for (const name of names) {
    const at = fieldPath(path, name);
    // class-transformer would drop these fields silently.
    if (name in Object.prototype || name === 'toJSON') throw refused(at, 'unknownField');
    const field = read(at, () => (value as Record<string, unknown>)[name]);
    const copied = copyPart(field, at, depth + 1);
    if (copied !== undefined) copy[name] = copied;
  }
  return copy;
}

/** Runs code of the input: a getter, or a trap of a proxy. */
function read<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch {
    throw refused(path, 'unreadable');
  }
}

function refused(path: string, rule: keyof typeof INPUT_TEXTS): PaymentValidationError {
  return new PaymentValidationError([inputProblem(path, rule)]);
}

/**
 * The dotted path of a field. A key that does not look like a field name may be data in the wrong place, so it is not
 * shown.
 */
export function fieldPath(parent: string, name: string): string {
  const shown = /^[A-Za-z_]{1,40}\d{0,2}$/.test(name) ? name : '?';
  return parent ? `${parent}.${shown}` : shown;
}

/** Turns class-validator's errors into problems with a path and, where possible, both languages. */
export function problemsOf(errors: readonly ValidationError[], parent = ''): ValidationProblem[] {
  return errors.flatMap(({ property, constraints = {}, contexts = {}, children = [] }) => {
    const path = fieldPath(parent, property);
    const own = Object.entries(constraints).map(([rule, message]) => {
      if (rule === 'whitelistValidation') return inputProblem(path, 'unknownField');
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
    .map(([path]) => ({ path, rule: IsCardFree.rule, message: IsCardFree.texts }));
}

/** The texts and numbers of a message with their paths. A message is at most two objects deep. */
function textsIn(fields: object, parent = ''): [path: string, text: string][] {
  return Object.entries(fields).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const path = fieldPath(parent, name);
    if (typeof value === 'string' || typeof value === 'number') return [[path, String(value)]];
    return typeof value === 'object' && value !== null && parent === '' ? textsIn(value, path) : [];
  });
}
