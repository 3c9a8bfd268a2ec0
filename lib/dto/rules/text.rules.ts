import { IsString } from 'class-validator';
import { rule } from './rule.js';

const MAX_TEXT_LENGTH = 255;
const MAX_URL_LENGTH = 2048;
/** Control characters, line separators, and halves of surrogate pairs, which have no UTF-8 form. */
const UNWRITABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** Text that is not blank, of at most 255 characters. The contract shows no length limits; this one is ours. */
export function IsText(): PropertyDecorator {
  return rule(
    'text',
    `$property must be text of 1 to ${MAX_TEXT_LENGTH} characters, not blank and without control characters`,
    (value) => isWritable(value) && value.length <= MAX_TEXT_LENGTH && value.trim() !== '',
  );
}

/** Whether this is text that can be stored and sent. */
export function isWritable(value: unknown): value is string {
  return typeof value === 'string' && !UNWRITABLE.test(value);
}

/** Text of another party: any, even empty. */
export function IsReceivedText(): PropertyDecorator {
  return IsString({ message: '$property must be text' });
}

export function IsPhoneNumber(): PropertyDecorator {
  return rule(
    'phoneNumber',
    '$property must be a phone number of 7 to 15 digits, perhaps with +, spaces, dashes or brackets',
    (value) => typeof value === 'string' && /^\+?[\d ()-]{7,30}$/.test(value) && hasDigits(value, 7, 15),
  );
}

function hasDigits(text: string, min: number, max: number): boolean {
  const count = text.replace(/\D/g, '').length;
  return count >= min && count <= max;
}

/** An absolute http or https address. */
export function IsWebUrl(): PropertyDecorator {
  return rule(
    'webUrl',
    `$property must be an absolute http or https URL of at most ${MAX_URL_LENGTH} characters`,
    (value) =>
      typeof value === 'string' &&
      value.length <= MAX_URL_LENGTH &&
      /^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(value) &&
      URL.canParse(value),
  );
}

/**
 * Two digits, two digits, four digits, then HH:mm:ss. Which of the first two is the day, and what separates them, is
 * not shown in the contract.
 */
export function IsDateTimeText(): PropertyDecorator {
  return rule(
    'dateTimeText',
    '$property must be a date and time like 05/02/2025 15:09:09',
    (value) => typeof value === 'string' && /^\d{2}[/.-]\d{2}[/.-]\d{4}[ T]\d{2}:\d{2}:\d{2}$/.test(value),
  );
}
