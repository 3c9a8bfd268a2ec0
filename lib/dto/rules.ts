import { applyDecorators } from '@nestjs/common';
import { type ClassConstructor, Transform, type TransformFnParams, Type } from 'class-transformer';
import {
  IsBase64,
  IsBoolean,
  IsDefined,
  IsNumber,
  IsOptional,
  IsString,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
  type ValidationOptions,
} from 'class-validator';
import { AMOUNT_TEXTS, type AmountProblem, amountProblem, CURRENCY_CODES, isCurrencyCode } from '../payment/amount.js';
import { isWritable } from '../payment/kept-text.js';
import type { Translations } from '../runtime/text-language.js';

/** A rule that may also be looked at, or reported, without a field that it stands on. */
export interface Rule {
  (): PropertyDecorator;
  /** Its stable name. */
  readonly rule: string;
  /** What to do about a value that breaks it. `$property` stands for the field; the value is never shown. */
  readonly texts: Translations;
  isGood(value: unknown): boolean;
}

/**
 * The message for a decorator of class-validator: in English as `message`, and in both languages in the `contexts` of
 * its error, where a host's `exceptionFactory` finds them as well.
 */
function saying(texts: Translations): ValidationOptions {
  return { message: texts.en, context: texts };
}

/**
 * Makes a validation decorator whose messages show no value.
 *
 * @param isGood returns false to refuse the value; `object` is the object of the field
 * @param constraints kept in class-validator's metadata, from which `lib/swagger` describes the rule
 */
function check(
  name: string,
  texts: Translations,
  isGood: (value: unknown, object: object) => boolean,
  constraints: readonly unknown[] = [],
  options: ValidationOptions = {},
): PropertyDecorator {
  const validate = (value: unknown, args?: ValidationArguments): boolean => isGood(value, args?.object ?? {});
  return ValidateBy({ name, constraints: [...constraints], validator: { validate } }, { ...options, ...saying(texts) });
}

/** A rule without parameters, as a value. */
function rule(
  name: string,
  texts: Translations,
  isGood: (value: unknown) => boolean,
  constraints: readonly unknown[] = [],
): Rule {
  return Object.assign(() => check(name, texts, isGood, constraints), { rule: name, texts, isGood });
}

// Fields: required, absent, or of another party.

const IsRequired = IsDefined(saying({ en: '$property is required', tr: '$property zorunlu' }));

/** A field that must be there, neither absent nor null, and obey these rules. */
export function Field(...rules: readonly PropertyDecorator[]): PropertyDecorator {
  return applyDecorators(IsRequired, ...rules);
}

/** A field that may be absent. Unlike class-validator's `IsOptional`, this does not treat null as absent. */
export function OptionalField(...rules: readonly PropertyDecorator[]): PropertyDecorator {
  return applyDecorators(
    ValidateIf((_object, value) => value !== undefined),
    ...rules,
  );
}

/** A field of another party's message, which may be absent or null; any text unless there are rules. */
export function ReceivedField(...rules: readonly PropertyDecorator[]): PropertyDecorator {
  return applyDecorators(IsOptional(), ...(rules.length > 0 ? rules : [IsReceivedText()]));
}

const AN_OBJECT = { en: '$property must be an object', tr: '$property bir nesne olmalı' };

/** An object with fields of its own; never an array. */
export function IsNested(type: () => ClassConstructor<object>): PropertyDecorator {
  return applyDecorators(Type(type), ValidateNested(saying(AN_OBJECT)), IsAnObject(type));
}

/** Any object; never an array. */
export function IsAnObject(type?: () => ClassConstructor<object>): PropertyDecorator {
  const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
  return check('isObject', AN_OBJECT, isObject, type && [type]);
}

// What people type.

/**
 * Reads a field as people type it. It reads the original value, before a host's `enableImplicitConversion` changes it.
 */
export function ReadAs(read: (given: unknown) => unknown): PropertyDecorator {
  return Transform(({ obj, key }: TransformFnParams) => read((obj as Record<string, unknown>)[key]), {
    toClassOnly: true,
  });
}

/** Takes the original value of the field, whatever `enableImplicitConversion` would make of it. */
export function KeepOriginal(): PropertyDecorator {
  return ReadAs((given) => given);
}

/** true or false and nothing else: with `enableImplicitConversion`, the text `false` would become true. */
export function IsTrueOrFalse(): PropertyDecorator {
  const texts = { en: '$property must be true or false', tr: '$property true veya false olmalı' };
  return applyDecorators(KeepOriginal(), IsBoolean(saying(texts)));
}

/** Keyboards and copied pages have several kinds of spaces and dashes. */
const BETWEEN_DIGITS = /[\p{Zs}\p{Pd}]/gu;
/** Month and year, separated by a slash, dot or dash, by spaces, or by both. */
const SEPARATED_EXPIRY = /^\p{Zs}*(0?[1-9]|1[0-2])(?:\p{Zs}*[/.\p{Pd}]\p{Zs}*|\p{Zs}+)(?:20)?(\d{2})\p{Zs}*$/u;
/** With nothing between them, the month must have two digits. */
const JOINED_EXPIRY = /^\p{Zs}*(0[1-9]|1[0-2])(?:20)?(\d{2})\p{Zs}*$/u;

/** Removes the spaces and dashes that people type in a card number. Other values are returned unchanged. */
export function readCardNumber(typed: unknown): unknown {
  return typeof typed === 'string' ? typed.replace(BETWEEN_DIGITS, '') : typed;
}

/**
 * Returns `1236` if people type `12/36`, `12 / 36`, `12/2036`, `12-36`, `12.36`, `12 36` or `122036`, and `0136` if
 * they type `1/36`. Everything else is returned unchanged, even `136`, which may be January or a typing mistake.
 */
export function readExpiry(typed: unknown): unknown {
  if (typeof typed !== 'string') return typed;
  const [, month, year] = SEPARATED_EXPIRY.exec(typed) ?? JOINED_EXPIRY.exec(typed) ?? [];
  return month && year ? month.padStart(2, '0') + year : typed;
}

// The card.

const BIN_DIGITS = /^\d{6,8}$/;
const MIN_CARD_DIGITS = 12;
const EXPIRY = /^(0[1-9]|1[0-2])\d{2}$/;
const SECURITY_CODE = /^\d{3,4}$/;

/** The first six to eight digits of a card number. A longer number is refused, not cut. */
export const IsBin = rule(
  'bin',
  {
    en: '$property must be the first 6 to 8 digits of a card number, never the whole number',
    tr: '$property kart numarasının ilk 6 ila 8 rakamı olmalı; asla numaranın tamamı değil',
  },
  (value) => typeof value === 'string' && BIN_DIGITS.test(value),
  [BIN_DIGITS],
);

export const IsCardNumber = rule(
  'cardNumber',
  {
    en: '$property must be 12 to 19 digits, perhaps with spaces or dashes',
    tr: '$property 12 ila 19 rakam olmalı; arada boşluk veya tire olabilir',
  },
  (value) => typeof value === 'string' && /^\d{12,19}$/.test(value),
);

/** Accepts a value that is not a card number at all: {@link IsCardNumber} reports it. */
export function PassesLuhn(options: ValidationOptions): PropertyDecorator {
  const texts = { en: '$property has a mistyped digit', tr: '$property yanlış yazılmış bir rakam içeriyor' };
  const isGood = (value: unknown): boolean => !IsCardNumber.isGood(value) || passesLuhn(value as string);
  return check('luhn', texts, isGood, [], options);
}

/** Whether the last digit is the check digit by Luhn's formula (ISO/IEC 7812-1). */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const isDoubled = (digits.length - index) % 2 === 0;
    const value = Number(digits[index]) * (isDoubled ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

export const IsExpiry = rule(
  'expiry',
  {
    en: '$property must be the month and the year, such as 12/36',
    tr: '$property ay ve yıl olmalı, örneğin 12/36',
  },
  (value) => typeof value === 'string' && EXPIRY.test(value),
);

/** The rule of {@link IsNotExpired}, for a check by another clock. */
export const EXPIRED = {
  rule: 'notExpired',
  texts: {
    en: '$property is in the past: the card has expired',
    tr: '$property geçmiş: kartın süresi dolmuş',
  },
} as const;

/** Uses the system's clock. */
export function IsNotExpired(options: ValidationOptions): PropertyDecorator {
  return check(EXPIRED.rule, EXPIRED.texts, (value) => !hasExpired(value, new Date()), [], options);
}

/**
 * Whether this is an expiry in the past. A card is good until its month has ended everywhere on Earth, which is at noon
 * UTC on the first day of the next month.
 */
export function hasExpired(expDate: unknown, now: Date): boolean {
  if (typeof expDate !== 'string' || !EXPIRY.test(expDate)) return false;
  const [month, year] = [Number(expDate.slice(0, 2)), 2000 + Number(expDate.slice(2))];
  return now.getTime() >= Date.UTC(year, month, 1, 12);
}

export const IsSecurityCode = rule(
  'securityCode',
  { en: '$property must be 3 or 4 digits', tr: '$property 3 veya 4 rakam olmalı' },
  (value) => typeof value === 'string' && SECURITY_CODE.test(value),
  [SECURITY_CODE],
);

/**
 * Refuses a text with as many digits as a card number has, whatever is between them: a card number is allowed in its
 * own field only, since the others are shown, stored or sent in URLs.
 */
export const IsCardFree = rule(
  'cardFree',
  { en: '$property must not hold a card number', tr: '$property kart numarası içermemeli' },
  (value) => typeof value !== 'string' || (value.normalize('NFKC').match(/\p{N}/gu) ?? []).length < MIN_CARD_DIGITS,
);

// Amounts and numbers.

/**
 * One rule for each possible mistake in an amount. The `currencyCode` of the same object says how many decimals it may
 * have; where the object has none, as in a refund, that is checked later.
 */
export function IsAmount(): PropertyDecorator {
  const problems = Object.keys(AMOUNT_TEXTS) as AmountProblem[];
  return applyDecorators(
    ...problems.map((problem) =>
      check(problem, AMOUNT_TEXTS[problem], (value, object) => {
        const isLater = !('currencyCode' in object) && problem !== 'amountFormat' && problem !== 'amountPositive';
        const { currencyCode } = object as { readonly currencyCode?: unknown };
        return isLater || amountProblem(value, typeof currencyCode === 'number' ? currencyCode : NaN) !== problem;
      }),
    ),
  );
}

/** The ISO 4217 number of a currency in use. */
export const IsCurrencyCode = rule(
  'currencyCode',
  {
    en:
      '$property must be the ISO 4217 number of a currency in use, written as a number: ' +
      '949 for TRY, 840 for USD, 978 for EUR; neither letters ("TRY") nor text ("949") are accepted',
    tr:
      '$property, kullanımdaki bir para biriminin ISO 4217 numarası olmalı ve sayı olarak yazılmalı: ' +
      'TRY için 949, USD için 840, EUR için 978; harf kodu ("TRY") ve metin ("949") kabul edilmez',
  },
  isCurrencyCode,
  [CURRENCY_CODES],
);

/** A number of instalments, from 1 to 999; never text. The interface shows no bounds; these are ours. */
export const IsInstallmentCount = rule(
  'wholeNumber',
  { en: '$property must be a whole number from 1 to 999', tr: '$property 1 ile 999 arasında bir tam sayı olmalı' },
  (value) => Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= 999,
  [1, 999],
);

/** A number that another party sends, or that is sent to it. */
export function IsANumber(options: { readonly maxDecimalPlaces?: number } = {}): PropertyDecorator {
  return IsNumber(options, saying({ en: '$property must be a number', tr: '$property bir sayı olmalı' }));
}

// Texts.

const MAX_TEXT_LENGTH = 255;
/** Longer than any note that is kept; what is longer than that is cut. */
const MAX_NOTE_LENGTH = 10_000;
const MAX_URL_LENGTH = 2048;
const PHONE_NUMBER = /^\+?[\d ()-]{7,30}$/;

/** Text of at most 255 characters that is not blank. The interface shows no limit; this one is ours. */
export const IsText = rule(
  'text',
  {
    en: `$property must be text of 1 to ${MAX_TEXT_LENGTH} characters, not blank and without control characters`,
    tr: `$property 1 ila ${MAX_TEXT_LENGTH} karakterlik bir metin olmalı; boş olmamalı, kontrol karakteri içermemeli`,
  },
  (value) => isWritable(value) && value.length <= MAX_TEXT_LENGTH && value.trim() !== '',
  [MAX_TEXT_LENGTH],
);

/** Text that a person wrote, of any characters: it is cut and masked before it is kept. */
export const IsNote = rule(
  'note',
  {
    en: `$property must be text of 1 to ${MAX_NOTE_LENGTH} characters, not blank`,
    tr: `$property 1 ila ${MAX_NOTE_LENGTH} karakterlik bir metin olmalı; boş olmamalı`,
  },
  (value) => typeof value === 'string' && value.length <= MAX_NOTE_LENGTH && value.trim() !== '',
  [MAX_NOTE_LENGTH],
);

/** One of these texts. @param texts what to do about another one; the choices unless given */
export function IsOneOf(values: readonly string[], texts = choiceTexts(values)): PropertyDecorator {
  return check('oneOf', texts, (value) => typeof value === 'string' && values.includes(value), [values]);
}

function choiceTexts(values: readonly string[]): Translations {
  const shown = values.join(', ');
  return { en: `$property must be one of: ${shown}`, tr: `$property şunlardan biri olmalı: ${shown}` };
}

/** Text from another party: any text, even an empty one. */
export function IsReceivedText(): PropertyDecorator {
  return IsString(saying({ en: '$property must be text', tr: '$property metin olmalı' }));
}

export const IsPhoneNumber = rule(
  'phoneNumber',
  {
    en: '$property must be a phone number of 7 to 15 digits, optionally with +, spaces, dashes or brackets',
    tr: '$property 7 ila 15 rakamlı bir telefon numarası olmalı; +, boşluk, tire ve parantez olabilir',
  },
  (value) => {
    const digits = typeof value === 'string' ? value.replace(/\D/g, '').length : 0;
    return typeof value === 'string' && PHONE_NUMBER.test(value) && digits >= 7 && digits <= 15;
  },
  [PHONE_NUMBER],
);

/** An absolute http or https address. */
export const IsWebUrl = rule(
  'webUrl',
  {
    en: `$property must be an absolute http or https URL of at most ${MAX_URL_LENGTH} characters`,
    tr: `$property en çok ${MAX_URL_LENGTH} karakterlik, http veya https ile başlayan tam bir adres olmalı`,
  },
  (value) =>
    typeof value === 'string' &&
    value.length <= MAX_URL_LENGTH &&
    /^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(value) &&
    URL.canParse(value),
  [MAX_URL_LENGTH],
);

/**
 * Two digits, two digits, four digits, then HH:mm:ss. The interface shows neither which of the first two is the day nor
 * what separates them.
 */
export const IsDateTimeText = rule(
  'dateTimeText',
  {
    en: '$property must be a date and time like 05/02/2025 15:09:09',
    tr: '$property 05/02/2025 15:09:09 gibi bir tarih ve saat olmalı',
  },
  (value) => typeof value === 'string' && /^\d{2}[/.-]\d{2}[/.-]\d{4}[ T]\d{2}:\d{2}:\d{2}$/.test(value),
);

// What the gateway sends.

export function IsBase64Text(): PropertyDecorator {
  return IsBase64({}, saying({ en: '$property must be Base64', tr: '$property Base64 olmalı' }));
}

export const IsCurrencyText = rule(
  'currencyText',
  {
    en: '$property must be a numeric currency code, as text',
    tr: '$property metin olarak sayısal bir para birimi kodu olmalı',
  },
  (value) => typeof value === 'string' && /^\d{1,3}$/.test(value),
);

export const IsObjectOrText = rule(
  'instrumentDetail',
  { en: '$property must be an object or its JSON text', tr: '$property bir nesne veya onun JSON metni olmalı' },
  (value) => typeof value === 'string' || (typeof value === 'object' && !Array.isArray(value)),
);
