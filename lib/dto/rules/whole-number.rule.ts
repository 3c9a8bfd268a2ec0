import { rule } from './rule.js';

/** A number without fraction, between bounds. Never a text. */
export function IsWholeNumber(fewest: number, most: number): PropertyDecorator {
  return rule(
    'wholeNumber',
    `$property must be a whole number from ${fewest} to ${most}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= fewest && (value as number) <= most,
  );
}
