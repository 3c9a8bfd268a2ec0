import { rowOf, SALE_STATES, UNSETTLED_REFUND_STATES, UNSETTLED_SALE_STATES } from '../payment/states.js';
import { type Call, CommandFailedError, type Outcome, type Run, UsageError } from './command.js';
import { EXPORT_FORMATS, type ExportFormat, exportEntryOf } from './export-format.js';
import { type Account, withAccount } from './open-account.js';
import { isRefund, statesOf } from './payments.js';
import { periodOf, type ZonedPeriod } from './period.js';
import { WholeFile } from './whole-file.js';

/** The states of payments that have an outcome. Those of refunds are among them. */
const SETTLED_STATES = SALE_STATES.filter((state) => rowOf(state).settled);
/** How much text is written at once. */
const CHUNK_LENGTH = 65_536;
/** What is settled at the end of a period may be written a little later. */
const WRITING_MS = 60_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

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

/** The file appears once it is whole. The first signal leaves none behind; the second ends the process at once. */
async function toFile(opened: Account, writing: Writing, path: string): Promise<Outcome> {
  let stoppedBy: string | null = null;
  const stop = (name: NodeJS.Signals): void => void (stoppedBy = name);
  for (const name of SIGNALS) process.once(name, stop);
  let file: WholeFile | null = null;
  try {
    const begun = (file = await WholeFile.begin(path));
    const outcome = await written(opened, writing, async (text) => {
      if (stoppedBy !== null) throw new CommandFailedError(`Stopped by ${stoppedBy}: ${path} was not written.`);
      await begun.write(text);
      return true;
    });
    await begun.finish();
    return outcome;
  } finally {
    for (const name of SIGNALS) process.removeListener(name, stop);
    await file?.discard();
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
  const open = UNSETTLED_SALE_STATES.filter((state) => rowOf(state).money !== 'no');
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
