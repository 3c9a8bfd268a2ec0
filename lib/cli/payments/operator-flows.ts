import { userInfo } from 'node:os';
import { InquiryFlow } from '../../operations/inquiry.js';
import { OperatorFlow } from '../../operations/resolution.js';
import { PaymentReader, RefundReader } from '../../settlement/records.js';
import { RefundFlow } from '../../operations/refund.js';
import { OwedWrites } from '../../settlement/owed-writes.js';
import { PaymentWriter } from '../../settlement/writer.js';
import { GatewayClient } from '../../gateway/gateway-client.js';
import { GatewayTransport } from '../../gateway/transport/gateway-transport.js';
import type { PaymentOptions } from '../../options/payment-options.js';
import type { PaymentSettings } from '../../options/payment-settings.js';
import { type Environment, readOptions } from '../../options/read-options.js';
import { gatewaysOf, resolveSettings } from '../../options/resolve-settings.js';
import { isSimulatorMeant, SIMULATOR_OPTIONS } from '../../options/simulator-setting.js';
import { DEFAULT_ACCOUNT, variableOf } from '../../payment/account.js';
import { SystemClock } from '../../runtime/clock.js';
import type { RefundKind } from '../../payment/payment.js';
import { SystemRandomness } from '../../runtime/randomness.js';
import { ProcessHold } from '../../settlement/in-flight.js';
import { StoreClock } from '../../settlement/store-clock.js';
import { UsageError } from '../command.js';
import type { AccountStore } from './account-store.js';

/** What a command's settings are read from. */
export interface SettingsCall {
  readonly values: { readonly account?: string; readonly store?: string };
  readonly environment: Environment;
}

/** What a command asks of the gateway, and what to do where it cannot. */
export interface GatewayUse {
  /** The method of `PaymentService` that does the same: `inquire`. */
  readonly method: string;
  /** What the dialect "standard" cannot do: `ask for the outcome of a payment`. */
  readonly task: string;
  /** What an operator does instead. */
  readonly instead: string;
}

/** @throws UsageError */
export function refuseEmbeddedSimulator({ values, environment }: SettingsCall, { method }: GatewayUse): void {
  const { account = DEFAULT_ACCOUNT } = values;
  if (!isSimulatorMeant({}, environment, account)) return;
  throw new UsageError(
    `${variableOf(account, 'baseUrl')} is the simulator inside the application, which only the application itself can ` +
      `ask: call PaymentService.${method} there; or run "nestjs-card-payment simulate" and use the settings that it prints.`,
  );
}

/**
 * The application's settings, as far as the environment has them.
 *
 * @throws UsageError, PaymentConfigurationError
 */
export function gatewaySettings(call: SettingsCall, { task, instead }: GatewayUse): PaymentSettings {
  const dialect = variableOf(call.values.account ?? DEFAULT_ACCOUNT, 'dialect');
  if ((call.environment[dialect] || 'standard') === 'standard') {
    throw new UsageError(
      `The dialect "standard" (${dialect}) cannot ${task}: the interface does not show how. ${instead}`,
    );
  }
  return settingsOf(call, {});
}

/** The gateways that the variables name, by the ids that records keep; null where they name none. */
export function gatewaysIn({ values, environment }: SettingsCall): readonly string[] | null {
  const { account = DEFAULT_ACCOUNT } = values;
  const options = isSimulatorMeant({}, environment, account) ? SIMULATOR_OPTIONS : {};
  const { dialect, baseUrl, merchantId, formerBaseUrls = [] } = readOptions(options, environment, account).values;
  if (typeof dialect !== 'string' || !baseUrl || !merchantId) return null;
  return gatewaysOf(dialect, { baseUrl, merchantId, formerBaseUrls });
}

/** Settings for a command that sends nothing: what only a request needs is filled in. */
export function offlineSettings(call: SettingsCall): PaymentSettings {
  const unused = '-';
  return settingsOf(call, {
    baseUrl: 'https://gateway.invalid',
    dialect: 'standard',
    signer: () => '',
    merchantId: unused,
    clientId: unused,
    clientSecret: unused,
    apiKey: unused,
  });
}

function settingsOf({ values, environment }: SettingsCall, options: PaymentOptions): PaymentSettings {
  const { account = DEFAULT_ACCOUNT, store: storeUrl } = values;
  const name = account === DEFAULT_ACCOUNT ? undefined : account;
  return resolveSettings({ ...options, background: false, storeUrl }, { name, callback: false }, environment);
}

/** The user of the operating system; undefined if the user has no entry there, as in some containers. */
export function userName(): string | undefined {
  try {
    return userInfo().username || undefined;
  } catch {
    return undefined;
  }
}

/** The account's payments and refunds, to look them up. */
export function readersOf({ store, account }: AccountStore) {
  return { payments: new PaymentReader(store, { account }), refunds: new RefundReader(store, { account }) };
}

/** The parts of `PaymentService` that commands need, without the background work and without handlers. */
export function operatorFlows(opened: AccountStore) {
  const clock = new StoreClock(new SystemClock(), opened.store);
  const owed = new OwedWrites(clock, new ProcessHold());
  // The event is written to the outbox with the state; a running instance of the application delivers it.
  const writer = new PaymentWriter(opened.store, clock, { publish: () => Promise.resolve() }, owed);
  const { payments, refunds } = readersOf(opened);
  return { clock, owed, payments, refunds, writer, operator: new OperatorFlow(payments, refunds, writer, clock) };
}

/** A refund or void that is about to be sent. */
export interface SentRefund {
  readonly refundId: string;
  readonly kind: RefundKind;
  readonly amount: string;
  readonly currencyCode: number;
}

/** The flows that ask the gateway. */
export interface GatewayFlows {
  readonly inquiries: InquiryFlow;
  readonly refunds: RefundFlow;
}

/**
 * Runs work that asks the gateway, and waits until its outcome is stored.
 *
 * @param announce called with each refund before it is sent
 */
export async function withGateway<T>(
  opened: AccountStore,
  settings: PaymentSettings,
  work: (flows: GatewayFlows) => Promise<T>,
  announce: Announce = () => Promise.resolve(),
): Promise<T> {
  const { clock, owed, payments, refunds, writer } = operatorFlows(opened);
  const { timeoutMs, connectTimeoutMs } = settings;
  const transport = new GatewayTransport({ timeoutMs, connectTimeoutMs, keepAliveMs: 0 });
  try {
    await clock.check();
    const gateway = new AnnouncingGateway(settings, transport, announce);
    const random = new SystemRandomness();
    return await work({
      inquiries: new InquiryFlow(payments, refunds, writer, gateway, clock, random, settings),
      refunds: new RefundFlow(payments, refunds, writer, gateway, clock, random, settings),
    });
  } finally {
    await owed.close();
    await transport.close();
  }
}

type Announce = (refund: SentRefund) => Promise<void>;

/** Names each refund before it is sent, so that it can be looked up even if this process is killed meanwhile. */
class AnnouncingGateway extends GatewayClient {
  constructor(
    settings: PaymentSettings,
    transport: GatewayTransport,
    private readonly announce: Announce,
  ) {
    super(settings, transport, new SystemClock());
  }

  override async refund(...given: Parameters<GatewayClient['refund']>): ReturnType<GatewayClient['refund']> {
    const [kind, { conversationId, amount, currencyCode }] = given;
    await this.announce({ refundId: conversationId, kind, amount, currencyCode });
    return super.refund(...given);
  }
}
