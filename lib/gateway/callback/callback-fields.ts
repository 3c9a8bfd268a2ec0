import { PaymentCallbackError } from '../../errors/payment-errors.js';
import type { PaymentRecord } from '../../payment/payment.js';
import type { CallbackFields, GatewayDialect } from '../gateway-dialect.js';

/** The limit for a callback, and for each object in it: a JSON text may have any number of members. */
const MAX_FIELDS = 64;
/** 64 KiB, counted in characters of names and values. */
const MAX_CHARACTERS = 65_536;
/** Properties of every JavaScript object. No bank gives these names to its fields. */
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
/** `Field.Member` or `Field[Member]`. */
const MEMBER = /^([^.[\]]+)(?:\.([^.[\]]+)|\[([^[\]]+)\])$/;

type Value = CallbackFields[string];
type Scalar = Exclude<Value, object>;

/** The part of a dialect that describes callbacks. */
export type CallbackRules = Pick<GatewayDialect, 'callbackIdField' | 'callbackObjectFields' | 'requiredCallbackFields'>;

/**
 * Reads what the bank sent, as the host parsed it (form, JSON or query). Every field must be a single value; those in
 * `objectFields` (a dialect's `callbackObjectFields`) may be objects of single values. Names and values stay as
 * received.
 *
 * @throws PaymentCallbackError for a field that is repeated (the case of its name is ignored) or nested, for more than
 *   64 fields or 64 KiB
 */
export function readCallbackFields(received: unknown, objectFields: readonly string[]): CallbackFields {
  if (!isRecord(received)) throw new PaymentCallbackError('not_a_callback');
  const checker = new FieldChecker();
  const fields: Record<string, Value> = {};
  for (const [name, value] of Object.entries(received)) {
    if (isObjectField(name, objectFields) && isRecord(value)) {
      checker.checkName(name, name);
      const members = Object.entries(value).map(([key, inner]) => [key, checker.checked(key, inner, `${name}.`)]);
      fields[name] = Object.fromEntries(members) as Record<string, Scalar>;
    } else fields[name] = checker.checked(name, value);
  }
  return fields;
}

/** Checks the fields of one callback, each in turn. */
class FieldChecker {
  private readonly seen = new Set<string>();
  private fields = 0;
  private characters = 0;

  /** @param path the field's name, prefixed by that of the object that contains it */
  checkName(name: string, path: string): void {
    if (FORBIDDEN_NAMES.has(name)) throw new PaymentCallbackError('nested_field');
    if (this.seen.has(path.toLowerCase())) throw new PaymentCallbackError('repeated_field');
    this.seen.add(path.toLowerCase());
  }

  checked(name: string, value: unknown, above = ''): Scalar {
    if (Array.isArray(value)) throw new PaymentCallbackError('repeated_field');
    if (!isScalar(value)) throw new PaymentCallbackError('nested_field');
    this.fields += 1;
    this.characters += name.length + String(value).length;
    if (this.fields > MAX_FIELDS || this.characters > MAX_CHARACTERS) throw new PaymentCallbackError('too_large');
    this.checkName(name, above + name);
    return value;
  }
}

/** Whether a field of this name may be an object. The case of the name makes no difference. */
export function isObjectField(name: string, objectFields: readonly string[]): boolean {
  return objectFields.some((field) => isSameName(field, name));
}

/**
 * Turns each of `objectFields` into one object, whether the form wrote it as `Field.Member`, as `Field[Member]`, or as
 * one JSON text (unverified: it is not known which of these a bank uses). Other fields stay as received.
 *
 * @throws PaymentCallbackError for a member that is repeated or nested, and for more than 64 of them
 */
export function gatherObjects(fields: CallbackFields, objectFields: readonly string[]): CallbackFields {
  return objectFields.reduce(gatherObject, fields);
}

function gatherObject(fields: CallbackFields, objectField: string): CallbackFields {
  const gathered: Record<string, Value> = {};
  const members: Record<string, Scalar> = {};
  const seen = new Set<string>();
  let name: string | null = null;
  let isText = false;
  const add = (member: string, value: Value): void => {
    if (seen.has(member.toLowerCase())) throw new PaymentCallbackError('repeated_field');
    if (seen.add(member.toLowerCase()).size > MAX_FIELDS) throw new PaymentCallbackError('too_large');
    if (!isScalar(value) || member === '__proto__') throw new PaymentCallbackError('nested_field');
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
      // An empty text must not replace members that came before it.
      gathered[field] ??= value;
      continue;
    }
    gathered[name] = members;
  }
  if (isText && seen.size > 0) throw new PaymentCallbackError('repeated_field');
  return gathered;
}

/** The object that a field holds, directly or as JSON text; null if it holds none. */
function objectOf(value: Value): Record<string, Value> | null {
  if (typeof value === 'object') return value;
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return null;
  try {
    return JSON.parse(value) as Record<string, Value>;
  } catch {
    return null;
  }
}

/**
 * Checks that what the bank sent can be about this payment. It does not decide the outcome: the answer to Auth3d does.
 *
 * @returns the fields, with each of `callbackObjectFields` as one object
 * @throws PaymentCallbackError when a required field is missing or the fields name another payment, and as
 *   {@link gatherObjects} does
 */
export function checkCallback(fields: CallbackFields, payment: PaymentRecord, rules: CallbackRules): CallbackFields {
  const gathered = gatherObjects(fields, rules.callbackObjectFields);
  const isComplete = rules.requiredCallbackFields.every((name) => hasCallbackValue(gathered, name));
  if (!isComplete || Object.keys(gathered).length === 0) throw new PaymentCallbackError('missing_field');
  const conversationId = callbackField(fields, rules.callbackIdField);
  if (conversationId !== null && conversationId !== payment.conversationId) {
    throw new PaymentCallbackError('foreign_payment');
  }
  return gathered;
}

/** The value of a field as text; null if it is absent, empty or an object. The case of its name is ignored. */
export function callbackField(fields: CallbackFields, name: string): string | null {
  const value = valueOf(fields, name);
  return value === '' || typeof value === 'object' ? null : String(value);
}

/** Whether a field or an object of this name is present and not empty. The case of the name is ignored. */
export function hasCallbackValue(fields: CallbackFields, name: string): boolean {
  const value = valueOf(fields, name);
  return typeof value === 'object' ? Object.keys(value).length > 0 : value !== '';
}

/** The value of a field; empty if it is absent or null. The case of its name is ignored. */
function valueOf(fields: CallbackFields, name: string): NonNullable<Value> {
  return Object.entries(fields).find(([key]) => isSameName(key, name))?.[1] ?? '';
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
