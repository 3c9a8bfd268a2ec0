type Json = string | boolean | null | Json[] | { [key: string]: Json };

/** Not where a name should be: there, JSON has no number. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\s*:)/y;
const NONE: ReadonlySet<string> = new Set();
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
      const { json, names, isRepeated } = numbersAsText(text);
      const root: unknown = JSON.parse(json);
      return isObject(root) ? new ReplyFields(root, isRepeated ? lostNames(names, root) : NONE) : null;
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
function* valuesIn(root: Json, leftOut?: string): Generator<Json> {
  const left = [root];
  while (left.length > 0) {
    const value = left.pop()!;
    yield value;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, item] of Object.entries(value)) if (name !== leftOut) left.push(item);
  }
}

/** Names that stand more often in the text than in what was parsed, in which only the last of a name is left. */
function lostNames(names: readonly string[], root: Json): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const add = (name: string, count: number): unknown => counts.set(name, (counts.get(name) ?? 0) + count);
  for (const name of names) add(name, 1);
  for (const value of valuesIn(root)) if (isObject(value)) for (const name of Object.keys(value)) add(name, -1);
  return new Set([...counts].filter(([, count]) => count > 0).map(([name]) => name));
}

/**
 * A JSON text with its numbers as texts, the names in it, and whether one stands twice in an object: then JSON keeps
 * only its last value.
 *
 * @throws Error for what is no JSON; and for too many values, counted by commas, lists and objects
 */
function numbersAsText(text: string) {
  const names: string[] = [];
  let isRepeated = false;
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
      const inObject = objects.at(-1);
      isRepeated ||= inObject?.has(name) === true;
      inObject?.add(name);
      names.push(name);
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
  return { json: json + text.slice(copied), names, isRepeated };
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
