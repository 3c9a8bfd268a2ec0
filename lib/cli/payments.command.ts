import { parseArgs } from 'node:util';
import { PaymentError } from '../errors/payment.error.js';
import { PaymentStoreError } from '../errors/payment-store.error.js';
import { DEFAULT_ACCOUNT, variableOf } from '../payment/account.js';
import { SystemClock } from '../payment/clock.js';
import { OperatorFlow } from '../flows/operator-flow.js';
import { type PaymentRecord, type PaymentState, toPayment } from '../payment/payment.js';
import { OwedOutcomes } from '../flows/owed-outcomes.js';
import { PaymentChanges } from '../flows/payment-changes.js';
import { PaymentReader } from '../flows/payment-reader.js';
import { PaymentWriter } from '../flows/payment-writer.js';
import { TRANSITIONS } from '../payment/states.js';
import { openStore } from '../store/open-store.js';
import type { Delivery, PaymentStore } from '../store/payment-store.js';
import { parsed, UsageError } from './usage.error.js';

const MAX_ROWS = 200;

interface AccountStore {
  readonly store: PaymentStore;
  readonly account: string;
}

/** What an operator sees and does: the payments and deliveries that need a person. */
export async function paymentsCommand(words: string[]): Promise<string> {
  const { values, positionals } = parsed(() =>
    parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        store: { type: 'string' },
        account: { type: 'string', default: DEFAULT_ACCOUNT },
        state: { type: 'string', default: 'unknown,review' },
        note: { type: 'string' },
      },
    }),
  );
  const { account } = values;
  const variable = variableOf(account, 'storeUrl');
  const storeUrl = values.store ?? process.env[variable];
  if (!storeUrl || storeUrl === 'memory:') {
    throw new UsageError(`Name the store: ${variable} or --store URL (payments in memory cannot be seen from here).`);
  }
  const [action = 'list', ...rest] = positionals;
  const run = actionOf(action, rest, values);
  const store = await openStore({ storeUrl, variable, store: null, background: false });
  try {
    return await run({ store, account });
  } catch (error) {
    // What a driver throws may hold a statement's values or an address.
    throw error instanceof PaymentError || error instanceof UsageError
      ? error
      : new PaymentStoreError(`running "payments ${action}"`);
  } finally {
    await store.close().catch(() => undefined);
  }
}

function actionOf(
  action: string,
  words: readonly string[],
  { state, note }: { state: string; note?: string },
): (payments: AccountStore) => Promise<string> {
  const [first = '', second = ''] = words;
  switch (action) {
    case 'list':
      return (payments) => list(payments, statesOf(state));
    case 'show':
      return (payments) => show(payments, needed(first, 'show takes a conversationId.'));
    case 'resolve':
      if (second !== 'succeeded' && second !== 'failed') {
        throw new UsageError('resolve takes a conversationId, then succeeded or failed.');
      }
      return (payments) =>
        resolve(payments, first, second, needed(note ?? '', 'resolve needs --note: who found out, and how.'));
    case 'parked':
      return parked;
    case 'replay':
      return (payments) => replay(payments, first, needed(second, 'replay takes a handler id and an event id.'));
    default:
      throw new UsageError(`There is no "payments ${action}".`);
  }
}

async function list({ store, account }: AccountStore, states: readonly PaymentState[]): Promise<string> {
  const records = await store.listByState(account, states, MAX_ROWS);
  const underWay = await store.listByState(account, ['charging', 'authorizing'], MAX_ROWS);
  const deliveries = await store.listParked(account, MAX_ROWS);
  const rows = records.map(paymentRow);
  const title = `${records.length} payment${records.length === 1 ? '' : 's'} in ${states.join(', ')}`;
  const parkedLine = `${deliveries.length} parked ${deliveries.length === 1 ? 'delivery' : 'deliveries'}`;
  return [title, ...rows, `${underWay.length} under way (charging, authorizing)`, parkedLine].join('\n');
}

async function show({ store, account }: AccountStore, conversationId: string): Promise<string> {
  const record = await store.find(account, conversationId);
  if (!record) return `There is no payment ${conversationId} in the account "${account}".`;
  const facts = Object.entries(toPayment(record))
    .filter(([name, value]) => value !== null && name !== 'stored')
    .map(([name, value]) => `  ${name.padEnd(26)}${value instanceof Date ? value.toISOString() : String(value)}`);
  const history = (await store.history(account, conversationId)).map(({ at, version, state, reason, code, note }) =>
    [`  ${at.toISOString()}  v${version}  ${state.padEnd(12)}`, reason, code, note && `“${note}”`]
      .filter(Boolean)
      .join('  '),
  );
  return [`Payment ${conversationId}`, ...facts, 'History', ...history].join('\n');
}

async function resolve(
  { store, account }: AccountStore,
  conversationId: string,
  state: 'succeeded' | 'failed',
  note: string,
): Promise<string> {
  // The event goes into the outbox with the state: an instance that runs delivers it.
  const events = { publish: () => Promise.resolve() };
  const clock = new SystemClock();
  const changes = new PaymentChanges(store, clock, events);
  const writer = new PaymentWriter(changes, new OwedOutcomes(changes), clock);
  const payment = await new OperatorFlow(new PaymentReader(store, { account }), writer).resolve(
    conversationId,
    state,
    note,
  );
  return `Payment ${conversationId} is ${payment.state}.`;
}

async function parked({ store, account }: AccountStore): Promise<string> {
  const deliveries = await store.listParked(account, MAX_ROWS);
  return deliveries.length === 0 ? 'Nothing is parked.' : deliveries.map(deliveryRow).join('\n');
}

async function replay({ store, account }: AccountStore, handlerId: string, eventId: string): Promise<string> {
  const isThere = await store.replay(account, handlerId, eventId, new Date());
  return isThere ? `Event ${eventId} goes to ${handlerId} again.` : `No parked delivery of ${eventId} to ${handlerId}.`;
}

function paymentRow(record: PaymentRecord): string {
  const { conversationId, reference, state, reason, code, amount, currencyCode, updatedAt } = record;
  return [
    `  ${conversationId}`,
    state.padEnd(8),
    `${amount} (${currencyCode})`.padStart(18),
    `since ${updatedAt.toISOString()}`,
    reason,
    code,
    reference && `reference ${reference}`,
  ]
    .filter(Boolean)
    .join('  ');
}

function deliveryRow({ handlerId, event, attempts, error }: Delivery): string {
  return `  ${handlerId}  ${event.eventId}  ${event.type}  failed ${attempts} times: ${error ?? ''}`;
}

function statesOf(text: string): PaymentState[] {
  const states = text.split(',').map((state) => state.trim());
  const known = (state: string): state is PaymentState => Object.hasOwn(TRANSITIONS, state);
  if (!states.every(known)) throw new UsageError(`--state takes of: ${Object.keys(TRANSITIONS).join(', ')}`);
  return states;
}

function needed(word: string, otherwise: string): string {
  if (word === '') throw new UsageError(otherwise);
  return word;
}
