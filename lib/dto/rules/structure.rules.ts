import { applyDecorators } from '@nestjs/common';
import { type ClassConstructor, Type } from 'class-transformer';
import { IsDefined, ValidateIf, ValidateNested } from 'class-validator';
import { rule, saying } from './rule.js';

const AN_OBJECT = { en: '$property must be an object', tr: '$property bir nesne olmalı' };

export function IsRequired(): PropertyDecorator {
  return IsDefined(saying({ en: '$property is required', tr: '$property zorunlu' }));
}

/** Unlike class-validator's IsOptional, null is not taken for absent. */
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
