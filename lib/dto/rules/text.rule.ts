import { rule } from './rule.js';

const MAX_TEXT_LENGTH = 255;
/** Control characters, line separators, and halves of surrogate pairs, which have no UTF-8 form. */
const UNWRITABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** A text that is not blank, of at most 255 characters. The contract shows no length limits; this one is ours. */
export function IsText(): PropertyDecorator {
  return rule(
    'text',
    `$property must be a text of 1 to ${MAX_TEXT_LENGTH} characters, not blank and without control characters`,
    (value) =>
      typeof value === 'string' && value.length <= MAX_TEXT_LENGTH && value.trim() !== '' && !UNWRITABLE.test(value),
  );
}
