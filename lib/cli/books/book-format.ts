import { AMOUNT_COLUMNS, BOOK_COLUMNS, type BookColumn, type BookEntry } from './book-entry.js';

/** How entries are written: what is before the first, each of them, and what is after the last. */
export interface BookFormat {
  readonly head: string;
  entry(entry: BookEntry, index: number): string;
  readonly tail: (count: number) => string;
}

/** One array, with an entry on each line. */
export const JSON_FORMAT: BookFormat = {
  head: '[',
  entry: (entry, index) => `${index === 0 ? '' : ','}\n${JSON.stringify(entry)}`,
  tail: (count) => (count === 0 ? ']\n' : '\n]\n'),
};

export interface CsvOptions {
  readonly delimiter: string;
  readonly decimal: '.' | ',';
  /** Whether the file begins with a byte order mark, by which Excel knows UTF-8. */
  readonly hasMark: boolean;
}

/** CSV by RFC 4180: a line of names, then a line for each entry, each ended by CR LF. */
export function csvFormat({ delimiter, decimal, hasMark }: CsvOptions): BookFormat {
  const line = (cells: readonly string[]): string =>
    `${cells.map((cell) => quoted(cell, delimiter)).join(delimiter)}\r\n`;
  return {
    head: (hasMark ? '\uFEFF' : '') + line(BOOK_COLUMNS),
    entry: (entry) => line(BOOK_COLUMNS.map((column) => cellOf(column, entry[column], decimal))),
    tail: () => '',
  };
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;
/** What a spreadsheet runs as a formula, perhaps after blanks that it leaves out (OWASP: CSV injection). */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/;

function cellOf(column: BookColumn, value: string | number | null, decimal: '.' | ','): string {
  if (value === null) return '';
  const text = String(value);
  if (AMOUNT_COLUMNS.has(column) && NUMBER.test(text)) return text.replace('.', decimal);
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Every delimiter that spreadsheets know ends a cell that is not quoted, whichever one was chosen. */
function quoted(cell: string, delimiter: string): string {
  return /["\r\n,;\t]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
