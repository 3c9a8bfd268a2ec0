import { PaymentCallbackError } from '../errors/payment-callback.error.js';
import type { CallbackFields } from '../gateway/gateway-dialect.js';

const MOST_FIELDS = 64;
/** 64 KiB, counted in characters of names and values. */
const MOST_CHARACTERS = 65_536;
const DETAIL = /^(InstrumentDetail)(?:\.([^.[\]]+)|\[([^[\]]+)\])$/i;
const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

type Scalar = string | number | boolean | null;
type Detail = Record<string, Scalar>;

/**
 * What the bank sent, as parsed by the host (form, JSON or query), made into fields: `InstrumentDetail.X`, `InstrumentDetail[X]` and a
 * JSON text all become one object; everything else stays as received. How the bank writes that object is not shown.
 * @throws PaymentCallbackError for a repeated field (in any case), a nested one, more than 64 fields or 64 KiB
 */
export function readCallbackFields(received: unknown): CallbackFields {
  if (!isRecord(received)) throw new PaymentCallbackError('not_a_callback');
  const budget = { fields: 0, characters: 0 };
  const seen = new Set<string>();
  const fields: Record<string, Scalar | Detail> = {};
  const details = new Map<string, Detail>();

  const addDetail = (name: string, members: readonly [string, unknown][]): void => {
    const detail = details.get(name.toLowerCase()) ?? {};
    details.set(name.toLowerCase(), detail);
    if (!seen.has(name.toLowerCase())) fields[name] = detail;
    seen.add(name.toLowerCase());
    for (const [member, value] of members) {
      spend(budget, member, value);
      claimName(seen, `${name}.${member}`, member);
      detail[member] = value as Scalar;
    }
  };

  for (const [name, value] of Object.entries(received)) {
    const [, detailName, dotted, bracketed] = DETAIL.exec(name) ?? [];
    if (detailName !== undefined) {
      addDetail(detailName, [[dotted ?? bracketed ?? '', value]]);
      continue;
    }
    const detail = name.toLowerCase() === 'instrumentdetail' ? detailMembers(value) : null;
    if (detail) {
      if (seen.has(name.toLowerCase())) throw new PaymentCallbackError('repeated_field');
      addDetail(name, detail);
      continue;
    }
    spend(budget, name, value);
    claimName(seen, name, name);
    fields[name] = value as Scalar;
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

/** Whether a field is there under this name, in any case; it may be empty. */
export function hasCallbackField(fields: CallbackFields, name: string): boolean {
  return Object.keys(fields).some((key) => key.toLowerCase() === name.toLowerCase());
}

function detailMembers(value: unknown): [string, unknown][] | null {
  if (isRecord(value)) return Object.entries(value);
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return null;
  try {
    const parsed: unknown = JSON.parse(value);
    return isRecord(parsed) ? Object.entries(parsed) : null;
  } catch {
    return null;
  }
}

function spend(budget: { fields: number; characters: number }, name: string, value: unknown): void {
  if (Array.isArray(value)) throw new PaymentCallbackError('repeated_field');
  if (typeof value === 'object' && value !== null) throw new PaymentCallbackError('nested_field');
  budget.fields += 1;
  budget.characters += name.length + String(value).length;
  if (budget.fields > MOST_FIELDS || budget.characters > MOST_CHARACTERS) throw new PaymentCallbackError('too_large');
}

function claimName(seen: Set<string>, path: string, name: string): void {
  if (FORBIDDEN_NAMES.has(name)) throw new PaymentCallbackError('nested_field');
  if (seen.has(path.toLowerCase())) throw new PaymentCallbackError('repeated_field');
  seen.add(path.toLowerCase());
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
