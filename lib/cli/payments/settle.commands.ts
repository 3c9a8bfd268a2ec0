import { userInfo } from 'node:os';
import { InquiryFlow } from '../../flows/inquiry-flow.js';
import { OperatorFlow, type ResolveOptions } from '../../flows/operator-flow.js';
import { OwedWrites } from '../../flows/settling/owed-writes.js';
import { PaymentChanges } from '../../flows/settling/payment-changes.js';
import { PaymentReader } from '../../flows/payment-reader.js';
import { PaymentWriter } from '../../flows/settling/payment-writer.js';
import { ProcessHold } from '../../process/in-flight.js';
import { StoreClock } from '../../process/store-clock.js';
import { GatewayClient } from '../../gateway/gateway-client.js';
import { GatewayTransport } from '../../gateway/transport/gateway-transport.js';
import type { PaymentSettings } from '../../options/payment-settings.js';
import type { Environment } from '../../options/read-options.js';
import { resolveSettings } from '../../options/resolve-settings.js';
import { isSimulatorMeant } from '../../options/simulator-setting.js';
import { isLoopbackUrl } from '../../options/url-checks.js';
import { DEFAULT_ACCOUNT, variableOf } from '../../payment/account.js';
import { SystemClock } from '../../payment/clock.js';
import { isClaimed } from '../../payment/payment-state.js';
import type { Payment } from '../../payment/payment.js';
import { SystemRandomness } from '../../payment/randomness.js';
import { command, STORE_OPTIONS, UsageError } from '../command.js';
import { type AccountStore, withAccountStore } from './account-store.js';
import { paymentJson } from './payment-text.js';

export const inquirePaymentCommand = command({
  name: 'payments inquire',
  summary: 'Asks the gateway for the outcome of a payment, and settles it by the answer. Moves no money.',
  words: ['CONVERSATION_ID'],
  options: STORE_OPTIONS,
  notes:
    "It reads the application's settings from the environment and does not know what the application sets in code.\n" +
    'If the gateway gives no clear answer, the payment stays as it is, and the exit status is 1.',
  run(call) {
    const [conversationId = ''] = call.words;
    refuseEmbeddedSimulator(call.environment, call.values.account);
    return withAccountStore(call, async (opened) => {
      const settings = settingsOf(call.values, call.environment);
      const payment = await inquirePayment(opened, settings, conversationId);
      const { state } = payment;
      const isKnown = state !== 'unknown' && !isClaimed(state);
      return {
        text: isKnown
          ? `Payment ${conversationId} is ${state}.`
          : `Payment ${conversationId} is still ${state}: the gateway gave no clear answer, or none.${simulatorNote(settings)}`,
        json: { payment: paymentJson(payment) },
        status: isKnown ? 0 : 1,
      };
    });
  },
});

/** @throws UsageError */
function refuseEmbeddedSimulator(environment: Environment, account = DEFAULT_ACCOUNT): void {
  if (!isSimulatorMeant({}, environment, account)) return;
  throw new UsageError(
    `${variableOf(account, 'baseUrl')} is the simulator inside the application, which only the application itself can ` +
      'ask: call PaymentService.inquire there; or run "nestjs-card-payment simulate" and use the settings that it prints.',
  );
}

/** A gateway on this machine is a simulator, which forgets all payments when it ends. */
function simulatorNote({ account, baseUrl }: PaymentSettings): string {
  if (!isLoopbackUrl(baseUrl)) return '';
  const variable = variableOf(account, 'baseUrl');
  return ` It is on this machine (${variable}): a simulator forgets its payments when it stops.`;
}

/** @throws UsageError, PaymentConfigurationError */
function settingsOf(
  { account = DEFAULT_ACCOUNT, store }: { readonly account?: string; readonly store?: string },
  environment: Environment,
): PaymentSettings {
  const dialect = variableOf(account, 'dialect');
  if ((environment[dialect] || 'standard') === 'standard') {
    throw new UsageError(
      `The dialect "standard" (${dialect}) cannot ask for the outcome of a payment: the interface does not show how. ` +
        'Look the payment up in the panel of the gateway, then use "payments resolve".',
    );
  }
  const name = account === DEFAULT_ACCOUNT ? undefined : account;
  return resolveSettings({ background: false, storeUrl: store }, { name, callback: false }, environment);
}

export const resolvePaymentCommand = command({
  name: 'payments resolve',
  summary: 'Settles a payment in unknown or review, after you have looked it up at the gateway or the bank.',
  words: ['CONVERSATION_ID', 'succeeded|failed'],
  options: {
    note: { type: 'string', value: 'TEXT', about: 'How it was found out; kept in the history. Required.' },
    by: { type: 'string', value: 'NAME', about: 'Who resolves it; kept in the history. Default: your user name here.' },
    force: { type: 'boolean', about: 'Resolves it as failed even if it was interrupted within the last hour.' },
    ...STORE_OPTIONS,
  },
  notes:
    'A host that was only suspended may still send a payment that was interrupted. Before you use --force, make sure\n' +
    'that the process that claimed it has ended.',
  run(call) {
    const [conversationId = '', state] = call.words;
    const { note, by = userName(), force = false } = call.values;
    if (state !== 'succeeded' && state !== 'failed') {
      throw new UsageError('"payments resolve" takes a conversationId, then succeeded or failed.');
    }
    if (!note?.trim()) throw new UsageError('"payments resolve" needs --note: how it was found out.');
    if (by?.trim() === '') throw new UsageError('"payments resolve" takes --by with a name.');
    return withAccountStore(call, async (opened) => {
      const payment = await resolvePayment(opened, conversationId, state, note, { by, force });
      return { text: `Payment ${conversationId} is ${payment.state}.`, json: { payment: paymentJson(payment) } };
    });
  },
});

/** The user of the operating system; undefined if the user has no entry there, as in some containers. */
function userName(): string | undefined {
  try {
    return userInfo().username || undefined;
  } catch {
    return undefined;
  }
}

/** The parts of `PaymentService` that these commands need, without the background work and without handlers. */
function operatorFlows({ store, account }: AccountStore) {
  const clock = new StoreClock(new SystemClock(), store);
  // The event is written to the outbox with the state; a running instance of the application delivers it.
  const changes = new PaymentChanges(store, clock, { publish: () => Promise.resolve() });
  const owed = new OwedWrites(changes, clock, new ProcessHold());
  return {
    clock,
    owed,
    reader: new PaymentReader(store, { account }),
    writer: new PaymentWriter(changes, owed, clock),
  };
}

/** Does the same as `PaymentService.resolve`. */
async function resolvePayment(
  opened: AccountStore,
  conversationId: string,
  state: 'succeeded' | 'failed',
  note: string,
  options: ResolveOptions,
): Promise<Payment> {
  const { clock, reader, writer } = operatorFlows(opened);
  await clock.check();
  return new OperatorFlow(reader, writer, clock).resolve(conversationId, state, note, options);
}

/** Does the same as `PaymentService.inquire`. */
async function inquirePayment(
  opened: AccountStore,
  settings: PaymentSettings,
  conversationId: string,
): Promise<Payment> {
  const { clock, reader, writer, owed } = operatorFlows(opened);
  const { timeoutMs, connectTimeoutMs } = settings;
  const transport = new GatewayTransport({ timeoutMs, connectTimeoutMs, keepAliveMs: 0 });
  try {
    await clock.check();
    const gateway = new GatewayClient(settings, transport, new SystemClock());
    const flow = new InquiryFlow(reader, writer, gateway, clock, new SystemRandomness(), settings);
    const payment = await flow.inquire(conversationId);
    await owed.close();
    return payment;
  } finally {
    await transport.close();
  }
}
