import { PaymentValidationError, type ValidationIssue } from '../errors/payment-validation.error.js';
import { unmasked } from './masked-card.js';

/** Far more than any message has. */
const MAX_FIELDS = 64;

/**
 * A plain copy of an input, made once and field by field, so that whatever hides in it (getters, proxies, cycles,
 * arrays, functions, depth) is gone before it is validated. What no field can be becomes an empty array, which every
 * rule refuses. In place of the masked copy of a card comes the card.
 *
 * @throws PaymentValidationError when it is not an object, or cannot be read
 */
export function copyInput(input: unknown): object {
  const copy = copyValue(input, '', 0);
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) {
    throw refusal('', 'isObject', 'must be an object with the fields of the payment');
  }
  return copy;
}

/** Dotted. An unknown name may be data in the wrong place, so one that does not look like a name is not shown. */
export function fieldPath(parent: string, name: string): string {
  const shown = /^[A-Za-z_]{1,40}\d{0,2}$/.test(name) ? name : '?';
  return parent ? `${parent}.${shown}` : shown;
}

export function unknownField(path: string): ValidationIssue {
  return { path, rule: 'unknownField', message: 'is not a field of this message; leave it out' };
}

function copyValue(value: unknown, path: string, depth: number): unknown {
  if (typeof value === 'function') return [];
  if (typeof value !== 'object' || value === null) return value;
  const source = readable(path, () => unmasked(value));
  const names = readable(path, () => (Array.isArray(source) ? null : Object.keys(source)));
  if (names === null || depth > 1) return [];
  if (names.length > MAX_FIELDS) throw refusal(path, 'fieldCount', `must have at most ${MAX_FIELDS} fields`);
  const copy: Record<string, unknown> = {};
  for (const name of names) {
    const at = fieldPath(path, name);
    // class-transformer would drop these silently.
    if (name in Object.prototype || name === 'toJSON') throw new PaymentValidationError([unknownField(at)]);
    const field = readable(at, () => (source as Record<string, unknown>)[name]);
    if (field !== undefined) copy[name] = copyValue(field, at, depth + 1);
  }
  return copy;
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw refusal(path, 'readable', 'could not be read; pass a plain object');
  }
}

function refusal(path: string, rule: string, message: string): PaymentValidationError {
  return new PaymentValidationError([{ path: path || 'input', rule, message }]);
}
