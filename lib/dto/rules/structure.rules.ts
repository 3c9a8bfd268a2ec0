import { applyDecorators } from '@nestjs/common';
import { type ClassConstructor, Type } from 'class-transformer';
import { IsDefined, IsObject, ValidateIf, ValidateNested } from 'class-validator';

export function IsRequired(): PropertyDecorator {
  return IsDefined({ message: '$property is required' });
}

/** Unlike class-validator's IsOptional, null is not taken for absent. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object, value) => value !== undefined);
}

/** An object with fields of its own; never an array. */
export function IsNested(type: () => ClassConstructor<object>): PropertyDecorator {
  const message = '$property must be an object';
  return applyDecorators(Type(type), ValidateNested({ message }), IsObject({ message }));
}
