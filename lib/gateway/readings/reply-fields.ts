type Json = string | boolean | null | Json[] | { [key: string]: Json };

// Texts are matched as a whole, so that what stands in them does not count. An unterminated one is matched once.
const TEXT_OR_NUMBER = /("[^"\\]*(?:\\.[^"\\]*)*"?)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const TEXT_OR_NAME = /("[^"\\]*(?:\\.[^"\\]*)*"?)(\s*:)?/g;

/** More than any gateway sends. Reading a mebibyte of small values would block the event loop. */
const MAX_VALUES = 30_000;
const NONE: ReadonlySet<string> = new Set();

/**
 * The fields of a JSON object that a gateway answered with. The case of names is ignored. Numbers are kept as text, as
 * written (`1.5000` stays `1.5000`), because amounts are compared as decimal text and may be among the values that are
 * signed.
 */
export class ReplyFields {
  /** By their names in lower case; undefined for an ambiguous field. */
  private readonly fields = new Map<string, Json | undefined>();

  private constructor(
    private readonly root: { [key: string]: Json },
    private readonly repeated: ReadonlySet<string>,
  ) {
    for (const [key, value] of Object.entries(root)) {
      const name = key.toLowerCase();
      const isAmbiguous = repeated.has(key) || (this.fields.has(name) && this.fields.get(name) !== value);
      this.fields.set(name, isAmbiguous ? undefined : value);
    }
  }

  /** @returns null unless the text is one JSON object with at most 30,000 values */
  static parse(text: string): ReplyFields | null {
    const written = membersIn(text);
    if (written === null) return null;
    try {
      const parsed: unknown = JSON.parse(text);
      let members = 0;
      let hasNumber = false;
      for (const value of valuesIn(parsed)) {
        hasNumber ||= typeof value === 'number';
        if (isObject(value)) members += Object.keys(value).length;
      }
      // Most answers contain no numbers, so they need no second parse that keeps numbers as text.
      const root: unknown = hasNumber ? JSON.parse(withNumbersAsText(text)) : parsed;
      if (!isObject(root)) return null;
      return new ReplyFields(root, members === written ? NONE : repeatedNames(text, parsed));
    } catch {
      return null;
    }
  }

  /**
   * Whether the field occurs twice: with names that differ in case and different values, or with one name, of which
   * JSON keeps only the last value. No value can be believed.
   */
  isAmbiguous(name: string): boolean {
    return this.value(name) === undefined && this.fields.has(name.toLowerCase());
  }

  /** The field's text, or its number as text; null if it has neither, or is empty or ambiguous. */
  text(name: string): string | null {
    const value = this.value(name);
    return typeof value === 'string' && value !== '' ? value : null;
  }

  /** Whether the field, in any spelling of its name, has a value other than null and the empty text. */
  has(name: string): boolean {
    const value = this.value(name) ?? '';
    return value !== '' || this.isAmbiguous(name);
  }

  /** Whether the field has a value that is not a single text: a list, an object, a boolean, or an ambiguous value. */
  isNotText(name: string): boolean {
    return this.has(name) && this.text(name) === null;
  }

  /** The fields of the object that this field holds; null if it holds none or is ambiguous. */
  object(name: string): ReplyFields | null {
    return this.fieldsOf(this.value(name));
  }

  /** The field's boolean; null if it holds none or is ambiguous. */
  flag(name: string): boolean | null {
    const value = this.value(name);
    return typeof value === 'boolean' ? value : null;
  }

  /** The first items of the list in this field, null for each that is no object; null if it holds no list. */
  list(name: string, maxLength: number): (ReplyFields | null)[] | null {
    const value = this.value(name);
    return Array.isArray(value) ? value.slice(0, maxLength).map((item) => this.fieldsOf(item)) : null;
  }

  /** Every text in the object at any depth, including those of ambiguous fields, but nothing below `__proto__`. */
  *texts(): Generator<string> {
    for (const value of valuesIn(this.root, '__proto__')) if (typeof value === 'string') yield value;
  }

  private value(name: string): Json | undefined {
    return this.fields.get(name.toLowerCase());
  }

  private fieldsOf(value: Json | undefined): ReplyFields | null {
    return isObject(value) ? new ReplyFields(value, this.repeated) : null;
  }
}

/** A value, and every one in it, at whatever depth, but for what is below the name that is left out. */
function* valuesIn(root: unknown, leftOut?: string): Generator<unknown> {
  const left = [root];
  while (left.length > 0) {
    const value = left.pop();
    yield value;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, item] of Object.entries(value)) if (name !== leftOut) left.push(item);
  }
}

/** Names that stand more often in the text than in what was parsed, in which only the last of a name is left. */
function repeatedNames(text: string, parsed: unknown): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const add = (name: string, count: number): unknown => counts.set(name, (counts.get(name) ?? 0) + count);
  for (const [, name = '', colon] of text.matchAll(TEXT_OR_NAME)) {
    if (colon !== undefined) add(JSON.parse(name) as string, 1);
  }
  for (const value of valuesIn(parsed)) if (isObject(value)) for (const name in value) add(name, -1);
  return new Set([...counts].filter(([, count]) => count > 0).map(([name]) => name));
}

function withNumbersAsText(json: string): string {
  return json.replace(TEXT_OR_NUMBER, (match: string, text?: string) => text ?? `"${match}"`);
}

/**
 * How many members the objects in a JSON text have; null if there are too many values to read. Counts colons; and
 * commas and the starts of lists and objects, of which there are as many as values, or a few more.
 */
function membersIn(text: string): number | null {
  let values = 0;
  let members = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfText(text, index + 1);
    else if (character === ':') members += 1;
    else if (character === ',' || character === '[' || character === '{') values += 1;
    if (values > MAX_VALUES) return null;
  }
  return members;
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

function isObject(value: unknown): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
