import { Comparison, type Compared, type DifferenceKind, paymentIdOf } from '../../flows/comparison.js';
import {
  ComparisonRun,
  type ComparisonProgress,
  MAX_UNANSWERED,
  NO_PROGRESS,
  type StopReason,
} from '../../flows/comparison-run.js';
import { SETTLED_KINDS, type SettledKind } from '../../flows/settled-records.js';
import { GatewayClient } from '../../gateway/gateway-client.js';
import type { SettledWord } from '../../gateway/readings/settled-word.js';
import { GatewayTransport } from '../../gateway/transport/gateway-transport.js';
import { SystemClock } from '../../payment/clock.js';
import { amountWithCurrency, currencyLetters } from '../../payment/currency.js';
import { isRefund, type PaymentRecord } from '../../payment/payment.js';
import { saleOf } from '../../payment/refund.js';
import { command, type Outcome, STORE_OPTIONS, UsageError, wholeNumber } from '../command.js';
import { withAccountStore } from '../payments/account-store.js';
import { gatewaySettings, type GatewayUse, refuseEmbeddedSimulator } from '../payments/operator-flows.js';
import { STATE_OPTION, statesIn } from '../payments/state-option.js';
import { PERIOD_NOTES, PERIOD_OPTIONS, periodOf, type ZonedPeriod } from './period.js';
import { ProgressFile } from './progress-file.js';
import { SETTLED_STATES } from './settled-states.js';
import { untilStopped } from './until-stopped.js';

const COMPARISON: GatewayUse = {
  method: 'inquire',
  task: 'ask what became of a payment',
  instead: 'Compare what "payments export" writes with the report of the gateway.',
};

/** An inquiry moves no money, so nothing is lost by giving it up early. */
const MAX_INQUIRY_MS = 30_000;

export const comparePaymentsCommand = command({
  name: 'payments compare',
  summary: 'Asks the gateway about payments and refunds settled in a period, and lists those that it tells otherwise.',
  words: [],
  options: {
    ...PERIOD_OPTIONS,
    only: {
      type: 'string',
      value: 'sales|refunds',
      about: 'Asks about payments alone, or about refunds and voids alone.',
    },
    state: {
      ...STATE_OPTION,
      about: 'Only those in these states (separated by commas); all that are settled by default.',
    },
    progress: { type: 'string', value: 'FILE', about: 'Goes on where the run before stopped, which FILE says.' },
    deadline: { type: 'string', value: 'SECONDS', about: 'Stops after so long, 1 to 86400; 3600 by default.' },
    'at-once': { type: 'string', value: 'N', about: 'How many inquiries are under way at once, 1 to 8; 2 by default.' },
    'per-minute': {
      type: 'string',
      value: 'N',
      about: 'How many inquiries begin in a minute at most, 1 to 6000; 300 by default.',
    },
    ...STORE_OPTIONS,
  },
  notes:
    `${PERIOD_NOTES}\n` +
    'It changes no payment and moves no money. Exit status: 0 all that was asked agrees; 1 something differs; 3 nothing\n' +
    'differs, but the gateway did not answer clearly about all, or the run stopped before its end. With --progress, the\n' +
    'totals are those of all runs, and what did not agree is asked about again.\n' +
    "It reads the application's settings from the environment and does not know what the application sets in code.",
  async run(call) {
    const { values, announce } = call;
    const period = periodOf(values);
    const kinds = kindsOf(values.only);
    const states = statesIn(values.state, SETTLED_STATES) ?? SETTLED_STATES;
    const deadlineMs = 1_000 * wholeNumber('deadline', values.deadline, { min: 1, max: 86_400, byDefault: 3_600 });
    const atOnce = wholeNumber('at-once', values['at-once'], { min: 1, max: 8, byDefault: 2 });
    const perMinute = wholeNumber('per-minute', values['per-minute'], { min: 1, max: 6_000, byDefault: 300 });
    if (values.progress === '') throw new UsageError('--progress takes the path of a file.');
    refuseEmbeddedSimulator(call, COMPARISON);
    const settings = gatewaySettings(call, COMPARISON);
    return withAccountStore(call, async ({ store, account }) => {
      const scope = {
        account,
        from: period.from.toISOString(),
        to: period.to.toISOString(),
        only: kinds.join(),
        states: states.join(),
      };
      const file = values.progress === undefined ? null : new ProgressFile(values.progress, scope);
      const from = (await file?.read()) ?? NO_PROGRESS;
      // If it cannot be written, that is found out before the gateway is asked.
      await file?.write(from);
      const timeoutMs = Math.min(settings.timeoutMs, MAX_INQUIRY_MS);
      const transport = new GatewayTransport({
        timeoutMs,
        connectTimeoutMs: settings.connectTimeoutMs,
        keepAliveMs: settings.keepAliveMs,
      });
      const gateway = new GatewayClient(settings, transport, new SystemClock());
      const isJson = values.json === true;
      const entries: ComparedEntry[] = [];
      try {
        return await untilStopped(async (told) => {
          const run = new ComparisonRun(
            store,
            new Comparison(store, gateway),
            {
              account,
              period,
              kinds,
              states,
              atOnce,
              perMinute,
              signal: stopSignal(told, deadlineMs),
              onCompared: async (compared) => {
                const entry = entryOf(compared);
                if (!entry) return;
                if (isJson) entries.push(entry);
                else await announce(entryLine(entry));
              },
              onProgress: async (progress) => file?.write(progress),
            },
            from,
          );
          const stoppedBy = await run.run();
          const isOver = (await store.now()) >= period.to;
          return outcomeOf({ account, period, stoppedBy, isOver, hasFile: file !== null, entries }, run.progress());
        });
      } finally {
        // Ends the inquiries that are still under way.
        await transport.close();
      }
    });
  },
});

/** Aborted with a {@link StopReason}. */
function stopSignal(told: AbortSignal, deadlineMs: number): AbortSignal {
  const controller = new AbortController();
  const stop = (reason: StopReason): void => controller.abort(reason);
  const timer = setTimeout(() => stop('deadline'), deadlineMs);
  timer.unref();
  told.addEventListener('abort', () => stop('signal'), { once: true });
  return controller.signal;
}

function kindsOf(only: string | undefined): readonly SettledKind[] {
  if (only === undefined) return SETTLED_KINDS;
  const kind = SETTLED_KINDS.find((one) => one === only);
  if (!kind) throw new UsageError('--only takes sales or refunds.');
  return [kind];
}

/** A payment or refund that did not agree. */
interface ComparedEntry {
  readonly result: 'differing' | 'unclear' | 'unanswered';
  readonly difference: DifferenceKind | null;
  readonly kind: 'sale' | 'refund' | 'void';
  readonly conversationId: string;
  readonly refundId: string | null;
  readonly reference: string | null;
  readonly state: string;
  /** In major units: what was charged, where the gateway said so. */
  readonly amount: string;
  readonly currencyCode: number;
  readonly currency: string | null;
  /** Null where it gave no answer. */
  readonly gateway: SettledWord | null;
}

function entryOf(compared: Compared): ComparedEntry | null {
  if (compared.result !== 'differing' && compared.result !== 'unclear' && compared.result !== 'unanswered') return null;
  const { result, record } = compared;
  const isBack = isRefund(record);
  return {
    result,
    difference: result === 'differing' ? compared.difference : null,
    kind: isBack ? (record.kind as 'refund' | 'void') : 'sale',
    conversationId: paymentIdOf(record),
    refundId: isBack ? record.conversationId : null,
    reference: isBack ? (saleOf(record)?.reference ?? null) : record.reference,
    state: record.state,
    amount: amountOf(record),
    currencyCode: record.currencyCode,
    currency: currencyLetters(record.currencyCode),
    gateway: result === 'unanswered' ? null : compared.word,
  };
}

function amountOf({ amount, chargedAmount, state, kind }: PaymentRecord): string {
  return state === 'succeeded' && !isRefund({ kind }) ? (chargedAmount ?? amount) : amount;
}

const WORDS: Readonly<Record<SettledWord['word'], string>> = {
  approved: 'approved there',
  mismatch: 'approved there otherwise',
  declined: 'declined there',
  not_paid: 'not paid there',
  open: 'not paid so far there',
  not_found: 'not found there',
  refunded: 'refunded there',
  voided: 'voided there',
  other_status: 'of another status there',
  unclear: 'no clear answer',
  unanswered: 'no answer',
};

/** `  ABC…  sale  succeeded here, 149.90 TRY; not found there (B0029)  reference order-1`. */
function entryLine(entry: ComparedEntry): string {
  const { kind, conversationId, refundId, reference, state, amount, currencyCode, gateway, difference } = entry;
  const shown = [gateway?.amount && `${gateway.amount} ${currencyShown(gateway.currency)}`.trim(), gateway?.code];
  const inBrackets = shown.filter(Boolean).join(', ');
  return [
    `  ${refundId ?? conversationId}`,
    kind.padEnd(6),
    `${state} here, ${amountWithCurrency(amount, currencyCode)}; ${WORDS[gateway?.word ?? 'unanswered']}` +
      (inBrackets === '' ? '' : ` (${inBrackets})`),
    difference === null ? '' : `DIFFERS: ${difference}`,
    refundId === null ? '' : `payment ${conversationId}`,
    reference === null ? '' : `reference ${reference}`,
  ]
    .filter(Boolean)
    .join('  ');
}

function currencyShown(currency: string | null): string {
  return currency === null ? '' : (currencyLetters(Number(currency)) ?? currency);
}

interface Ending {
  readonly account: string;
  readonly period: ZonedPeriod;
  readonly stoppedBy: StopReason | null;
  /** Whether nothing more can be settled in the period. */
  readonly isOver: boolean;
  readonly hasFile: boolean;
  readonly entries: readonly ComparedEntry[];
}

function outcomeOf(ending: Ending, progress: ComparisonProgress): Outcome {
  const { account, period, stoppedBy, entries } = ending;
  const count = (result: ComparedEntry['result']): number =>
    progress.open.filter((one) => one.result === result).length;
  const { agreed, amountHidden, notAsked, changed } = progress;
  const [differing, unclear, unanswered] = [count('differing'), count('unclear'), count('unanswered')];
  const asked = agreed + differing + unclear + unanswered;
  const totals = {
    asked,
    agreed,
    amountNotShown: amountHidden,
    differing,
    unclear,
    unanswered,
    notAsked,
    changed,
  };
  const of = (result: ComparedEntry['result']): object[] =>
    entries.filter((entry) => entry.result === result).map(({ result: _result, ...rest }) => rest);
  const isAll = stoppedBy === null && unclear + unanswered === 0;
  return {
    text: [
      `Settled from ${period.zone.text(period.from)} until ${period.zone.text(period.to)}, account ${account}`,
      `Asked about ${asked}: ${agreed} agreed, ${differing} differing, ${unclear} without a clear answer, ` +
        `${unanswered} not answered`,
      ...(amountHidden === 0 ? [] : [`Of ${amountHidden} that agreed, the gateway showed no amount`]),
      `Not asked about, since nothing was sent: ${notAsked}; changed meanwhile: ${changed}`,
      ...(ending.isOver ? [] : ['The period is not over yet: more may be settled in it']),
      ...(stoppedBy === null ? [] : [stopText(stoppedBy, ending.hasFile)]),
    ].join('\n'),
    json: {
      account,
      from: period.from,
      to: period.to,
      zone: period.zone.name,
      finished: stoppedBy === null,
      stoppedBy,
      totals,
      differing: of('differing'),
      unclear: of('unclear'),
      unanswered: of('unanswered'),
    },
    status: differing > 0 ? 1 : isAll ? 0 : 3,
  };
}

function stopText(stoppedBy: StopReason, hasFile: boolean): string {
  const why = {
    deadline: 'Stopped at its deadline',
    signal: 'Stopped as it was told',
    gateway: `Stopped, since the gateway gave ${MAX_UNANSWERED} times in succession no answer ("doctor" looks why)`,
  }[stoppedBy];
  return `${why}. ${hasFile ? 'The same command goes on from here' : 'With --progress FILE, a run goes on where one stopped'}`;
}
