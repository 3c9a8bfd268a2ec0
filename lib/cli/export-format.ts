import { currencyLetters } from '../payment/amount.js';
import type { Payment } from '../payment/payment.js';
import type { Refund } from '../payment/refund.js';
import { escaped, withoutControls } from './layout.js';
import type { Zone } from './period.js';

/** The columns of an export. Amounts are decimal text in major units, and never negative by a refund: see `kind`. */
export const EXPORT_COLUMNS = [
  'finalizedAt',
  'kind',
  'method',
  'state',
  'reason',
  'conversationId',
  'refundId',
  'reference',
  'orderId',
  'paymentId',
  'bankUniqueReferenceNumber',
  'authCode',
  'amount',
  'chargedAmount',
  'currency',
  'currencyCode',
  'installmentCount',
  'commissionRate',
  'commissionAmount',
  'maskedCardNumber',
  'code',
  'transactionDate',
  'transactionAt',
  'createdAt',
  'account',
] as const;

type Column = (typeof EXPORT_COLUMNS)[number];

/** A settled payment or refund for accounting. */
export type ExportEntry = Readonly<Record<Column, string | number | null>>;

/** The columns that hold amounts and rates. */
const AMOUNTS: ReadonlySet<Column> = new Set(['amount', 'chargedAmount', 'commissionRate', 'commissionAmount']);

/** What only a payment shows. */
const NOT_OF_A_REFUND = {
  authCode: null,
  chargedAmount: null,
  installmentCount: null,
  commissionRate: null,
  commissionAmount: null,
};

/** @param sale the payment, or that of the refund; null if it is gone */
export function exportEntryOf(settled: Payment | Refund, sale: Payment | null, zone: Zone): ExportEntry {
  const isRefund = 'refundId' in settled;
  const time = (at: Date | null): string | null => at && zone.text(at);
  const all = {
    ...(isRefund ? { ...settled, ...NOT_OF_A_REFUND } : { ...settled, refundId: null }),
    kind: isRefund ? settled.kind : 'sale',
    method: sale?.kind ?? null,
    maskedCardNumber: sale?.maskedCardNumber ?? null,
    currency: currencyLetters(settled.currencyCode),
    finalizedAt: time(settled.finalizedAt),
    transactionAt: time(settled.transactionAt),
    createdAt: time(settled.createdAt),
  };
  return Object.fromEntries(EXPORT_COLUMNS.map((column) => [column, all[column]])) as ExportEntry;
}

/** How entries are written: what is before the first, each of them, and what is after the last. */
export interface ExportFormat {
  readonly head: string;
  entry(entry: ExportEntry, index: number): string;
  readonly tail: (count: number) => string;
}

/** What `--format` takes. */
export const EXPORT_FORMATS: Readonly<Record<string, ExportFormat>> = {
  csv: csvFormat(',', '.'),
  // As Excel in Turkish opens it: it splits lines at semicolons, and knows UTF-8 by the byte order mark.
  excel: csvFormat(';', ',', '\uFEFF'),
  // One array, with an entry on each line.
  json: {
    head: '[',
    entry: (entry, index) => `${index === 0 ? '' : ','}\n${escaped(JSON.stringify(entry))}`,
    tail: (count) => (count === 0 ? ']\n' : '\n]\n'),
  },
};

/** CSV by RFC 4180: a line of names, then a line for each entry, each ended by CR LF. */
function csvFormat(delimiter: string, decimal: '.' | ',', mark = ''): ExportFormat {
  const line = (cells: readonly string[]): string => `${cells.map(quoted).join(delimiter)}\r\n`;
  return {
    head: mark + line(EXPORT_COLUMNS),
    entry: (entry) => line(EXPORT_COLUMNS.map((column) => cellOf(column, entry[column], decimal))),
    tail: () => '',
  };
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;
/** What a spreadsheet runs as a formula, perhaps after blanks that it leaves out (OWASP: CSV injection). */
const FORMULA = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/;

function cellOf(column: Column, value: string | number | null, decimal: '.' | ','): string {
  if (value === null) return '';
  if (AMOUNTS.has(column) && NUMBER.test(String(value))) return String(value).replace('.', decimal);
  const text = withoutControls(String(value));
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Every delimiter that spreadsheets know ends a cell that is not quoted, whichever one was chosen. */
function quoted(cell: string): string {
  return /[",;]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
