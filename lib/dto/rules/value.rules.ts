import { applyDecorators } from '@nestjs/common';
import { IsString } from 'class-validator';
import {
  AMOUNT_TEXTS,
  type AmountProblem,
  amountProblem,
  CURRENCY_CODES,
  isCurrencyCode,
} from '../../payment/amount.js';
import { isWritable } from '../../payment/kept-text.js';
import type { Translations } from '../../runtime/text-language.js';
import { rule, saying } from './rule.js';

/**
 * One rule for each possible mistake in an amount. The `currencyCode` of the same object says how many decimals it may
 * have.
 */
export function IsAmount(): PropertyDecorator {
  const problems = Object.keys(AMOUNT_TEXTS) as AmountProblem[];
  return applyDecorators(
    ...problems.map((problem) =>
      rule({ name: problem, texts: AMOUNT_TEXTS[problem] }, (value, { currencyCode }: { currencyCode?: unknown }) => {
        const currency = typeof currencyCode === 'number' ? currencyCode : NaN;
        return amountProblem(value, currency) !== problem;
      }),
    ),
  );
}

/** The rules for an amount whose currency is not known yet: how many decimals it may have is checked later. */
export function IsAmountOfAnyCurrency(): PropertyDecorator {
  const problems: readonly AmountProblem[] = ['amountFormat', 'amountPositive'];
  return applyDecorators(
    ...problems.map((problem) =>
      rule({ name: problem, texts: AMOUNT_TEXTS[problem] }, (value) => amountProblem(value, NaN) !== problem),
    ),
  );
}

/** The ISO 4217 number of a currency in use. */
export function IsCurrencyCode(): PropertyDecorator {
  const texts = {
    en:
      '$property must be the ISO 4217 number of a currency in use, written as a number: ' +
      '949 for TRY, 840 for USD, 978 for EUR; neither letters ("TRY") nor text ("949") are accepted',
    tr:
      '$property, kullanımdaki bir para biriminin ISO 4217 numarası olmalı ve sayı olarak yazılmalı: ' +
      'TRY için 949, USD için 840, EUR için 978; harf kodu ("TRY") ve metin ("949") kabul edilmez',
  };
  return rule({ name: 'currencyCode', texts, constraints: [CURRENCY_CODES] }, isCurrencyCode);
}

/** A whole number from `min` to `max`; never text. */
export function IsWholeNumber(min: number, max: number): PropertyDecorator {
  const texts = {
    en: `$property must be a whole number from ${min} to ${max}`,
    tr: `$property ${min} ile ${max} arasında bir tam sayı olmalı`,
  };
  return rule(
    { name: 'wholeNumber', texts, constraints: [min, max] },
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  );
}

/** One of these texts. @param texts what to do about another one; the choices unless given */
export function IsOneOf(values: readonly string[], texts = choiceTexts(values)): PropertyDecorator {
  return rule(
    { name: 'oneOf', texts, constraints: [values] },
    (value) => typeof value === 'string' && values.includes(value),
  );
}

function choiceTexts(values: readonly string[]): Translations {
  const shown = values.join(', ');
  return { en: `$property must be one of: ${shown}`, tr: `$property şunlardan biri olmalı: ${shown}` };
}

const MAX_TEXT_LENGTH = 255;
/** Longer than any note that is kept; what is longer than that is cut. */
const MAX_NOTE_LENGTH = 10_000;
const MAX_URL_LENGTH = 2048;
const PHONE_NUMBER = /^\+?[\d ()-]{7,30}$/;

/** Text of at most 255 characters that is not blank. The interface shows no limit; this one is ours. */
export function IsText(): PropertyDecorator {
  const texts = {
    en: `$property must be text of 1 to ${MAX_TEXT_LENGTH} characters, not blank and without control characters`,
    tr: `$property 1 ila ${MAX_TEXT_LENGTH} karakterlik bir metin olmalı; boş olmamalı, kontrol karakteri içermemeli`,
  };
  return rule({ name: 'text', texts, constraints: [MAX_TEXT_LENGTH] }, isText);
}

export function isText(value: unknown): value is string {
  return isWritable(value) && value.length <= MAX_TEXT_LENGTH && value.trim() !== '';
}

/** Text that a person wrote, of any characters: it is cut and masked before it is kept. */
export function IsNote(): PropertyDecorator {
  const texts = {
    en: `$property must be text of 1 to ${MAX_NOTE_LENGTH} characters, not blank`,
    tr: `$property 1 ila ${MAX_NOTE_LENGTH} karakterlik bir metin olmalı; boş olmamalı`,
  };
  return rule(
    { name: 'note', texts, constraints: [MAX_NOTE_LENGTH] },
    (value) => typeof value === 'string' && value.length <= MAX_NOTE_LENGTH && value.trim() !== '',
  );
}

/** Text from another party: any text, even an empty one. */
export function IsReceivedText(): PropertyDecorator {
  return IsString(saying({ en: '$property must be text', tr: '$property metin olmalı' }));
}

export function IsPhoneNumber(): PropertyDecorator {
  const texts = {
    en: '$property must be a phone number of 7 to 15 digits, optionally with +, spaces, dashes or brackets',
    tr: '$property 7 ila 15 rakamlı bir telefon numarası olmalı; +, boşluk, tire ve parantez olabilir',
  };
  return rule(
    { name: 'phoneNumber', texts, constraints: [PHONE_NUMBER] },
    (value) => typeof value === 'string' && PHONE_NUMBER.test(value) && hasDigits(value, 7, 15),
  );
}

function hasDigits(text: string, min: number, max: number): boolean {
  const count = text.replace(/\D/g, '').length;
  return count >= min && count <= max;
}

/** An absolute http or https address. */
export function IsWebUrl(): PropertyDecorator {
  const texts = {
    en: `$property must be an absolute http or https URL of at most ${MAX_URL_LENGTH} characters`,
    tr: `$property en çok ${MAX_URL_LENGTH} karakterlik, http veya https ile başlayan tam bir adres olmalı`,
  };
  return rule(
    { name: 'webUrl', texts, constraints: [MAX_URL_LENGTH] },
    (value) =>
      typeof value === 'string' &&
      value.length <= MAX_URL_LENGTH &&
      /^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(value) &&
      URL.canParse(value),
  );
}

/**
 * Two digits, two digits, four digits, then HH:mm:ss. The interface shows neither which of the first two is the day nor
 * what separates them.
 */
export function IsDateTimeText(): PropertyDecorator {
  const texts = {
    en: '$property must be a date and time like 05/02/2025 15:09:09',
    tr: '$property 05/02/2025 15:09:09 gibi bir tarih ve saat olmalı',
  };
  return rule(
    { name: 'dateTimeText', texts },
    (value) => typeof value === 'string' && /^\d{2}[/.-]\d{2}[/.-]\d{4}[ T]\d{2}:\d{2}:\d{2}$/.test(value),
  );
}
