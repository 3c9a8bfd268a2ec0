/** HTML that is inserted without escaping. */
export class Html {
  constructor(readonly text: string) {}
}

/** What a page may hold: a text, which is escaped, or HTML. Null, undefined and booleans are left out. */
export type HtmlValue = Html | string | number | boolean | null | undefined | readonly HtmlValue[];

/** Builds HTML: every value but Html is escaped. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.reduce((text, part, index) => text + markup(values[index - 1]) + part));
}

function markup(value: HtmlValue): string {
  if (value === null || value === undefined || typeof value === 'boolean') return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(markup).join('');
  return escapeHtml(String(value));
}

/** Escapes text for HTML, including attributes in quotes of either kind. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
