import { ValidateBy, type ValidationArguments, type ValidationOptions } from 'class-validator';
import type { Translations } from '../../payment/text-language.js';

/** What a rule is known by, what it says, and what it compares with. */
export interface Rule {
  readonly name: string;
  /** What to do about a value that breaks it. `$property` stands for the field; the value is never shown. */
  readonly texts: Translations;
  /** Kept in class-validator's metadata, for those who describe the rule elsewhere. */
  readonly constraints?: readonly unknown[];
}

/**
 * A validation decorator that shows no value.
 *
 * @param isGood false refuses the value; `object` is what the field belongs to
 */
export function rule(
  { name, texts, constraints = [] }: Rule,
  isGood: (value: unknown, object: object) => boolean,
  options: ValidationOptions = {},
): PropertyDecorator {
  const validate = (value: unknown, args?: ValidationArguments): boolean => isGood(value, args?.object ?? {});
  return ValidateBy({ name, constraints: [...constraints], validator: { validate } }, { ...options, ...saying(texts) });
}

/**
 * What a decorator of class-validator says: English as its message, and both languages as the `contexts` of its error,
 * where a host's `exceptionFactory` finds them as well.
 */
export function saying(texts: Translations): ValidationOptions {
  return { message: texts.en, context: texts };
}
