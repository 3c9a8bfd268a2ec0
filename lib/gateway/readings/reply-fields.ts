type Json = string | boolean | null | Json[] | { [key: string]: Json };

/** Not where a name should be: there, JSON has no number. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\s*:)/y;
/** More than any gateway sends. Reading a mebibyte of small values would block the event loop. */
const MAX_VALUES = 30_000;

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
    try {
      const { json, repeated } = numbersAsText(text);
      const root: unknown = JSON.parse(json);
      return isObject(root) ? new ReplyFields(root, repeated) : null;
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

  /** The items of the list in this field, null for each that is no object; null if it holds no list. */
  list(name: string): (ReplyFields | null)[] | null {
    const value = this.value(name);
    return Array.isArray(value) ? value.map((item) => this.fieldsOf(item)) : null;
  }

  /** Every text in the object at any depth, including those of ambiguous fields, but nothing below `__proto__`. */
  *texts(): Generator<string> {
    const left: Json[] = [this.root];
    while (left.length > 0) {
      const value = left.pop()!;
      if (typeof value === 'string') yield value;
      if (typeof value !== 'object' || value === null) continue;
      for (const [name, item] of Object.entries(value)) if (name !== '__proto__') left.push(item);
    }
  }

  private value(name: string): Json | undefined {
    return this.fields.get(name.toLowerCase());
  }

  private fieldsOf(value: Json | undefined): ReplyFields | null {
    return isObject(value) ? new ReplyFields(value, this.repeated) : null;
  }
}

/**
 * A JSON text with its numbers as texts; and the names that stand twice in one object, of which JSON keeps only the
 * last value.
 *
 * @throws Error for what is no JSON; and for too many values, counted by commas, lists and objects
 */
function numbersAsText(text: string): { readonly json: string; readonly repeated: ReadonlySet<string> } {
  const repeated = new Set<string>();
  const objects: Set<string>[] = [];
  let [values, json, copied, written] = [0, '', 0, ''];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '"') {
      const end = endOfText(text, at + 1);
      written = text.slice(at, end + 1);
      at = end;
    } else if (character === ':') {
      if (written === '') throw new SyntaxError('no name');
      const name = written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
      written = '';
      const names = objects.at(-1);
      if (names?.has(name)) repeated.add(name);
      names?.add(name);
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = at;
      if (!NUMBER.test(text)) throw new SyntaxError('no number');
      json += `${text.slice(copied, at)}"${text.slice(at, NUMBER.lastIndex)}"`;
      copied = NUMBER.lastIndex;
      at = copied - 1;
    } else if (character === '}') objects.pop();
    else if (character === '{') objects.push(new Set());
    if (character === ',' || character === '[' || character === '{') values += 1;
    if (values > MAX_VALUES) throw new Error('too many values');
  }
  return { json: json + text.slice(copied), repeated };
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
