import { PaymentCallbackError } from '../errors/payment-errors.js';
import type { CallbackFields } from '../gateway/gateway-dialect.js';
import { isObjectField } from '../gateway/dialects/callback-objects.js';

const MAX_CALLBACK_FIELDS = 64;
/** 64 KiB, counted in characters of names and values. */
const MAX_CALLBACK_CHARACTERS = 65_536;
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

type Scalar = string | number | boolean | null;

/**
 * What the bank sent, as parsed by the host (form, JSON or query), proven to be plain fields; those that the dialect
 * names (`callbackObjectFields`) may be objects of such. Names and values stay as received.
 * @throws PaymentCallbackError for a repeated field (in any case), a nested one, more than 64 fields or 64 KiB
 */
export function readCallbackFields(received: unknown, objectFields: readonly string[]): CallbackFields {
  if (!isRecord(received)) throw new PaymentCallbackError('not_a_callback');
  const read = new FieldReader();
  const fields: Record<string, Scalar | Record<string, Scalar>> = {};
  for (const [name, value] of Object.entries(received)) {
    if (isObjectField(name, objectFields) && isRecord(value)) {
      read.name(name, name);
      const members = Object.entries(value).map(([member, inner]) => [member, read.field(member, inner, `${name}.`)]);
      fields[name] = Object.fromEntries(members) as Record<string, Scalar>;
    } else fields[name] = read.field(name, value);
  }
  return fields;
}

/** A field by its name in any case, as text; null where it is absent or empty. */
export function callbackField(fields: CallbackFields, name: string): string | null {
  const entry = Object.entries(fields).find(([key]) => key.toLowerCase() === name.toLowerCase());
  const value = entry?.[1];
  if (value === undefined || value === null || value === '' || typeof value === 'object') return null;
  return String(value);
}

/** Whether a field, or an object, is there under this name, in any case, and not empty. */
export function hasCallbackValue(fields: CallbackFields, name: string): boolean {
  const [, value] = Object.entries(fields).find(([key]) => key.toLowerCase() === name.toLowerCase()) ?? [];
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== '';
}

class FieldReader {
  private readonly seen = new Set<string>();
  private fields = 0;
  private characters = 0;

  name(name: string, path: string): void {
    if (FORBIDDEN_NAMES.has(name)) throw new PaymentCallbackError('nested_field');
    if (this.seen.has(path.toLowerCase())) throw new PaymentCallbackError('repeated_field');
    this.seen.add(path.toLowerCase());
  }

  field(name: string, value: unknown, above = ''): Scalar {
    if (Array.isArray(value)) throw new PaymentCallbackError('repeated_field');
    if (!isScalar(value)) throw new PaymentCallbackError('nested_field');
    this.fields += 1;
    this.characters += name.length + String(value).length;
    if (this.fields > MAX_CALLBACK_FIELDS || this.characters > MAX_CALLBACK_CHARACTERS)
      throw new PaymentCallbackError('too_large');
    this.name(name, above + name);
    return value;
  }
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
