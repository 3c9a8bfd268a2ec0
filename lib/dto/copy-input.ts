import { PaymentValidationError, type ValidationProblem } from '../errors/payment-validation.error.js';
import type { Translations } from '../runtime/text-language.js';

/** Far more fields than any message has. */
export const MAX_FIELDS = 64;

/** The messages, by the name of the rule. */
const TEXTS = {
  isObject: {
    en: 'must be an object with the fields of the payment',
    tr: 'ödemenin alanlarını içeren bir nesne olmalı',
  },
  unknownField: {
    en: 'is not a field of this message; leave it out',
    tr: 'bu mesajın bir alanı değil; göndermeyin',
  },
  fieldCount: { en: `must have at most ${MAX_FIELDS} fields`, tr: `en çok ${MAX_FIELDS} alan içermeli` },
  readable: { en: 'could not be read; pass a plain object', tr: 'okunamadı; düz bir nesne verin' },
  givenOnce: { en: '$property must be given once', tr: '$property bir kez verilmeli' },
} as const satisfies Record<string, Translations>;

/**
 * Copies an input field by field into plain objects, so that what is validated has no getters, proxies, cycles, arrays
 * or functions and is not deeply nested. A value that no field can have becomes an empty array, which every rule
 * refuses.
 *
 * @throws PaymentValidationError if the input is not an object or cannot be read
 */
export function copyInput(input: unknown): object {
  const copy = new InputCopier().copy(input, '', 0);
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) throw refusal('', 'isObject');
  return copy;
}

/**
 * The dotted path of a field. A key that does not look like a field name may be data in the wrong place, so it is not
 * shown.
 */
export function fieldPath(parent: string, name: string): string {
  const shown = /^[A-Za-z_]{1,40}\d{0,2}$/.test(name) ? name : '?';
  return parent ? `${parent}.${shown}` : shown;
}

export function unknownField(path: string): ValidationProblem {
  return { path, rule: 'unknownField', message: TEXTS.unknownField };
}

class InputCopier {
  copy(value: unknown, path: string, depth: number): unknown {
    if (typeof value === 'function') return [];
    if (typeof value !== 'object' || value === null) return value;
    const names = this.read(path, () => (Array.isArray(value) ? null : Object.keys(value)));
    if (names === null || depth > 1) return [];
    if (names.length > MAX_FIELDS) throw refusal(path, 'fieldCount');
    const copy: Record<string, unknown> = {};
    for (const name of names) {
      const at = fieldPath(path, name);
      // class-transformer would drop these fields silently.
      if (name in Object.prototype || name === 'toJSON') {
        throw new PaymentValidationError([unknownField(at)]);
      }
      const field = this.read(at, () => (value as Record<string, unknown>)[name]);
      const copied = this.copy(field, at, depth + 1);
      if (copied !== undefined) copy[name] = copied;
    }
    return copy;
  }

  /** Runs code of the input: a getter, or a trap of a proxy. */
  private read<T>(path: string, read: () => T): T {
    try {
      return read();
    } catch {
      throw refusal(path, 'readable');
    }
  }
}

function refusal(path: string, rule: keyof typeof TEXTS): PaymentValidationError {
  return new PaymentValidationError([inputProblem(path, rule)]);
}

/** A problem with the input as a whole, for which no field has a rule. */
export function inputProblem(path: string, rule: keyof typeof TEXTS): ValidationProblem {
  return { path: path || 'input', rule, message: TEXTS[rule] };
}
