import type { Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';

/** The parts of a field's description that its rules do not give. */
interface FieldNote extends Pick<ApiPropertyOptions, 'writeOnly'> {
  readonly description: string;
  readonly example?: string | number | boolean;
}

/**
 * Adds OpenAPI metadata to a DTO. The schema comes from the DTO's own rules, so that it always says the same as they
 * do.
 *
 * @param notes one for each field, of a DTO that is the body of requests: a missing or an extra one does not compile
 */
export function describeDto<T extends object>(dto: Type<T>, notes?: Readonly<Record<keyof T, FieldNote>>): void {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  for (const field of new Set(rules.map(({ propertyName }) => propertyName))) {
    const parts = rules
      .filter(({ propertyName }) => propertyName === field)
      .map(({ name = '', constraints }) => RULE_SCHEMAS[name]?.((constraints as unknown[]) ?? []));
    const schema = Object.assign({ required: false }, ...parts) as ApiPropertyOptions;
    ApiProperty({ ...schema, ...notes?.[field as keyof T] })(dto.prototype as object, field);
  }
}

/** Makes part of a field's schema from the rule's constraints. */
type SchemaOfRule = (constraints: readonly unknown[]) => ApiPropertyOptions;

const patternSchema: SchemaOfRule = ([pattern]) => ({ type: 'string', pattern: (pattern as RegExp).source });
const textSchema: SchemaOfRule = ([maxLength]) => ({
  type: 'string',
  minLength: 1,
  maxLength: maxLength as number,
  pattern: '\\S',
});

/**
 * The rules of the DTOs in the terms of OpenAPI, by the rule's name. A rule that OpenAPI cannot express (the check
 * digit, a date that must not be past) adds nothing.
 */
export const RULE_SCHEMAS: Readonly<Record<string, SchemaOfRule>> = {
  isDefined: () => ({ required: true }),
  isObject: ([type]) =>
    type ? { type: (type as () => Type<object>)() } : { type: 'object', additionalProperties: true },
  oneOf: ([values]) => ({ type: 'string', enum: values as string[] }),
  isBoolean: () => ({ type: 'boolean' }),
  text: textSchema,
  note: textSchema,
  webUrl: ([maxLength]) => ({
    type: 'string',
    format: 'uri',
    maxLength: maxLength as number,
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
  }),
  phoneNumber: patternSchema,
  wholeNumber: ([minimum, maximum]) => ({ type: 'integer', minimum: minimum as number, maximum: maximum as number }),
  currencyCode: ([codes]) => ({ type: 'integer', enum: codes as number[] }),
  // The forms that people type, since the fields take these.
  bin: patternSchema,
  cardNumber: () => ({ type: 'string', pattern: '^\\d(?:[ -]?\\d){11,18}$' }),
  expiry: () => ({
    type: 'string',
    pattern: '^(?:(?:0[1-9]|1[0-2])|(?:0?[1-9]|1[0-2])(?: ?[/.-] ?| ))(?:20)?\\d{2}$',
  }),
  securityCode: patternSchema,
  amountFormat: () => ({
    oneOf: [
      { type: 'string', pattern: '^\\d+(?:\\.\\d+)?$' },
      { type: 'number', minimum: 0 },
    ],
  }),
  amountPositive: () => ({}),
  amountDecimals: () => ({}),
  amountDigits: () => ({}),
  luhn: () => ({}),
  cardFree: () => ({}),
  notExpired: () => ({}),
};
