import { IsString } from 'class-validator';
import { isWritable } from '../../payment/plain-text.js';
import { rule, saying } from './rule.js';

const MAX_TEXT_LENGTH = 255;
const MAX_URL_LENGTH = 2048;
const PHONE_NUMBER = /^\+?[\d ()-]{7,30}$/;

/** Text that is not blank, of at most 255 characters. The interface shows no length limits; this one is ours. */
export function IsText(): PropertyDecorator {
  const texts = {
    en: `$property must be text of 1 to ${MAX_TEXT_LENGTH} characters, not blank and without control characters`,
    tr: `$property 1 ila ${MAX_TEXT_LENGTH} karakterlik bir metin olmalı; boş olmamalı, kontrol karakteri içermemeli`,
  };
  return rule(
    { name: 'text', texts, constraints: [MAX_TEXT_LENGTH] },
    (value) => isWritable(value) && value.length <= MAX_TEXT_LENGTH && value.trim() !== '',
  );
}

/** Text of another party: any, even empty. */
export function IsReceivedText(): PropertyDecorator {
  return IsString(saying({ en: '$property must be text', tr: '$property metin olmalı' }));
}

export function IsPhoneNumber(): PropertyDecorator {
  const texts = {
    en: '$property must be a phone number of 7 to 15 digits, perhaps with +, spaces, dashes or brackets',
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
 * Two digits, two digits, four digits, then HH:mm:ss. Which of the first two is the day, and what separates them, is
 * not shown in the interface.
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
