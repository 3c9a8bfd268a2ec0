import { rule } from './rule.js';

const MAX_URL_LENGTH = 2048;

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
