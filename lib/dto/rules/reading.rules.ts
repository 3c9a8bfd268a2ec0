import { applyDecorators } from '@nestjs/common';
import { Transform, type TransformFnParams } from 'class-transformer';
import { IsBoolean } from 'class-validator';
import { saying } from './rule.js';

const TRUE_OR_FALSE = { en: '$property must be true or false', tr: '$property true veya false olmalı' };

/** Reads a field as people type it, from what was given: a host's `enableImplicitConversion` does not come between. */
export function AsTyped(read: (given: unknown) => unknown): PropertyDecorator {
  return Transform(({ obj, key }: TransformFnParams) => read((obj as Record<string, unknown>)[key]), {
    toClassOnly: true,
  });
}

/** The field as it was given. */
export function AsGiven(): PropertyDecorator {
  return AsTyped((given) => given);
}

/** true or false and nothing else: with `enableImplicitConversion`, the text `false` would become true. */
export function IsTrueOrFalse(): PropertyDecorator {
  return applyDecorators(AsGiven(), IsBoolean(saying(TRUE_OR_FALSE)));
}
