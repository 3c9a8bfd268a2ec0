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
  const once = new Map(evidence.map((item) => [item.text, item]));
  return [...once.values()].flatMap(({ source, text }) =>
    Object.entries(VIEWS).flatMap(([view, undo]) => {
      const seen = undo(text);
      if (view !== 'plain' && seen === text) return [];
      const lower = seen.toLowerCase();
      return secrets.flatMap((secret) =>
        formsOf(secret).flatMap(({ form, pattern, ignoreCase }) => {
          const at = typeof pattern === 'string' ? (ignoreCase ? lower : seen).indexOf(pattern) : seen.search(pattern);
          if (at === -1) return [];
          const excerpt = seen.slice(Math.max(0, at - 60), at + 80);
          return [{ secret: secret.name, form: view === 'plain' ? form : `${form}, ${view}`, source, excerpt }];
        }),
      );
    }),
  );
}

interface Form {
  readonly form: string;
  readonly pattern: string | RegExp;
  readonly ignoreCase?: boolean;
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
    isNumber ? { form: 'plain', pattern: new RegExp([...text].join('[ .-]?')) } : { form: 'plain', pattern: text },
    ...encodedForms(bytes),
  ];
}

/** Alone, or as the value of a field that is encoded. */
function shortForms(text: string): Form[] {
  const parts = text.length === 4 ? `${text.slice(0, 2)}[/-]?(?:20)?${text.slice(2)}` : text;
  const fields = ['cvv', 'expDate'].map((name) => Buffer.from(`"${name}":"${text}"`));
  return [
    { form: 'plain', pattern: new RegExp(`(?<![\\w.+/-])${parts}(?![\\w+/-])`) },
    ...fields.flatMap(encodedForms),
  ];
}

function encodedForms(bytes: Buffer): Form[] {
  if (bytes.length < SHORTEST_ENCODED) return [];
  const hex = bytes.toString('hex');
  return [
    ...base64Forms(bytes),
    { form: 'hex', pattern: hex, ignoreCase: true },
    { form: 'printed buffer', pattern: (hex.match(/../g) ?? []).join(' '), ignoreCase: true },
    { form: 'list of bytes', pattern: new RegExp([...bytes].join('[,\\s]+')) },
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
    return [...new Set([core, url])].map((pattern) => ({ form: `Base64, alignment ${shift}`, pattern }));
  });
}

function fromCode(hex: string): string {
  return String.fromCodePoint(parseInt(hex, 16));
}
