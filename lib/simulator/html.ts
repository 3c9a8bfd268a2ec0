/** HTML that goes into a page as it is. */
export class Html {
  constructor(readonly text: string) {}
}

/** Builds HTML: every value that is not Html itself is escaped; null becomes nothing. */
export function html(parts: TemplateStringsArray, ...values: (string | number | Html | Html[] | null)[]): Html {
  return new Html(parts.reduce((text, part, index) => text + markup(values[index - 1] ?? null) + part));
}

function markup(value: string | number | Html | Html[] | null): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map((item) => item.text).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
