import { userInfo } from 'node:os';
import { format } from 'node:util';
import { Logger, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PaymentConfigurationError } from '../errors/payment-errors.js';
import { PaymentOperations } from '../operations/staff.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import type { PaymentOptions } from '../options/payment-options.js';
import { type Environment, PaymentSettings, readOptions, type ReadOptions } from '../options/payment-settings.js';
import { isSimulatorMeant } from '../options/simulator-setting.js';
import { DEFAULT_ACCOUNT, variableOf } from '../payment/account.js';
import { SystemClock } from '../runtime/clock.js';
import { PaymentModule } from '../payment.module.js';
import type { PaymentService } from '../payment.service.js';
import { paymentOperationsToken, paymentToken } from '../module/tokens.js';
import { StoreClock } from '../settlement/store-clock.js';
import { openStore, releaseStore } from '../store/open-store.js';
import type { PaymentStore } from '../store/payment-store.js';
import { STORE_URL_FORMS, storeUrlProblem } from '../store/store-url.js';
import { type Call, CommandFailedError, UsageError } from './command.js';
import { escaped } from './layout.js';

/** The module of one account, as the application has it, without its background work and its handlers. */
export interface Account {
  readonly account: string;
  readonly operations: PaymentOperations;
  readonly payments: PaymentService;
  readonly gateway: GatewayClient;
  readonly settings: PaymentSettings;
  readonly clock: StoreClock;
  /** Whether the settings name the gateway; otherwise something stands in its place. */
  readonly isGatewayKnown: boolean;
}

/**
 * Starts the payment module on the application's store, which must exist already, and closes it when the work is done.
 * It creates and migrates nothing.
 *
 * @param asksGateway whether the gateway is asked; otherwise its settings are not needed
 * @throws UsageError, PaymentConfigurationError, CommandFailedError if the store cannot be opened
 */
export async function withAccount<T>(
  call: Call,
  work: (opened: Account) => Promise<T>,
  asksGateway = false,
): Promise<T> {
  const { environment } = call;
  const { account = DEFAULT_ACCOUNT, store: url } = call.options;
  const isEmbedded = isSimulatorMeant({}, environment, account);
  if (asksGateway && isEmbedded) throw embeddedSimulatorError(account);
  const variable = variableOf(account, 'storeUrl');
  const source = url === undefined ? variable : '--store';
  new StderrLogger().use();
  const store = await openExisting(storeUrlOf(url ?? environment[variable], source), source);
  try {
    if (asksGateway) refuseStandard(environment, account);
    const { values } = readOptions({}, environment, account);
    // So that a payment can be told from one of another gateway.
    const isGatewayKnown = Boolean(values.baseUrl && values.merchantId && values.dialect) && !isEmbedded;
    const options = asksGateway ? {} : offlineOptions(isEmbedded ? { ...values, baseUrl: undefined } : values);
    const name = account === DEFAULT_ACCOUNT ? undefined : account;
    const module = PaymentModule.forRoot({ ...options, name, store, background: false, callback: false });
    // What the module says when it starts is about an application: its handlers, its guards.
    const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    new StderrLogger().use();
    try {
      return await work({
        account,
        operations: app.get(paymentOperationsToken(account)),
        payments: app.get(paymentToken(account)),
        gateway: app.get(GatewayClient, { strict: false }),
        settings: app.get(PaymentSettings, { strict: false }),
        clock: app.get(StoreClock, { strict: false }),
        isGatewayKnown,
      });
    } finally {
      // Waits until an outcome that the store has not taken yet is written.
      await app.close();
    }
  } finally {
    await releaseStore(store).catch(() => undefined);
  }
}

/** @throws CommandFailedError that says why it cannot be opened */
export async function openExisting(storeUrl: string, source: string): Promise<PaymentStore> {
  const clock = new SystemClock();
  try {
    return await openStore({ storeUrl, variable: source, clock, store: null, background: false, mustExist: true });
  } catch (error) {
    const [problem] = error instanceof PaymentConfigurationError ? error.problems : [];
    throw new CommandFailedError(`The store (${source}) ${problem?.message ?? 'cannot be opened'}`);
  }
}

/**
 * Who asks: `--by`, or else the user of the operating system.
 *
 * @throws UsageError where neither is known, as in some containers
 */
export function whoAsks({ options: { by } }: Call): string {
  const name = by ?? userName();
  if (name?.trim()) return name;
  throw new UsageError('--by takes the name of who asks, which the history keeps.');
}

function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

function embeddedSimulatorError(account: string): UsageError {
  return new UsageError(
    `${variableOf(account, 'baseUrl')} is the simulator inside the application, which only the application itself can ` +
      'ask: use PaymentOperations or the desk there; or run "nestjs-card-payment simulate" and use the settings that it ' +
      'prints.',
  );
}

/** @throws UsageError */
function refuseStandard(environment: Environment, account: string): void {
  const dialect = variableOf(account, 'dialect');
  if ((environment[dialect] || 'standard') !== 'standard') return;
  throw new UsageError(
    `The dialect "standard" (${dialect}) has no request for this: the interface shows none. Look the payment up, or give ` +
      'the money back, in the panel of the gateway; then use "payments resolve" or "payments record-refund".',
  );
}

/** For a command that sends nothing: what only a request needs is filled in where it is missing. */
function offlineOptions(values: ReadOptions['values']): PaymentOptions {
  const { dialect = 'standard', baseUrl, merchantId, clientId, clientSecret, apiKey } = values;
  const unused = '-';
  return {
    dialect,
    signer: dialect === 'standard' ? () => '' : undefined,
    baseUrl: baseUrl ?? 'https://gateway.invalid',
    merchantId: merchantId ?? unused,
    clientId: clientId ?? unused,
    clientSecret: clientSecret ?? unused,
    apiKey: apiKey ?? unused,
  };
}

function storeUrlOf(url: string | undefined, source: string): string {
  const forms = STORE_URL_FORMS.slice(1).join(', ');
  if (!url) {
    throw new UsageError(
      source === '--store'
        ? `--store is empty: it takes ${forms}.`
        : `No store is named: ${source} is not set. Set it (in .env, in the file of --env, or in the environment), or ` +
            `give --store URL: ${forms}.`,
    );
  }
  if (url === 'memory:') {
    throw new UsageError(
      `${source} is memory: those payments are known to the application's own process alone and cannot be seen from ` +
        `here. Payments in another store (${forms}) can be seen.`,
    );
  }
  const problem = storeUrlProblem(url);
  if (problem !== null) throw new UsageError(`${source} ${problem}.`);
  return url;
}

/** Nest's Logger writes to standard output, where the command's own output goes: this one writes to standard error. */
export class StderrLogger implements LoggerService {
  /** @param warned is given each warning instead, if it is given at all */
  constructor(private readonly warned?: (message: string) => void) {}

  log(): void {}

  warn(message: unknown): void {
    if (this.warned) this.warned(String(message));
    else this.write(message);
  }

  error(message: unknown): void {
    this.write(message);
  }

  /** Makes this the logger of the process. */
  use(): void {
    Logger.overrideLogger(this);
  }

  private write(message: unknown): void {
    process.stderr.write(`${escaped(format(message))}\n`);
  }
}
