import { PaymentCallbackError } from '../../errors/payment-callback.error.js';
import type { CallbackFields, GatewayDialect } from '../gateway-dialect.js';
import type { PaymentRecord } from '../../payment/payment.js';

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

/** What a dialect says of callbacks. */
export type CallbackRules = Pick<GatewayDialect, 'callbackIdField' | 'callbackObjectFields' | 'requiredCallbackFields'>;

/**
 * Checks that what the bank sent can be about this payment. It decides nothing about the outcome: the Auth3d reply does.
 *
 * @returns the fields with each of `callbackObjectFields` gathered into one object
 * @throws PaymentCallbackError when it cannot
 */
export function checkCallback(fields: CallbackFields, payment: PaymentRecord, rules: CallbackRules): CallbackFields {
  const gathered = gatherObjects(fields, rules.callbackObjectFields);
  const { requiredCallbackFields: required } = rules;
  const isComplete = required.every((name) => hasCallbackValue(gathered, name)) && Object.keys(gathered).length > 0;
  if (!isComplete) throw new PaymentCallbackError('missing_field');
  const conversationId = callbackField(fields, rules.callbackIdField);
  if (conversationId !== null && conversationId !== payment.conversationId) {
    throw new PaymentCallbackError('foreign_payment');
  }
  return gathered;
}

const MAX_MEMBERS = 64;
const MEMBER = /^([^.[\]]+)(?:\.([^.[\]]+)|\[([^[\]]+)\])$/;

type Value = CallbackFields[string];
type Members = Record<string, Exclude<Value, object> | null>;

/** Whether this field of a callback may be an object: a dialect's `callbackObjectFields` name it, in any case. */
export function isObjectField(name: string, objectFields: readonly string[]): boolean {
  return objectFields.some((field) => isSameName(field, name));
}

/**
 * The callback's fields with each of `objectFields` as the object that it is, however the form wrote it:
 * `Field.Member`, `Field[Member]`, or one JSON text (which of these a bank uses is not shown). All else stays as
 * received.
 * @throws PaymentCallbackError for a repeated member, a nested one, or more than 64
 */
export function gatherObjects(fields: CallbackFields, objectFields: readonly string[]): CallbackFields {
  return objectFields.reduce(gatherObject, fields);
}

function gatherObject(fields: CallbackFields, objectField: string): CallbackFields {
  const gathered: Record<string, Value> = {};
  const members: Members = {};
  const seen = new Set<string>();
  let name: string | null = null;
  let isText = false;
  const add = (member: string, value: Value): void => {
    if (seen.has(member.toLowerCase())) throw new PaymentCallbackError('repeated_field');
    if (seen.add(member.toLowerCase()).size > MAX_MEMBERS) throw new PaymentCallbackError('too_large');
    if (typeof value === 'object' && value !== null) throw new PaymentCallbackError('nested_field');
    if (member === '__proto__') throw new PaymentCallbackError('nested_field');
    members[member] = value;
  };

  for (const [field, value] of Object.entries(fields)) {
    const [, holder = '', dotted, bracketed] = MEMBER.exec(field) ?? [];
    const isWhole = isSameName(field, objectField);
    const object = isWhole ? objectOf(value) : null;
    if (isSameName(holder, objectField)) {
      add(dotted ?? bracketed ?? '', value);
      name ??= holder;
    } else if (object) {
      for (const [member, inner] of Object.entries(object)) add(member, inner);
      name ??= field;
    } else {
      if (isWhole) isText = value !== null && value !== '';
      gathered[field] ??= value;
      continue;
    }
    gathered[name] = members;
  }
  if (isText && seen.size > 0) throw new PaymentCallbackError('repeated_field');
  return gathered;
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function objectOf(value: Value): Record<string, Value> | null {
  if (typeof value === 'object') return value;
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return null;
  try {
    return JSON.parse(value) as Record<string, Value>;
  } catch {
    return null;
  }
}
