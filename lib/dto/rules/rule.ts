import { applyDecorators } from '@nestjs/common';
import { type ClassConstructor, Type } from 'class-transformer';
import {
  IsDefined,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
  type ValidationOptions,
} from 'class-validator';
import type { Translations } from '../../runtime/text-language.js';

/** A rule for a field: its name, its message and its constraints. */
export interface Rule {
  readonly name: string;
  /** What to do about a value that breaks it. `$property` stands for the field; the value is never shown. */
  readonly texts: Translations;
  /** Kept in class-validator's metadata, from which `lib/swagger` describes the rule. */
  readonly constraints?: readonly unknown[];
}

/**
 * Makes a validation decorator whose messages show no value.
 *
 * @param isGood returns false to refuse the value; `object` is the object of the field
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
 * The message for a decorator of class-validator: in English as `message`, and in both languages in the `contexts` of
 * its error, where a host's `exceptionFactory` finds them as well.
 */
export function saying(texts: Translations): ValidationOptions {
  return { message: texts.en, context: texts };
}

const AN_OBJECT = { en: '$property must be an object', tr: '$property bir nesne olmalı' };

export function IsRequired(): PropertyDecorator {
  return IsDefined(saying({ en: '$property is required', tr: '$property zorunlu' }));
}

/** Unlike class-validator's `IsOptional`, this does not treat null as absent. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object, value) => value !== undefined);
}

/** An object with fields of its own; never an array. */
export function IsNested(type: () => ClassConstructor<object>): PropertyDecorator {
  return applyDecorators(Type(type), ValidateNested(saying(AN_OBJECT)), IsAnObject(type));
}

/** Any object; never an array. */
export function IsAnObject(type?: () => ClassConstructor<object>): PropertyDecorator {
  return rule(
    { name: 'isObject', texts: AN_OBJECT, constraints: type && [type] },
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  );
}
