import { settledRecords } from '../../operations/staff.js';
import { rowOf, SALE_STATES, UNSETTLED_REFUND_STATES, UNSETTLED_SALE_STATES } from '../../payment/states.js';
import { isRefund } from '../../payment/payment.js';
import { command, CommandFailedError, STORE_OPTIONS, UsageError } from '../command.js';
import { type AccountStore, withAccountStore } from '../payments/account-store.js';
import { counted } from '../payments/payment-text.js';
import { STATE_OPTION, statesIn } from '../payments/state-option.js';
import { bookEntryOf } from './book-entry.js';
import { BOOK_FORMATS, type BookFormat } from './book-format.js';
import { PERIOD_NOTES, PERIOD_OPTIONS, periodOf, type ZonedPeriod } from './period.js';
import { stopped, untilStopped } from './until-stopped.js';
import { WholeFile } from './whole-file.js';

/** The states of payments that have an outcome. Those of refunds are among them. */
const SETTLED_STATES = SALE_STATES.filter((state) => rowOf(state).settled);
/** How much text is written at once. */
const CHUNK_LENGTH = 65_536;

const { json: _onlyFormat, ...SOURCE_OPTIONS } = STORE_OPTIONS;

export const exportPaymentsCommand = command({
  name: 'payments export',
  summary: 'Writes the payments and refunds that were settled in a period, with commission, for accounting.',
  words: [],
  options: {
    ...PERIOD_OPTIONS,
    format: {
      type: 'string',
      value: 'csv|excel|json',
      about: 'csv by default; excel is CSV for Excel in Turkish; json is one array.',
    },
    output: { type: 'string', value: 'FILE', about: 'Writes FILE, once all is read, instead of standard output.' },
    state: {
      ...STATE_OPTION,
      about: 'Only those in these states (separated by commas), or "all"; succeeded by default.',
    },
    ...SOURCE_OPTIONS,
  },
  notes:
    `${PERIOD_NOTES}\nStates: ${SETTLED_STATES.join(', ')}. What is not settled is only counted, on standard error. What was\n` +
    "purged is gone. A text cell that a spreadsheet would run as a formula begins with ' in CSV.",
  async run(call) {
    const { values, write } = call;
    const period = periodOf(values);
    const format = formatOf(values.format);
    const states = statesIn(values.state, SETTLED_STATES) ?? ['succeeded'];
    const writing = { period, format, states };
    if (values.output === undefined) {
      const remark = await withAccountStore(call, (opened) => exported(opened, writing, write));
      return { text: '', remark: remark ?? undefined };
    }
    const path = values.output;
    const remark = await withAccountStore(call, (opened) =>
      untilStopped(async (signal) => {
        const file = await WholeFile.begin(path);
        try {
          const done = await exported(opened, writing, async (text) => {
            if (signal.aborted) throw new CommandFailedError(`${stopped(signal)}: ${path} was not written.`);
            await file.write(text);
            return true;
          });
          await file.finish();
          return done;
        } finally {
          await file.discard();
        }
      }),
    );
    return { text: '', remark: remark ?? undefined };
  },
});

interface Writing {
  readonly period: ZonedPeriod;
  readonly format: BookFormat;
  readonly states: readonly string[];
}

/**
 * @param write false when nobody reads any more
 * @returns what to say about it; null when nobody read it to its end
 */
async function exported(
  { store, account }: AccountStore,
  { period, format, states }: Writing,
  write: (text: string) => Promise<boolean>,
): Promise<string | null> {
  const counts = { sales: 0, refunds: 0 };
  let text = format.head;
  for await (const record of settledRecords(store, account, period)) {
    if (!states.includes(record.state)) continue;
    text += format.entry(bookEntryOf(record, account, period.zone), counts.sales + counts.refunds);
    counts[isRefund(record) ? 'refunds' : 'sales'] += 1;
    if (text.length < CHUNK_LENGTH) continue;
    if (!(await write(text))) return null;
    text = '';
  }
  if (!(await write(text + format.tail(counts.sales + counts.refunds)))) return null;
  const now = await store.now();
  return [
    `${counted(counts.sales, 'payment', 'payments')} and ${counted(counts.refunds, 'refund or void', 'refunds and voids')}` +
      ` in ${states.join(', ')}, settled from ${period.zone.text(period.from)} until ${period.zone.text(period.to)}.`,
    ...(period.to > now ? ['The period is not over yet: more may be settled in it.'] : []),
    ...(await unsettledRemark({ store, account })),
  ].join('\n');
}

/** What may still come: payments and refunds that may have moved money, and have no outcome. */
async function unsettledRemark({ store, account }: AccountStore): Promise<string[]> {
  const { states, refunds } = await store.counts(account);
  const open = UNSETTLED_SALE_STATES.filter((state) => rowOf(state).money !== 'no');
  const sales = open.reduce((sum, state) => sum + states[state].count, 0);
  const back = UNSETTLED_REFUND_STATES.reduce((sum, state) => sum + refunds[state].count, 0);
  if (sales + back === 0) return [];
  return [
    `Not among them, since they have no outcome yet: ${counted(sales, 'payment', 'payments')} and ` +
      `${counted(back, 'refund or void', 'refunds and voids')} ("payments list" and "payments refunds").`,
  ];
}

function formatOf(name = 'csv'): BookFormat {
  const format = Object.hasOwn(BOOK_FORMATS, name) ? BOOK_FORMATS[name] : undefined;
  if (!format) throw new UsageError('--format takes csv, excel or json.');
  return format;
}
