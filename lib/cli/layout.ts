// eslint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A value on one line, with what would control a terminal or turn its text around as escapes: `\u001b`. */
export function escaped(text: string): string {
  return text.replace(CONTROL_CHARACTERS, escapeOf);
}

/** As {@link escaped}, but line ends stay: for texts of ours, and for JSON, whose values have no line ends. */
export function escapedLines(text: string): string {
  return text.split('\n').map(escaped).join('\n');
}

/** A text without what would control a terminal, for formats that know no escapes. */
export function withoutControls(text: string): string {
  return text.replace(CONTROL_CHARACTERS, '\uFFFD');
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

type Values = Readonly<Record<string, unknown>>;
type Columns = Readonly<Record<string, readonly string[]>>;

/**
 * Lays out data for people: a value a line, a table for a list. What is null is left out.
 *
 * @param columns the fields that are shown of a list's entries, by the list's name; by default all
 */
export function layOut(data: object, columns: Columns = {}): string {
  return linesOf(data as Values, columns).join('\n');
}

function linesOf(data: Values, columns: Columns): string[] {
  const entries = Object.entries(data).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(0, ...entries.filter(([, value]) => !isNested(value)).map(([name]) => name.length));
  return entries.flatMap(([name, value]) => {
    if (Array.isArray(value)) return [`${name}: ${value.length}`, ...tableOf(value as Values[], columns[name])];
    if (!isNested(value)) return [`${name.padEnd(width)}  ${shown(value)}`];
    const members = Object.entries(value);
    if (!members.every(([, member]) => isNested(member))) return [name, ...linesOf(value, columns).map(indented)];
    return [name, ...tableOf(members.map(([key, member]) => ({ [name]: key, ...(member as Values) })))];
  });
}

function tableOf(rows: readonly Values[], columns: readonly string[] = Object.keys(rows[0] ?? {})): string[] {
  if (rows.length === 0) return [];
  const cells = [columns, ...rows.map((row) => columns.map((column) => shown(row[column])))];
  const widths = columns.map((_column, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ');
  return cells.map((row) => indented(line(row).trimEnd()));
}

function isNested(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return escaped(value instanceof Date ? value.toISOString() : `${value as string | number | boolean}`);
}

function indented(line: string): string {
  return `  ${line}`;
}
