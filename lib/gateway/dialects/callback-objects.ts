import { PaymentCallbackError } from '../../errors/payment-errors.js';
import type { CallbackFields } from '../gateway-dialect.js';

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
