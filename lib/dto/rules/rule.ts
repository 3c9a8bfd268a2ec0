import { ValidateBy, type ValidationArguments, type ValidationOptions } from 'class-validator';

/**
 * A validation decorator with a fixed message: it says what to do and never shows the value.
 *
 * @param isGood false refuses the value; `object` is what the field belongs to
 */
export function rule(
  name: string,
  message: string,
  isGood: (value: unknown, object: object) => boolean,
  options?: ValidationOptions,
): PropertyDecorator {
  const validate = (value: unknown, args?: ValidationArguments): boolean => isGood(value, args?.object ?? {});
  return ValidateBy({ name, validator: { validate, defaultMessage: () => message } }, options);
}
