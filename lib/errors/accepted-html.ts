/** What browsers send has less than 200. */
const MAX_HEADER_LENGTH = 1_000;

/** How exactly a range of media types names JSON. */
const JSON_RANGES = ['*/*', 'application/*', 'application/json'];

/**
 * Whether a request would rather have a page than JSON: its `Accept` names `text/html`, as browsers' navigations and
 * forms do, and gives JSON no higher weight. `fetch`, axios and the like name no HTML.
 */
export function prefersHtml(accept: string | undefined): boolean {
  let html = 0;
  let json = { exactness: -1, weight: 0 };
  for (const range of (accept ?? '').slice(0, MAX_HEADER_LENGTH).toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = weightOf(parameters);
    if (type === 'text/html') html = Math.max(html, weight);
    const exactness = JSON_RANGES.indexOf(type);
    if (exactness > json.exactness) json = { exactness, weight };
  }
  return html > 0 && html >= json.weight;
}

/** 1 where it says none; 0 where it cannot be read. */
function weightOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  if (given === undefined) return 1;
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(given) ? Number(given.slice(2)) : 0;
}
