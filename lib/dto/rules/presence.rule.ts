import { IsDefined, ValidateIf } from 'class-validator';

export function IsRequired(): PropertyDecorator {
  return IsDefined({ message: '$property is required' });
}

/** Unlike class-validator's IsOptional, null is not taken for absent. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object, value) => value !== undefined);
}
