/** A text that must be found nowhere. */
export interface Secret {
  readonly name: string;
  readonly text: string;
  /** Short secrets (security code, expiry) also occur by chance inside other numbers: they count only as a separate token. */
  readonly isShort?: boolean;
}

/** Something that was written, shown or kept. */
export interface Evidence {
  readonly source: string;
  readonly text: string;
}

export interface Leak {
  readonly secret: string;
  readonly form: string;
  readonly source: string;
  /** The text around it. */
  readonly excerpt: string;
}

/** The search undoes escapes first, and so finds a secret however much of it is escaped. */
const VIEWS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'JSON escapes': (text) => text.replace(/\\u([0-9a-f]{4})/gi, (_match, code: string) => fromCode(code)),
  'URL escapes': (text) => text.replace(/%([0-9a-f]{2})/gi, (_match, code: string) => fromCode(code)),
  'HTML escapes': (text) =>
    text.replace(/&#x([0-9a-f]+);|&#(\d+);/gi, (_match, hex?: string, decimal?: string) =>
      hex ? fromCode(hex) : String.fromCodePoint(Number(decimal)),
    ),
};

const SHORTEST_ENCODED = 6;

export function searchFor(secrets: readonly Secret[], evidence: readonly Evidence[]): Leak[] {
  const search = new FormSearch(secrets.flatMap((secret) => formsOf(secret).map((form) => ({ secret, form }))));
  const once = new Map(evidence.map((item) => [item.text, item]));
  return [...once.values()].flatMap(({ source, text }) =>
    Object.entries(VIEWS).flatMap(([view, undo]) => {
      const seen = undo(text);
      if (view !== 'plain' && seen === text) return [];
      return search.in(seen).map(({ sought: { secret, form }, excerpt }) => ({
        secret: secret.name,
        form: view === 'plain' ? form.form : `${form.form}, ${view}`,
        source,
        excerpt,
      }));
    }),
  );
}

/** How a text is read before a form is searched for in it. */
const READINGS = {
  exact: (text: string) => text,
  lower: (text: string) => text.toLowerCase(),
  list: (text: string) => text.replace(/[,\s]+/g, ','),
} as const;

interface Form {
  readonly form: string;
  readonly pattern: string | RegExp;
  readonly reading: keyof typeof READINGS;
}

interface Sought {
  readonly secret: Secret;
  readonly form: Form;
}

interface Found {
  readonly sought: Sought;
  readonly excerpt: string;
}

/** Thousands of forms are sought in megabytes: texts in one go, by their beginnings; expressions one by one. */
class FormSearch {
  private readonly searches: readonly (readonly [keyof typeof READINGS, TextSearch])[];
  private readonly expressions: readonly Sought[];

  constructor(private readonly all: readonly Sought[]) {
    this.expressions = all.filter(({ form }) => typeof form.pattern !== 'string');
    this.searches = (['exact', 'lower', 'list'] as const).map((reading) => {
      const own = all.filter(({ form }) => typeof form.pattern === 'string' && form.reading === reading);
      return [reading, new TextSearch([...new Set(own.map(({ form }) => form.pattern as string))])];
    });
  }

  in(text: string): Found[] {
    const excerpts = new Map<Sought, string>();
    for (const sought of this.expressions) {
      const at = text.search(sought.form.pattern);
      if (at !== -1) excerpts.set(sought, excerptOf(text, at));
    }
    for (const [reading, search] of this.searches) {
      const read = READINGS[reading](text);
      const places = search.in(read);
      if (places.size === 0) continue;
      for (const sought of this.all) {
        const at = sought.form.reading === reading ? places.get(sought.form.pattern as string) : undefined;
        if (at !== undefined) excerpts.set(sought, excerptOf(read, at));
      }
    }
    return [...excerpts].map(([sought, excerpt]) => ({ sought, excerpt }));
  }
}

function excerptOf(text: string, at: number): string {
  return text.slice(Math.max(0, at - 60), at + 80);
}

// In the context of a test, each look at a global name takes many times as long as the rest of a step of the loop.
const { imul } = Math;
const BEGINNING = 6;
const FACTOR = 0x01000193;
/** Of the character that leaves the window of the running sum. */
const LEAVING = Array.from({ length: BEGINNING - 1 }).reduce<number>((product) => imul(product, FACTOR), 1);
const SLOTS = 2 ** 20;

/** Searches for many patterns in one pass over a text (Rabin and Karp), whose time hardly depends on their number. */
class TextSearch {
  /** Whether some pattern begins with characters of that sum. */
  private readonly slots = new Uint8Array(SLOTS);
  private readonly byBeginning = new Map<string, string[]>();
  /** Too short to have a beginning. */
  private readonly short: readonly string[];

  constructor(patterns: readonly string[]) {
    this.short = patterns.filter(({ length }) => length < BEGINNING);
    for (const pattern of patterns.filter(({ length }) => length >= BEGINNING)) {
      const beginning = pattern.slice(0, BEGINNING);
      let sum = 0;
      for (let at = 0; at < BEGINNING; at += 1) sum = (imul(sum, FACTOR) + beginning.charCodeAt(at)) | 0;
      this.slots[slotOf(sum)] = 1;
      this.byBeginning.set(beginning, [...(this.byBeginning.get(beginning) ?? []), pattern]);
    }
  }

  /** Where each of the patterns that are in the text begins first. */
  in(text: string): Map<string, number> {
    const places = new Map<string, number>();
    for (const pattern of this.short) {
      const at = text.indexOf(pattern);
      if (at !== -1) places.set(pattern, at);
    }
    if (this.byBeginning.size === 0) return places;
    let sum = 0;
    for (let end = 0; end < text.length; end += 1) {
      const at = end - BEGINNING + 1;
      if (at > 0) sum = (sum - imul(text.charCodeAt(at - 1), LEAVING)) | 0;
      sum = (imul(sum, FACTOR) + text.charCodeAt(end)) | 0;
      if (at < 0 || this.slots[slotOf(sum)] === 0) continue;
      for (const pattern of this.byBeginning.get(text.slice(at, end + 1)) ?? []) {
        if (!places.has(pattern) && text.startsWith(pattern, at)) places.set(pattern, at);
      }
    }
    return places;
  }
}

function slotOf(sum: number): number {
  return (sum ^ (sum >>> 15)) & (SLOTS - 1);
}

const forms = new Map<string, Form[]>();

function formsOf({ text, isShort }: Secret): Form[] {
  const known = forms.get(text);
  if (known) return known;
  const made = isShort ? shortForms(text) : longForms(text);
  forms.set(text, made);
  return made;
}

function longForms(text: string): Form[] {
  const bytes = Buffer.from(text);
  const isNumber = /^\d+$/.test(text);
  return [
    { form: 'plain', pattern: isNumber ? new RegExp([...text].join('[ .-]?')) : text, reading: 'exact' },
    ...encodedForms(bytes),
  ];
}

/** Alone, or as the value of a field that is encoded. */
function shortForms(text: string): Form[] {
  const parts = text.length === 4 ? `${text.slice(0, 2)}[/-]?(?:20)?${text.slice(2)}` : text;
  const fields = ['cvv', 'expDate'].map((name) => Buffer.from(`"${name}":"${text}"`));
  return [
    { form: 'plain', pattern: new RegExp(`(?<![\\w.+/-])${parts}(?![\\w+/-])`), reading: 'exact' },
    ...fields.flatMap(encodedForms),
  ];
}

function encodedForms(bytes: Buffer): Form[] {
  if (bytes.length < SHORTEST_ENCODED) return [];
  const hex = bytes.toString('hex');
  return [
    ...base64Forms(bytes),
    { form: 'hex', pattern: hex, reading: 'lower' },
    { form: 'printed buffer', pattern: (hex.match(/../g) ?? []).join(' '), reading: 'lower' },
    { form: 'list of bytes', pattern: [...bytes].join(','), reading: 'list' },
  ];
}

/** Base64 has three forms of a text, one for each alignment; digits that it shares with its neighbours are left off. */
function base64Forms(bytes: Buffer): Form[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const first = Math.ceil((shift * 8) / 6);
    const last = Math.floor(((shift + bytes.length) * 8) / 6);
    const core = text.slice(first, last);
    const url = core.replace(/\+/g, '-').replace(/\//g, '_');
    return [...new Set([core, url])].map((pattern) => ({
      form: `Base64, alignment ${shift}`,
      pattern,
      reading: 'exact' as const,
    }));
  });
}

function fromCode(hex: string): string {
  return String.fromCodePoint(parseInt(hex, 16));
}
