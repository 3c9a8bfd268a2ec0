import { escapeHtml } from 'nestjs-card-payment';

/** HTML that is inserted without escaping. */
export class Html {
  constructor(readonly text: string) {}
}

export type HtmlValue = Html | string | number | boolean | null | undefined | readonly HtmlValue[];

/** Builds HTML. Values are escaped unless they are Html; null, undefined and booleans are left out. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(parts.reduce((text, part, index) => text + markup(values[index - 1]) + part));
}

function markup(value: HtmlValue): string {
  if (value === null || value === undefined || typeof value === 'boolean') return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(markup).join('');
  return escapeHtml(String(value));
}
