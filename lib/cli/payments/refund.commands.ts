import {
  PaymentDuplicateError,
  PaymentNotFoundError,
  PaymentNotSentError,
  PaymentRefundError,
} from '../../errors/payment-errors.js';
import { PaymentValidationError } from '../../errors/payment-errors.js';
import { readOptions } from '../../options/read-options.js';
import { DEFAULT_ACCOUNT } from '../../payment/account.js';
import { amountWithCurrency } from '../../payment/amount.js';
import { REFUND_STATES, type RefundState, UNCLEAR_STATES } from '../../payment/states.js';
import type { PaymentRecord, RefundKind } from '../../payment/payment.js';
import { type Refund, refundTotals, type RefundTotals, toRefund } from '../../payment/refund.js';
import {
  type Call,
  command,
  CommandFailedError,
  LIMIT_OPTION,
  limitOf,
  type Outcome,
  STORE_OPTIONS,
  UsageError,
} from '../command.js';
import { type AccountStore, withAccountStore } from './account-store.js';
import {
  gatewaySettings,
  type GatewayUse,
  offlineSettings,
  readersOf,
  refuseEmbeddedSimulator,
  type SettingsCall,
  userName,
  withGateway,
} from './operator-flows.js';
import { counted } from './payment-text.js';
import { refundCountsLine, refundJson, refundLine, refundName, totalsLine } from './refund-text.js';
import { statesIn, STATE_OPTION } from './state-option.js';

const UNCLEAR_REFUND_STATES = REFUND_STATES.filter((state) => UNCLEAR_STATES.includes(state));

const VOID_OPTIONS = {
  'refund-id': {
    type: 'string',
    value: 'ID',
    about:
      'The id at the gateway, made unless given. The same id again shows the refund that has it and sends nothing.',
  },
  key: {
    type: 'string',
    value: 'KEY',
    about: 'An idempotency key: the same key again shows the refund that has it and sends nothing.',
  },
  note: { type: 'string', value: 'TEXT', about: 'Why; kept in the history.' },
  by: { type: 'string', value: 'NAME', about: 'Who asks for it; kept in the history. Default: your user name here.' },
  ...STORE_OPTIONS,
} as const;

const AMOUNT_OPTION = { type: 'string', value: 'AMOUNT' } as const;

const REFUND_OPTIONS = {
  amount: { ...AMOUNT_OPTION, about: 'In major units, such as 49.90. Default: all that is left.' },
  ...VOID_OPTIONS,
} as const;

const SENDING_NOTES =
  'The refundId is shown before the request is sent, so that you can look it up even if this process is killed. If the\n' +
  'outcome is not known, the exit status is 1: do not repeat it, look at "payments refunds CONVERSATION_ID".\n' +
  "It reads the application's settings from the environment and does not know what the application sets in code.";

type RefundCall = Pick<Call<typeof REFUND_OPTIONS>, 'words' | 'values' | 'environment' | 'announce'>;

const USES: Readonly<Record<RefundKind, GatewayUse>> = {
  refund: {
    method: 'refund',
    task: 'refund a payment',
    instead: 'Refund it in the panel of the gateway, then use "payments record-refund".',
  },
  void: {
    method: 'void',
    task: 'void a payment',
    instead: 'Void it in the panel of the gateway, then use "payments record-refund" with the whole amount.',
  },
};

export const refundPaymentCommand = command({
  name: 'payments refund',
  summary: 'Gives back a part of a payment, or all that is left of it.',
  words: ['CONVERSATION_ID'],
  options: REFUND_OPTIONS,
  notes: SENDING_NOTES,
  run: (call) => giveBack('refund', call),
});

export const voidPaymentCommand = command({
  name: 'payments void',
  summary: 'Calls off a whole payment, on the day on which it was made.',
  words: ['CONVERSATION_ID'],
  options: VOID_OPTIONS,
  notes: SENDING_NOTES,
  run: (call) => giveBack('void', call),
});

export const recordRefundCommand = command({
  name: 'payments record-refund',
  summary: "Writes down a refund that was made in the gateway's own panel. Sends nothing.",
  words: ['CONVERSATION_ID'],
  options: {
    ...REFUND_OPTIONS,
    amount: { ...AMOUNT_OPTION, about: 'In major units, such as 49.90. Required.' },
    note: { type: 'string', value: 'TEXT', about: 'Where it was made, and why; kept in the history. Required.' },
  },
  notes: 'It needs --refund-id or --key, so that it is written down once however often it is repeated.',
  run(call) {
    const input = inputOf(call);
    if (input.amount === undefined) throw new UsageError('"payments record-refund" needs --amount.');
    if (input.refundId === undefined && input.idempotencyKey === undefined) {
      throw new UsageError(
        '"payments record-refund" needs --refund-id or --key, so that it is written down once however often it is repeated.',
      );
    }
    const { note, amount } = input;
    if (note === undefined) throw new UsageError('"payments record-refund" needs --note: where it was made, and why.');
    return withAccountStore(call, async (opened) => {
      const settings = offlineSettings(call);
      const recorded = withGateway(opened, settings, ({ refunds }) => refunds.recordRefund({ ...input, note, amount }));
      const refund = await latest(opened, await inWords(recorded, call));
      const isGood = refund.state === 'succeeded' && refund.stored;
      return { text: outcomeText(refund), json: { refund: refundJson(refund) }, status: isGood ? 0 : 1 };
    });
  },
});

async function giveBack(kind: RefundKind, call: RefundCall): Promise<Outcome> {
  const { amount, ...input } = inputOf(call);
  refuseEmbeddedSimulator(call, USES[kind]);
  return withAccountStore(call, async (opened) => {
    const settings = gatewaySettings(call, USES[kind]);
    let isSent = false;
    const given = withGateway(
      opened,
      settings,
      ({ refunds }) => (kind === 'void' ? refunds.void(input) : refunds.refund({ ...input, amount })),
      async (sent) => {
        isSent = true;
        const what = amountWithCurrency(sent.amount, sent.currencyCode);
        await call.announce(`Sending the ${sent.kind} ${sent.refundId} of payment ${input.conversationId}: ${what}`);
      },
    );
    const refund = await latest(opened, await inWords(given, call));
    const already = isSent ? '' : `Nothing was sent: this ${kind} was asked for before.\n`;
    return {
      text: already + outcomeText(refund),
      json: { refund: refundJson(refund) },
      status: refund.state === 'succeeded' && refund.stored ? 0 : 1,
    };
  });
}

/** The input of `PaymentService.refund`. */
function inputOf({ words, values }: Pick<RefundCall, 'words' | 'values'>) {
  const [conversationId = ''] = words;
  const { amount, 'refund-id': refundId, key: idempotencyKey, note, by = userName() } = values;
  if (refundId !== undefined && idempotencyKey !== undefined) {
    throw new UsageError('Give --refund-id or --key, not both.');
  }
  return { conversationId, amount, refundId, idempotencyKey, note, by };
}

const OPTION_OF_FIELD: Readonly<Record<string, string>> = {
  conversationId: 'CONVERSATION_ID',
  refundId: '--refund-id',
  idempotencyKey: '--key',
};

/** Words the errors for those who typed the command. */
async function inWords(refund: Promise<Refund>, { words, values }: Pick<RefundCall, 'words' | 'values'>) {
  const [conversationId = ''] = words;
  try {
    return await refund;
  } catch (error) {
    if (error instanceof PaymentValidationError) {
      const issues = error
        .issuesIn('en')
        .map(({ path, message }) => `${OPTION_OF_FIELD[path] ?? `--${path}`} ${message}`);
      throw new UsageError(`${issues.join('; ')}.`);
    }
    if (error instanceof PaymentNotFoundError) throw new CommandFailedError(`There is no payment ${conversationId}.`);
    if (error instanceof PaymentNotSentError && values['refund-id'] !== undefined) {
      throw new CommandFailedError(`${error.message} Take another --refund-id for that.`);
    }
    if (error instanceof PaymentRefundError && error.reason === 'in_progress') {
      throw new CommandFailedError(`${error.message} "payments refunds ${conversationId}" shows it.`);
    }
    if (error instanceof PaymentDuplicateError && error.refund) {
      throw new CommandFailedError(
        `${error.message} It is ${error.refund.refundId} of payment ${error.refund.conversationId}.`,
      );
    }
    throw error;
  }
}

/** The refund as it is now: an outcome that the store did not accept at first may have been written since. */
async function latest(opened: AccountStore, refund: Refund): Promise<Refund> {
  if (refund.stored) return refund;
  const record = await readersOf(opened)
    .refunds.find(refund.refundId)
    .catch(() => null);
  return record && record.version >= refund.version ? toRefund(record) : refund;
}

function outcomeText(refund: Refund): string {
  const { refundId, state, reason, code, message, amount, currencyCode, stored } = refund;
  const why = [reason, code, message].filter(Boolean).join(', ');
  const name = refundName(refund);
  const resolve = `then settle it: payments resolve ${refundId} succeeded|failed --note TEXT`;
  const texts: Readonly<Record<RefundState, string>> = {
    succeeded: `${name} succeeded: ${amountWithCurrency(amount, currencyCode)} given back.`,
    failed: `${name} failed (${why}): nothing was given back.`,
    refunding: `${name} is still under way. Look again: payments show ${refundId}`,
    unknown:
      `${name} is unknown (${why}): money may have been given back, so do not repeat it.\n` +
      `Ask the gateway: payments inquire ${refundId}; or look it up in its panel, ${resolve}`,
    review:
      `${name} is in review (${why}): the gateway's answer contradicts the request, so do not repeat it.\n` +
      `Look it up in the panel of the gateway, ${resolve}`,
  };
  return stored ? texts[state] : `${texts[state]}\nThe store did not accept this outcome: write it down.`;
}

export const listRefundsCommand = command({
  name: 'payments refunds',
  summary: 'Lists the refunds and voids of a payment, with totals; without an id, those that need a person.',
  words: ['[CONVERSATION_ID]'],
  options: { state: STATE_OPTION, ...LIMIT_OPTION, ...STORE_OPTIONS },
  notes:
    `States: ${REFUND_STATES.join(', ')}.\n` +
    `By default, all of a payment, oldest first; without an id, those in ${UNCLEAR_REFUND_STATES.join(', ')}, of all\n` +
    'payments, those that have been in their state the longest first.',
  run(call) {
    const [conversationId] = call.words;
    const states = statesIn(call.values.state, REFUND_STATES);
    const max = limitOf(call.values.limit);
    return withAccountStore(call, (opened) =>
      conversationId === undefined
        ? listAll(opened, states ?? UNCLEAR_REFUND_STATES, max)
        : listOf(opened, conversationId, states ?? REFUND_STATES, max, call),
    );
  },
});

async function listAll(
  { store, account }: AccountStore,
  states: readonly RefundState[],
  max: number,
): Promise<Outcome> {
  // Reads one more than it shows, to know whether there are more.
  const found = await store.listByState(account, 'refund', states, max + 1);
  const { refunds: counts } = await store.counts(account);
  return listed(account, found, max, `in ${states.join(', ')}`, [refundCountsLine(counts)], null);
}

async function listOf(
  opened: AccountStore,
  conversationId: string,
  states: readonly RefundState[],
  max: number,
  call: SettingsCall,
): Promise<Outcome> {
  const refunded = await refundsOf(opened, conversationId, call);
  if (!refunded) {
    throw new CommandFailedError(`There is no payment ${conversationId} in the account "${opened.account}".`);
  }
  const { sale, records, totals } = refunded;
  const found = records.filter(({ state }) => (states as readonly string[]).includes(state));
  const subject = `of payment ${conversationId} (${sale.state})`;
  return listed(opened.account, found, max, subject, [totalsLine(totals, sale.currencyCode)], totals);
}

function listed(
  account: string,
  found: readonly PaymentRecord[],
  max: number,
  subject: string,
  footer: readonly string[],
  totals: RefundTotals | null,
): Outcome {
  const refunds = found.slice(0, max).map((record) => toRefund(record));
  const hasMore = found.length > max;
  const text = [
    `${counted(refunds.length, 'refund or void', 'refunds and voids')} ${subject}`,
    ...refunds.map(refundLine),
    ...(hasMore ? ['  … and more: see --limit'] : []),
    ...footer,
  ].join('\n');
  return { text, json: { account, refunds: refunds.map(refundJson), hasMore, totals } };
}

/** A payment, with its refunds and what is left of it. */
export interface RefundedSale {
  readonly sale: PaymentRecord;
  readonly records: readonly PaymentRecord[];
  readonly totals: RefundTotals;
}

/** @returns null if there is no such payment */
export async function refundsOf(
  opened: AccountStore,
  conversationId: string,
  { values, environment }: SettingsCall,
): Promise<RefundedSale | null> {
  const { payments, refunds } = readersOf(opened);
  const sale = await payments.find(conversationId);
  if (!sale) return null;
  const records = await refunds.ofPayment(conversationId);
  const { amountFormat = 'fixed' } = readOptions({}, environment, values.account ?? DEFAULT_ACCOUNT).values;
  return { sale, records, totals: refundTotals(sale, records, amountFormat) };
}
