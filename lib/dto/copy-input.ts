import { PaymentValidationError, type ValidationIssue } from '../errors/payment-validation.error.js';
import type { TextLanguage, Translations } from '../payment/text-language.js';
import { unmasked } from './masked-card.js';

/** Far more than any message has. */
const MAX_FIELDS = 64;

/** By the name of the rule. */
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
} as const satisfies Record<string, Translations>;

/**
 * A plain copy of an input, made once and field by field, so that whatever hides in it (getters, proxies, cycles,
 * arrays, functions, depth) is gone before it is validated. What no field can be becomes an empty array, which every
 * rule refuses. In place of the masked copy of a card comes the card.
 *
 * @throws PaymentValidationError when it is not an object, or cannot be read
 */
export function copyInput(input: unknown, language: TextLanguage = 'en'): object {
  const copy = copyValue(input, { path: '', depth: 0, language });
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) {
    throw refusal({ path: '', language }, 'isObject');
  }
  return copy;
}

/** Dotted. An unknown name may be data in the wrong place, so one that does not look like a name is not shown. */
export function fieldPath(parent: string, name: string): string {
  const shown = /^[A-Za-z_]{1,40}\d{0,2}$/.test(name) ? name : '?';
  return parent ? `${parent}.${shown}` : shown;
}

export function unknownField(path: string, language: TextLanguage): ValidationIssue {
  return { path, rule: 'unknownField', message: TEXTS.unknownField[language] };
}

/** What is being copied: where it stands in the input, how deep, and in which language a refusal speaks. */
interface Place {
  readonly path: string;
  readonly depth: number;
  readonly language: TextLanguage;
}

function copyValue(value: unknown, place: Place): unknown {
  if (typeof value === 'function') return [];
  if (typeof value !== 'object' || value === null) return value;
  const source = readable(place, () => unmasked(value));
  const names = readable(place, () => (Array.isArray(source) ? null : Object.keys(source)));
  if (names === null || place.depth > 1) return [];
  if (names.length > MAX_FIELDS) throw refusal(place, 'fieldCount');
  const copy: Record<string, unknown> = {};
  for (const name of names) {
    const at = { ...place, path: fieldPath(place.path, name), depth: place.depth + 1 };
    // class-transformer would drop these silently.
    if (name in Object.prototype || name === 'toJSON') {
      throw new PaymentValidationError([unknownField(at.path, at.language)], at.language);
    }
    const field = readable(at, () => (source as Record<string, unknown>)[name]);
    if (field !== undefined) copy[name] = copyValue(field, at);
  }
  return copy;
}

function readable<T>(place: Place, read: () => T): T {
  try {
    return read();
  } catch {
    throw refusal(place, 'readable');
  }
}

function refusal({ path, language }: Omit<Place, 'depth'>, rule: keyof typeof TEXTS): PaymentValidationError {
  return new PaymentValidationError([{ path: path || 'input', rule, message: TEXTS[rule][language] }], language);
}
