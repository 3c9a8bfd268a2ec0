import { PaymentCallbackError } from '../../errors/payment-callback.error.js';
import type { CallbackFields } from '../gateway-dialect.js';

/** The one field of a callback that may be an object; in lower case. */
export const INSTRUMENT_DETAIL = 'instrumentdetail';
const MAX_MEMBERS = 64;
const MEMBER = /^(InstrumentDetail)(?:\.([^.[\]]+)|\[([^[\]]+)\])$/i;

type Value = CallbackFields[string];
type Members = Record<string, Exclude<Value, object> | null>;

/**
 * The callback's fields with `InstrumentDetail` as the object that it is, however the form wrote it: `InstrumentDetail.X`,
 * `InstrumentDetail[X]`, or one JSON text (which of these the bank uses is not shown). All else stays as received.
 * @throws PaymentCallbackError for a member that stands twice, a nested one, or more than 64
 */
export function withInstrumentDetail(fields: CallbackFields): CallbackFields {
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
    const [, holder, dotted, bracketed] = MEMBER.exec(field) ?? [];
    const whole = field.toLowerCase() === INSTRUMENT_DETAIL ? objectOf(value) : null;
    if (holder !== undefined) add(dotted ?? bracketed ?? '', value);
    else if (whole) for (const [member, inner] of Object.entries(whole)) add(member, inner);
    else {
      if (field.toLowerCase() === INSTRUMENT_DETAIL) isText = value !== null && value !== '';
      gathered[field] ??= value;
      continue;
    }
    name ??= holder ?? field;
    gathered[name] = members;
  }
  if (isText && seen.size > 0) throw new PaymentCallbackError('repeated_field');
  return gathered;
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
