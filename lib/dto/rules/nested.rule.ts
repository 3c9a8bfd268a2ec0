import { applyDecorators } from '@nestjs/common';
import { type ClassConstructor, Type } from 'class-transformer';
import { IsObject, ValidateNested } from 'class-validator';

/** An object with fields of its own; never an array. */
export function IsNested(type: () => ClassConstructor<object>): PropertyDecorator {
  const message = '$property must be an object';
  return applyDecorators(Type(type), ValidateNested({ message }), IsObject({ message }));
}
