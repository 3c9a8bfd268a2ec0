import type { Type } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';

/** Part of a field's schema, from what the rule compares with. */
type SchemaOfRule = (constraints: readonly unknown[]) => ApiPropertyOptions;

const source = (constraints: readonly unknown[]): string => (constraints[0] as RegExp).source;

/**
 * How OpenAPI says what the rules of the DTOs say, by the rule's name. A rule that it has no words for (the check digit, a
 * date that must not be past) adds nothing.
 */
export const RULE_SCHEMAS: Readonly<Record<string, SchemaOfRule>> = {
  isDefined: () => ({ required: true }),
  isObject: ([type]) =>
    type ? { type: (type as () => Type<object>)() } : { type: 'object', additionalProperties: true },
  isBoolean: () => ({ type: 'boolean' }),
  text: ([maxLength]) => ({ type: 'string', minLength: 1, maxLength: maxLength as number, pattern: '\\S' }),
  webUrl: ([maxLength]) => ({
    type: 'string',
    format: 'uri',
    maxLength: maxLength as number,
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
  }),
  phoneNumber: (constraints) => ({ type: 'string', pattern: source(constraints) }),
  wholeNumber: ([minimum, maximum]) => ({
    type: 'integer',
    minimum: minimum as number,
    maximum: maximum as number,
  }),
  currencyCode: ([codes]) => ({ type: 'integer', enum: codes as number[] }),
  // As people type them, since that is what these fields take.
  cardNumber: () => ({ type: 'string', pattern: '^\\d(?:[ -]?\\d){11,18}$' }),
  expiry: () => ({
    type: 'string',
    pattern: '^(?:(?:0[1-9]|1[0-2])|(?:0?[1-9]|1[0-2])(?: ?[/.-] ?| ))(?:20)?\\d{2}$',
  }),
  securityCode: (constraints) => ({ type: 'string', pattern: source(constraints) }),
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
