import type { Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import type { FieldNote } from './field-notes.js';
import { RULE_SCHEMAS } from './rule-schemas.js';

/** Adds OpenAPI metadata to a DTO, made from its own rules, so that the two cannot drift apart. */
export function describeDto(dto: Type<object>, notes: Readonly<Record<string, FieldNote>>): void {
  for (const [field, note] of Object.entries(notes)) {
    ApiProperty({ ...schemaOf(dto, field), ...note })(dto.prototype as object, field);
  }
}

function schemaOf(dto: Type<object>, field: string): ApiPropertyOptions {
  const rules = getMetadataStorage()
    .getTargetValidationMetadatas(dto, '', false, false)
    .filter(({ propertyName }) => propertyName === field);
  const parts = rules.map(({ name = '', constraints }) => RULE_SCHEMAS[name]?.((constraints as unknown[]) ?? []));
  return Object.assign({ required: false }, ...parts) as ApiPropertyOptions;
}
