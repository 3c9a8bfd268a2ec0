type Json = string | boolean | null | Json[] | { [key: string]: Json };

/** Strings are matched whole, so that only the numbers are left; one without an end, to the end, so that it is read once. */
const STRING_OR_NUMBER = /("[^"\\]*(?:\\.[^"\\]*)*"?)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** No gateway answers with more. A mebibyte of small values would hold up the event loop while they are read. */
const MAX_VALUES = 30_000;

/**
 * The fields of a gateway's JSON object, found in any case. Numbers stay as they were written (`1.5000` is `1.5000`):
 * amounts are compared as decimal text, and a sign may be made over them.
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

  /** @returns null unless the text is one JSON object, of at most 30,000 values */
  static parse(text: string): ReplyFields | null {
    if (hasTooManyValues(text)) return null;
    try {
      const parsed: unknown = JSON.parse(text);
      // Most answers carry all they say as text: then they need not be read again with their numbers as text.
      const value = (holdsNumber(parsed) ? JSON.parse(withNumbersAsText(text)) : parsed) as Json;
      return isObject(value) ? new ReplyFields(value) : null;
    } catch {
      return null;
    }
  }

  /** Whether a field occurs twice, in different cases and with different values: then neither can be believed. */
  isAmbiguous(name: string): boolean {
    return this.ambiguous.has(name.toLowerCase());
  }

  /** A non-empty text (a number's own text), or null. */
  text(name: string): string | null {
    const value = this.fields.get(name.toLowerCase());
    return typeof value === 'string' && value !== '' && !this.isAmbiguous(name) ? value : null;
  }

  /** Whether the field is there with anything but null or an empty text, even if in one of its spellings only. */
  has(name: string): boolean {
    const value = this.fields.get(name.toLowerCase());
    return (value !== undefined && value !== null && value !== '') || this.isAmbiguous(name);
  }

  /** Whether the field is there, but cannot be read as one text: a list, an object, a boolean, or ambiguous. */
  isNoText(name: string): boolean {
    return this.has(name) && this.text(name) === null;
  }

  object(name: string): ReplyFields | null {
    const value = this.fields.get(name.toLowerCase());
    return isObject(value) && !this.isAmbiguous(name) ? new ReplyFields(value) : null;
  }

  /** Every text in the reply, at any depth, also of ambiguous fields. What is below `__proto__` does not count. */
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

/** Counts what every value but the first of a list or an object follows, and what lists and objects begin with. */
function hasTooManyValues(text: string): boolean {
  let count = 0;
  for (let index = 0; index < text.length && count <= MAX_VALUES; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfText(text, index + 1);
    else if (character === ',' || character === '[' || character === '{') count += 1;
  }
  return count > MAX_VALUES;
}

/** Where a text ends that begins at `start`: at a quote that is not escaped. */
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
