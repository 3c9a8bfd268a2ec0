import { rule } from './rule.js';

const MOST_CHARACTERS = 2048;

/** An absolute http or https address. */
export function IsWebUrl(): PropertyDecorator {
  return rule(
    'webUrl',
    `$property must be an absolute http or https URL of at most ${MOST_CHARACTERS} characters`,
    (value) =>
      typeof value === 'string' &&
      value.length <= MOST_CHARACTERS &&
      /^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(value) &&
      URL.canParse(value),
  );
}
