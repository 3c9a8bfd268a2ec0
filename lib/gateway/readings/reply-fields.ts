type Json = string | boolean | null | Json[] | { [key: string]: Json };

/**
 * Matches strings as a whole, so that digits in them do not count as numbers. An unterminated string is matched once.
 */
const STRING_OR_NUMBER = /("[^"\\]*(?:\\.[^"\\]*)*"?)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** More than any gateway sends. Reading a mebibyte of small values would block the event loop. */
const MAX_VALUES = 30_000;

/**
 * The fields of a JSON object that a gateway answered with. The case of names is ignored. Numbers are kept as text, as
 * written (`1.5000` stays `1.5000`), because amounts are compared as decimal text and may be among the values that are
 * signed.
 */
export class ReplyFields {
  private readonly fields = new Map<string, Json>();
  private readonly ambiguous = new Set<string>();

  private constructor(private readonly root: { [key: string]: Json }) {
    for (const [key, value] of Object.entries(root)) {
      const name = key.toLowerCase();
      if (this.fields.has(name) && this.fields.get(name) !== value) this.ambiguous.add(name);
      this.fields.set(name, value);
    }
  }

  /** @returns null unless the text is one JSON object with at most 30,000 values */
  static parse(text: string): ReplyFields | null {
    if (hasTooManyValues(text)) return null;
    try {
      const parsed: unknown = JSON.parse(text);
      // Most answers contain no numbers, so they need no second parse that keeps numbers as text.
      const value = (holdsNumber(parsed) ? JSON.parse(withNumbersAsText(text)) : parsed) as Json;
      return isObject(value) ? new ReplyFields(value) : null;
    } catch {
      return null;
    }
  }

  /**
   * Whether the field occurs twice, its names differing in case, with different values. Neither value can be believed.
   */
  isAmbiguous(name: string): boolean {
    return this.ambiguous.has(name.toLowerCase());
  }

  /** The field's text, or its number as text; null if it has neither, or is empty or ambiguous. */
  text(name: string): string | null {
    const value = this.value(name);
    return typeof value === 'string' && value !== '' ? value : null;
  }

  /** Whether the field, in any spelling of its name, has a value other than null and the empty text. */
  has(name: string): boolean {
    const value = this.value(name);
    return this.isAmbiguous(name) || (value !== undefined && value !== null && value !== '');
  }

  /** Whether the field has a value that is not a single text: a list, an object, a boolean, or an ambiguous value. */
  isNotText(name: string): boolean {
    return this.has(name) && this.text(name) === null;
  }

  /** The fields of the object that this field holds; null if it holds none or is ambiguous. */
  object(name: string): ReplyFields | null {
    const value = this.value(name);
    return isObject(value) ? new ReplyFields(value) : null;
  }

  /** The field's boolean; null if it holds none or is ambiguous. */
  flag(name: string): boolean | null {
    const value = this.value(name);
    return typeof value === 'boolean' ? value : null;
  }

  /** The first items of the list in this field, null for each that is no object; null if it holds no list. */
  list(name: string, maxLength: number): (ReplyFields | null)[] | null {
    const value = this.value(name);
    if (!Array.isArray(value)) return null;
    return value.slice(0, maxLength).map((item) => (isObject(item) ? new ReplyFields(item) : null));
  }

  /** Every text in the object at any depth, including those of ambiguous fields, but nothing below `__proto__`. */
  *texts(): Generator<string> {
    const left: Json[] = [this.root];
    while (left.length > 0) {
      const value = left.pop();
      if (typeof value === 'string') yield value;
      else if (Array.isArray(value)) for (const item of value) left.push(item);
      else if (isObject(value)) {
        for (const [name, item] of Object.entries(value)) if (name !== '__proto__') left.push(item);
      }
    }
  }

  /** The field's value; undefined if it has none, or two that differ. */
  private value(name: string): Json | undefined {
    return this.isAmbiguous(name) ? undefined : this.fields.get(name.toLowerCase());
  }
}

function holdsNumber(parsed: unknown): boolean {
  const left = [parsed];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'number') return true;
    if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) left.push(item);
  }
  return false;
}

function withNumbersAsText(json: string): string {
  return json.replace(STRING_OR_NUMBER, (match: string, string?: string) => string ?? `"${match}"`);
}

/** Counts commas and the starts of lists and objects: as many as there are values, or a few more. */
function hasTooManyValues(text: string): boolean {
  let count = 0;
  for (let index = 0; index < text.length && count <= MAX_VALUES; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfText(text, index + 1);
    else if (character === ',' || character === '[' || character === '{') count += 1;
  }
  return count > MAX_VALUES;
}

/** The index of the quote that ends the text begun at `start`: the first quote that is not escaped. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
