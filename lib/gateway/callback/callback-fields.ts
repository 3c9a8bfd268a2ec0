import { PaymentCallbackError } from '../../errors/payment-errors.js';
import type { PaymentRecord } from '../../payment/payment.js';
import type { Auth3dRequest, CallbackFields, GatewayDialect } from '../gateway-dialect.js';

/** The members of objects are counted, too. */
const MAX_FIELDS = 64;
/** 64 KiB, counted in characters of names and values. */
const MAX_CHARACTERS = 65_536;
/** Properties of every JavaScript object. No bank gives these names to its fields. */
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
/** `Field.Member` or `Field[Member]`. */
const MEMBER = /^([^.[\]]+)(?:\.([^.[\]]+)|\[([^[\]]+)\])$/;

type Value = CallbackFields[string];
type Scalar = Exclude<Value, object>;

/** What the bank sent: as received, and with each of the dialect's `callbackObjectFields` as one object. */
export type Callback = Pick<Auth3dRequest, 'fields' | 'gathered'>;

/**
 * Reads what the bank sent, as the host parsed it (form, JSON or query). Every field must be a single value, but for
 * those in `objectFields`, which may be objects of single values: as such, as `Field.Member`, as `Field[Member]`, or as
 * one JSON text (unverified: it is not known which of these a bank uses). The case of names is ignored.
 *
 * @throws PaymentCallbackError for a field or member that is repeated or nested, for more than 64 of them or 64 KiB
 */
export function readCallback(received: unknown, objectFields: readonly string[]): Callback {
  if (!isRecord(received)) throw new PaymentCallbackError('not_a_callback');
  const reader = new CallbackReader(objectFields);
  for (const [name, value] of Object.entries(received)) reader.add(name, value);
  const { fields, gathered } = reader;
  return { fields, gathered };
}

/** Takes the fields of one callback, each in turn. */
class CallbackReader {
  readonly fields: Record<string, Value> = {};
  readonly gathered: Record<string, Value> = {};
  private readonly seen = new Set<string>();
  private values = 0;
  private characters = 0;

  private readonly objectNames: ReadonlySet<string>;

  constructor(objectFields: readonly string[]) {
    this.objectNames = new Set(objectFields.map((name) => name.toLowerCase()));
  }

  add(name: string, value: unknown): void {
    const [, holder = name, dotted, bracketed] = MEMBER.exec(name) ?? [];
    const member = dotted ?? bracketed;
    if (!this.objectNames.has(holder.toLowerCase())) {
      this.fields[name] = this.gathered[name] = this.single(name, value);
    } else if (member !== undefined) {
      this.fields[name] = this.gather(holder, { [member]: value })[member]!;
    } else if (isRecord(value)) {
      this.once(name);
      this.fields[name] = this.gather(name, value);
    } else {
      const text = (this.fields[name] = this.single(name, value));
      const written = objectIn(text);
      if (written) this.gather(name, written);
      else this.gatherText(this.gatheredName(name), text);
    }
  }

  /** @returns the members of this object that were given */
  private gather(holder: string, given: Readonly<Record<string, unknown>>): Record<string, Scalar> {
    const name = this.gatheredName(holder);
    const members: Record<string, Scalar> = {};
    for (const [member, value] of Object.entries(given)) members[member] = this.single(member, value, holder);
    const before = this.gathered[name] ?? {};
    if (typeof before !== 'object' && !isEmpty(before)) throw new PaymentCallbackError('repeated_field');
    this.gathered[name] = Object.assign(typeof before === 'object' ? before : {}, members);
    return members;
  }

  /** A text that is no object. An empty one may stand beside members, and says nothing then. */
  private gatherText(name: string, text: Scalar): void {
    if (!isEmpty(text) && this.gathered[name] !== undefined) throw new PaymentCallbackError('repeated_field');
    this.gathered[name] ??= text;
  }

  /** Under which name an object is gathered: the first that came. */
  private gatheredName(holder: string): string {
    return Object.keys(this.gathered).find((name) => isSameName(name, holder)) ?? holder;
  }

  /** A value that was checked and counted. */
  private single(name: string, value: unknown, holder?: string): Scalar {
    if (Array.isArray(value)) throw new PaymentCallbackError('repeated_field');
    if (!isScalar(value)) throw new PaymentCallbackError('nested_field');
    this.values += 1;
    this.characters += name.length + String(value).length;
    if (this.values > MAX_FIELDS || this.characters > MAX_CHARACTERS) throw new PaymentCallbackError('too_large');
    this.once(name, holder);
    return value;
  }

  private once(name: string, holder?: string): void {
    if (FORBIDDEN_NAMES.has(name)) throw new PaymentCallbackError('nested_field');
    const path = (holder === undefined ? name : `${holder}.${name}`).toLowerCase();
    if (this.seen.has(path)) throw new PaymentCallbackError('repeated_field');
    this.seen.add(path);
  }
}

/** The object that a JSON text holds; null if it holds none. */
function objectIn(text: Scalar): Record<string, unknown> | null {
  if (typeof text !== 'string' || !text.trimStart().startsWith('{')) return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/**
 * Checks that what the bank sent can be about this payment. It does not decide the outcome: the answer to Auth3d does.
 *
 * @throws PaymentCallbackError when a required field is missing or the fields name another payment
 */
export function checkCallback(
  { fields, gathered }: Callback,
  { conversationId }: Pick<PaymentRecord, 'conversationId'>,
  { requiredCallbackFields, callbackIdField }: Pick<GatewayDialect, 'callbackIdField' | 'requiredCallbackFields'>,
): void {
  const isMissing = requiredCallbackFields.some((name) => isEmpty(valueOf(gathered, name)));
  if (isMissing || Object.keys(gathered).length === 0) throw new PaymentCallbackError('missing_field');
  const id = valueOf(fields, callbackIdField);
  if (!isEmpty(id) && typeof id !== 'object' && String(id) !== conversationId) {
    throw new PaymentCallbackError('foreign_payment');
  }
}

/** The value of a field; undefined if it is absent. The case of its name is ignored. */
function valueOf(fields: CallbackFields, name: string): Value | undefined {
  const found = Object.keys(fields).find((key) => isSameName(key, name));
  return found === undefined ? undefined : fields[found];
}

function isEmpty(value: Value | undefined): boolean {
  return (value ?? '') === '' || (typeof value === 'object' && Object.keys(value!).length === 0);
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
