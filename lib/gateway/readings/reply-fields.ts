type Json = string | boolean | null | Json[] | { [key: string]: Json };

/** Matches strings whole, so that the digits in them are not taken for numbers. One without an end is matched once. */
const STRING_OR_NUMBER = /("[^"\\]*(?:\\.[^"\\]*)*"?)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** More than any gateway sends. Reading a mebibyte of small values would block the event loop. */
const MAX_VALUES = 30_000;

/**
 * The fields of a JSON object that a gateway answered with. Names are found in any case. Numbers are texts, as written
 * (`1.5000` stays `1.5000`): amounts are compared as decimal text, and may be among the values of a sign.
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
      // Most answers have no numbers, and need not be parsed again with numbers as texts.
      const value = (holdsNumber(parsed) ? JSON.parse(withNumbersAsText(text)) : parsed) as Json;
      return isObject(value) ? new ReplyFields(value) : null;
    } catch {
      return null;
    }
  }

  /** Whether the field occurs twice, in different cases and with different values, of which neither can be believed. */
  isAmbiguous(name: string): boolean {
    return this.ambiguous.has(name.toLowerCase());
  }

  /** The text of the field, or of the number in it; null where there is none, or an empty or ambiguous one. */
  text(name: string): string | null {
    const value = this.fields.get(name.toLowerCase());
    return typeof value === 'string' && value !== '' && !this.isAmbiguous(name) ? value : null;
  }

  /** Whether the field has a value other than null and the empty text, in any of its spellings. */
  has(name: string): boolean {
    const value = this.fields.get(name.toLowerCase());
    return (value !== undefined && value !== null && value !== '') || this.isAmbiguous(name);
  }

  /** Whether the field has a value that is not one text: a list, an object, a boolean, or an ambiguous one. */
  isNoText(name: string): boolean {
    return this.has(name) && this.text(name) === null;
  }

  /** The fields of the object in the field; null where there is none, or an ambiguous one. */
  object(name: string): ReplyFields | null {
    const value = this.fields.get(name.toLowerCase());
    return isObject(value) && !this.isAmbiguous(name) ? new ReplyFields(value) : null;
  }

  /** Every text in the object, at any depth, also of ambiguous fields; without what is below `__proto__`. */
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

/** Counts commas, and where lists and objects begin. That is one for each value, and a few more. */
function hasTooManyValues(text: string): boolean {
  let count = 0;
  for (let index = 0; index < text.length && count <= MAX_VALUES; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfText(text, index + 1);
    else if (character === ',' || character === '[' || character === '{') count += 1;
  }
  return count > MAX_VALUES;
}

/** The place of the quote that ends the text which begins at `start`: the first that is not escaped. */
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
