import type { Command, OptionName } from './command.js';

// What is imported here without import() is loaded for --version, too: an import of the module would cost half a second.
const payments = () => import('./payments.js');
const refunds = () => import('./refunds.js');

const SETTINGS: readonly OptionName[] = ['account', 'env', 'json'];
const STORE: readonly OptionName[] = ['store', ...SETTINGS];
const REFUND: readonly OptionName[] = ['refund-id', 'key', 'note', 'by'];
const ASKING: readonly OptionName[] = ['dry-run', 'yes'];

const FROM_ENVIRONMENT =
  "It reads the application's settings from the environment and does not know what the application sets in code.";
const TAKES_REFUNDS = 'The id of a refund or void is taken, too.';
const SENDING =
  'It shows the amount, the card and the order, and asks before it sends anything; --yes does not ask. The refundId is\n' +
  'shown before the request is sent, so that it can be looked up even if this process is killed. If the outcome is not\n' +
  `known, the exit status is 1: do not repeat it, look at "payments refunds CONVERSATION_ID".\n${FROM_ENVIRONMENT}`;

/** The commands, in the order in which the help lists them. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  doctor: {
    summary: 'Checks a set-up: settings, store, gateway, clock, credentials, callback address.',
    args: [],
    options: ['callback', 'skip', 'timeout', ...SETTINGS],
    notes:
      'Checks: environment, settings, variables, store, gateway, clock, credentials, callback.\n' +
      'It reads the same variables as the application and does not see what the application sets in code. It makes no\n' +
      'payment, changes nothing and shows no secret. The exit status is 1 if a check failed.',
    load: async () => (await import('./doctor.js')).doctor,
  },
  simulate: {
    summary: 'Starts a gateway and a bank to try payments against. Takes no real card.',
    args: [],
    options: ['port', 'host', 'public-url', 'dialect'],
    load: async () => (await import('./simulate.js')).simulate,
  },
  schema: {
    summary: 'Prints the tables of a SQL store, if you run your own migrations.',
    args: [],
    options: ['dialect'],
    load: async () => (await import('./schema.js')).schema,
  },
  'payments list': {
    summary: 'Lists payments, the newest first, by default those that need a person.',
    args: [],
    options: ['state', 'reference', 'limit', 'after', ...STORE],
    notes:
      'States: charging, initiating, awaiting, authorizing, pending, unknown, review, succeeded, failed, expired. By\n' +
      'default unknown and review; with --reference all. Refunds and voids are only counted: "payments refunds" lists them.',
    load: async () => (await payments()).list,
  },
  'payments show': {
    summary: 'Shows one payment with its refunds, or one refund, and its history.',
    args: ['CONVERSATION_ID'],
    options: STORE,
    notes: TAKES_REFUNDS,
    load: async () => (await payments()).show,
  },
  'payments stats': {
    summary: 'Counts the payments and refunds by state, and the deliveries.',
    args: [],
    options: STORE,
    load: async () => (await payments()).stats,
  },
  'payments inquire': {
    summary: 'Asks the gateway for the outcome of a payment or refund, and settles it by the answer. Moves no money.',
    args: ['CONVERSATION_ID'],
    options: ['by', ...STORE],
    notes:
      `${TAKES_REFUNDS} Whether the gateway knows refunds is unverified.\n${FROM_ENVIRONMENT}\n` +
      'If the gateway gives no clear answer, the payment stays as it is, and the exit status is 1.',
    load: async () => (await payments()).inquire,
  },
  'payments resolve': {
    summary:
      'Settles a payment or refund in unknown or review, after you have looked it up at the gateway or the bank.',
    args: ['CONVERSATION_ID', 'succeeded|failed'],
    options: ['note', 'by', 'force', ...STORE],
    notes:
      `It needs --note: how it was found out. ${TAKES_REFUNDS} Succeeded means\n` +
      'that the money was given back, failed that it was not.\n' +
      'A host that was only suspended may still send a payment that was interrupted. Before you use --force, make sure\n' +
      'that the process that claimed it has ended.',
    load: async () => (await payments()).resolve,
  },
  'payments abandon': {
    summary: "Gives up a payment at the gateway's own page, unless the gateway says that it was paid. Experimental.",
    args: ['CONVERSATION_ID'],
    options: ['by', ...STORE],
    notes:
      'The gateway is asked once. If nothing was paid, the payment is expired and its reference is free. The gateway\n' +
      'does not close the page: a buyer who still has it open can pay there, and the payment is in review then.\n' +
      `${FROM_ENVIRONMENT}\n` +
      'If it was paid, or the gateway gives no clear answer, the exit status is 1.',
    load: async () => (await payments()).abandon,
  },
  'payments refund': {
    summary: 'Gives back a part of a payment, or all that is left of it.',
    args: ['CONVERSATION_ID'],
    options: ['amount', ...REFUND, ...ASKING, ...STORE],
    notes: SENDING,
    load: async () => (await refunds()).refund,
  },
  'payments void': {
    summary: 'Calls off a whole payment, on the day on which it was made.',
    args: ['CONVERSATION_ID'],
    options: [...REFUND, ...ASKING, ...STORE],
    notes: SENDING,
    load: async () => (await refunds()).callOff,
  },
  'payments refunds': {
    summary: 'Lists the refunds and voids of a payment, with totals; without an id, those that need a person.',
    args: ['[CONVERSATION_ID]'],
    options: ['state', 'limit', 'after', ...STORE],
    notes:
      'States: refunding, unknown, review, succeeded, failed. By default, all of a payment, oldest first; without an\n' +
      'id, those in unknown and review, of all payments, the newest first.',
    load: async () => (await refunds()).list,
  },
  'payments record-refund': {
    summary: "Writes down a refund that was made in the gateway's own panel. Sends nothing.",
    args: ['CONVERSATION_ID'],
    options: ['amount', ...REFUND, ...STORE],
    notes:
      'It needs --amount, --note (where it was made, and why), and --refund-id or --key, so that it is written down\n' +
      'once however often it is repeated.',
    load: async () => (await refunds()).record,
  },
  'payments export': {
    summary: 'Writes the payments and refunds that were settled in a period, with commission, for accounting.',
    args: [],
    options: ['from', 'to', 'zone', 'format', 'output', 'state', 'store', 'account', 'env'],
    notes:
      'A payment or refund belongs to the day on which it was settled here (finalizedAt), in the zone. Moments are\n' +
      'ISO 8601 with an offset: 2026-11-01T00:00:00+03:00, 2026-10-31T21:00:00Z. The period must have ended a minute\n' +
      'ago. States: succeeded (by default), failed, expired. What is not settled is only counted, on standard error.\n' +
      "What was purged is gone. A text cell that a spreadsheet would run as a formula begins with ' in CSV.",
    load: async () => (await import('./export.js')).exportSettled,
  },
  'payments parked': {
    summary: 'Lists the events whose handler kept failing, the oldest first.',
    args: [],
    options: ['limit', 'after', ...STORE],
    load: async () => (await payments()).parked,
  },
  'payments replay': {
    summary: 'Delivers a parked event to its handler again.',
    args: ['HANDLER_ID', 'EVENT_ID'],
    options: ['by', ...STORE],
    load: async () => (await payments()).replay,
  },
};
