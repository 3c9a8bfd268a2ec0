import { AMOUNT_COLUMNS, BOOK_COLUMNS, type BookColumn, type BookEntry } from './book-entry.js';

/** How entries are written: what is before the first, each of them, and what is after the last. */
export interface BookFormat {
  readonly head: string;
  entry(entry: BookEntry, index: number): string;
  readonly tail: (count: number) => string;
}

/** What `--format` takes. */
export const BOOK_FORMATS: Readonly<Record<string, BookFormat>> = {
  csv: csvFormat(',', '.'),
  // As Excel in Turkish opens it: it splits lines at semicolons, and knows UTF-8 by the byte order mark.
  excel: csvFormat(';', ',', '\uFEFF'),
  // One array, with an entry on each line.
  json: {
    head: '[',
    entry: (entry, index) => `${index === 0 ? '' : ','}\n${JSON.stringify(entry)}`,
    tail: (count) => (count === 0 ? ']\n' : '\n]\n'),
  },
};

/** CSV by RFC 4180: a line of names, then a line for each entry, each ended by CR LF. */
function csvFormat(delimiter: string, decimal: '.' | ',', mark = ''): BookFormat {
  const line = (cells: readonly string[]): string => `${cells.map(quoted).join(delimiter)}\r\n`;
  return {
    head: mark + line(BOOK_COLUMNS),
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
function quoted(cell: string): string {
  return /["\r\n,;\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
