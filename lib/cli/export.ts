import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { currencyLetters } from '../payment/amount.js';
import type { Payment } from '../payment/payment.js';
import { factsOf, SALE_STATES, UNSETTLED_REFUND_STATES, UNSETTLED_SALE_STATES } from '../payment/states.js';
import type { Refund } from '../payment/refund.js';
import { type Call, CommandFailedError, type Outcome, type Run, UsageError } from './command.js';
import { escaped, withoutControls } from './layout.js';
import { type Account, withAccount } from './open-account.js';
import { isRefund, statesOf } from './payments.js';
import { periodOf, type Zone, type ZonedPeriod } from './period.js';

/** The states of payments that have an outcome. Those of refunds are among them. */
const SETTLED_STATES = SALE_STATES.filter((state) => factsOf(state).settled);
/** How much text is written at once. */
const CHUNK_LENGTH = 65_536;
/** What is settled at the end of a period may be written a little later. */
const WRITING_MS = 60_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** Writes what was settled in a period, to a file or to standard output. */
export const exportSettled: Run = (call) => {
  const { format: name = 'csv', output } = call.options;
  const period = periodOf(call.options);
  const format = Object.hasOwn(EXPORT_FORMATS, name) ? EXPORT_FORMATS[name] : undefined;
  if (!format) throw new UsageError('--format takes csv, excel or json.');
  const states = statesOf(call, SETTLED_STATES) ?? ['succeeded'];
  const writing = { period, format, states };
  return withAccount(call, async (opened) => {
    if (period.to.getTime() > opened.clock.now().getTime() - WRITING_MS) {
      throw new UsageError(
        '--to: the period must have ended at least a minute ago, or more may still be settled in it.',
      );
    }
    return output === undefined
      ? written(opened, writing, (text) => toStandardOutput(text, call))
      : toFile(opened, writing, output);
  });
};

interface Writing {
  readonly period: ZonedPeriod;
  readonly format: ExportFormat;
  readonly states: readonly string[];
}

/**
 * Writes a file that only its owner can read. It appears when it is whole, in place of the one that was there: until
 * then, that one stays. The first signal leaves none behind; the second ends the process at once.
 *
 * @throws UsageError if the path is of something else than a file, CommandFailedError if it cannot be written
 */
async function toFile(opened: Account, writing: Writing, path: string): Promise<Outcome> {
  // A link would be replaced, or lead to a file that others read.
  const there = await lstat(path).catch(() => null);
  if (path === '' || (there && !there.isFile())) {
    throw new UsageError(`--output takes the path of a file${there ? `, and ${path} is something else` : ''}.`);
  }
  const orFail = <T>(work: Promise<T>): Promise<T> =>
    work.catch(() => {
      const question = 'is there such a folder, with room in it, for this user?';
      throw new CommandFailedError(`${path} cannot be written; ${question}`);
    });
  let stoppedBy: string | null = null;
  const stop = (name: NodeJS.Signals): void => void (stoppedBy = name);
  for (const name of SIGNALS) process.once(name, stop);
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  let file: FileHandle | null = null;
  try {
    const begun = (file = await orFail(open(temporary, NEW_FILE, 0o600)));
    const outcome = await written(opened, writing, async (text) => {
      if (stoppedBy !== null) throw new CommandFailedError(`Stopped by ${stoppedBy}: ${path} was not written.`);
      await orFail(begun.writeFile(text));
      return true;
    });
    await orFail(begun.sync());
    await orFail(begun.close());
    await orFail(rename(temporary, path));
    return outcome;
  } finally {
    for (const name of SIGNALS) process.removeListener(name, stop);
    // Nothing is there to close or remove once the file has its name.
    await file?.close().catch(() => undefined);
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/** @returns false when nobody reads any more */
async function toStandardOutput(text: string, { terminal }: Call): Promise<boolean> {
  const shown = await terminal.print(text, 'stdout');
  if (shown === 'failed') throw new CommandFailedError('Standard output cannot be written; is the disk full?');
  return shown === 'shown';
}

/** @param write false when nobody reads any more, which ends it quietly */
async function written(
  opened: Account,
  { period, format, states }: Writing,
  write: (text: string) => Promise<boolean>,
): Promise<Outcome> {
  const { operations } = opened;
  const counts = { sales: 0, refunds: 0 };
  let text = format.head;
  for await (const settled of operations.settled(period)) {
    if (!states.includes(settled.state)) continue;
    const sale = isRefund(settled) ? await operations.find(settled.conversationId) : settled;
    const entry = exportEntryOf(settled, sale && !isRefund(sale) ? sale : null, period.zone);
    text += format.entry(entry, counts.sales + counts.refunds);
    counts[isRefund(settled) ? 'refunds' : 'sales'] += 1;
    if (text.length < CHUNK_LENGTH) continue;
    if (!(await write(text))) return {};
    text = '';
  }
  if (!(await write(text + format.tail(counts.sales + counts.refunds)))) return {};
  const span = `settled from ${period.zone.text(period.from)} until ${period.zone.text(period.to)}`;
  return { remark: `${counted(counts)} in ${states.join(', ')}, ${span}.${await unsettledRemark(opened)}` };
}

/** What may still come: payments and refunds that may have moved money, and have no outcome. */
async function unsettledRemark({ operations }: Account): Promise<string> {
  const counts = await operations.counts();
  const open = UNSETTLED_SALE_STATES.filter((state) => factsOf(state).money !== 'no');
  const sales = open.reduce((sum, state) => sum + counts.states[state].count, 0);
  const refunds = UNSETTLED_REFUND_STATES.reduce((sum, state) => sum + counts.refunds[state].count, 0);
  if (sales + refunds === 0) return '';
  const lists = '"payments list" and "payments refunds"';
  return `\nNot among them, since they have no outcome yet: ${counted({ sales, refunds })} (${lists}).`;
}

function counted({ sales, refunds }: { readonly sales: number; readonly refunds: number }): string {
  return (
    `${sales} ${sales === 1 ? 'payment' : 'payments'} and ` +
    `${refunds} ${refunds === 1 ? 'refund or void' : 'refunds and voids'}`
  );
}

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
type ExportEntry = Readonly<Record<Column, string | number | null>>;

/** The columns that hold amounts and rates. */
const AMOUNTS: ReadonlySet<Column> = new Set(['amount', 'chargedAmount', 'commissionRate', 'commissionAmount']);

/** @param sale the payment, or that of the refund; null if it is gone */
function exportEntryOf(settled: Payment | Refund, sale: Payment | null, zone: Zone): ExportEntry {
  const time = (at: Date | null): string | null => at && zone.text(at);
  const all: Partial<ExportEntry> = {
    ...settled,
    kind: isRefund(settled) ? settled.kind : 'sale',
    method: sale?.kind ?? null,
    maskedCardNumber: sale?.maskedCardNumber ?? null,
    currency: currencyLetters(settled.currencyCode),
    finalizedAt: time(settled.finalizedAt),
    transactionAt: time(settled.transactionAt),
    createdAt: time(settled.createdAt),
  };
  // A refund has not all of them: no installmentCount, no commission.
  return Object.fromEntries(EXPORT_COLUMNS.map((column) => [column, all[column] ?? null])) as ExportEntry;
}

/** How entries are written: what is before the first, each of them, and what is after the last. */
interface ExportFormat {
  readonly head: string;
  entry(entry: ExportEntry, index: number): string;
  readonly tail: (count: number) => string;
}

/** What `--format` takes. */
const EXPORT_FORMATS: Readonly<Record<string, ExportFormat>> = {
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
