import { type AddressInfo, Server } from 'node:net';
import { PaymentConfigurationError } from '../errors/payment-errors.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import { SIMULATOR_OPTIONS, simulatorProblem } from '../options/simulator-setting.js';
import { SIMULATOR_URL } from '../options/url-checks.js';
import { DEFAULT_ACCOUNT, variableOf } from '../payment/account.js';
import type { PaymentClock } from '../runtime/clock.js';
import type {
  BankCallback,
  FaultHandle,
  FaultOptions,
  HostedCallback,
  PayAtPageOptions,
  Simulator,
  SimulatorLedger,
  TestCard,
} from '../simulator/index.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';

/** A running simulator, and the test cards that are known once its code is loaded. */
interface RunningSimulator {
  readonly simulator: Simulator;
  readonly smsCode: string;
  currentTestCards(): readonly TestCard[];
}

/**
 * The gateway and the bank inside the application, while `baseUrl` is `simulator:`. Inject it by its class, or a named
 * account's by `paymentSimulatorToken(name)`; in a test, `app.get(PaymentSimulator)`.
 *
 * ```ts
 * const { conversationId } = await payments.init3d(input);
 * const { request } = simulator.approve(conversationId); // what the buyer's browser would post
 * await fetch(request.url, request);
 * expect(simulator.ledger.chargedTimes(conversationId)).toBe(1);
 * ```
 *
 * It can always be injected. While `baseUrl` is a real gateway, `isRunning` is false, and everything else throws
 * PaymentConfigurationError.
 */
export class PaymentSimulator {
  /** #private, since `inspect` would otherwise print the cards that buyers typed at its bank. */
  readonly #running: RunningSimulator | null;

  private constructor(
    private readonly account: string,
    running: RunningSimulator | null,
  ) {
    this.#running = running;
  }

  /**
   * Starts the simulator of an account whose `baseUrl` asks for one, and logs a warning.
   *
   * @throws PaymentConfigurationError when it cannot listen
   * @internal
   */
  static async open(settings: PaymentSettings, clock: PaymentClock): Promise<PaymentSimulator> {
    const { account, baseUrl, luhn } = settings;
    if (baseUrl !== SIMULATOR_URL) return new PaymentSimulator(account, null);
    // Loaded only when it is used.
    const { currentTestCards, SMS_CODE, startSimulator } = await import('../simulator/index.js');
    const { dialect, merchantId, clientId, clientSecret, apiKey } = SIMULATOR_OPTIONS;
    const simulator = await startSimulator({
      dialect,
      credentials: { merchantId, clientId, clientSecret, apiKey },
      luhn,
      clock: () => clock.now(),
      requestLimit: 0,
    }).catch(() => {
      throw problemOf(account, 'cannot be simulator: since no port of 127.0.0.1 can be opened');
    });
    const opened = new PaymentSimulator(account, {
      simulator,
      smsCode: SMS_CODE,
      currentTestCards: () => currentTestCards(clock.now()),
    });
    new PaymentLogger().warn(opened.describe());
    return opened;
  }

  /**
   * Has the server of the application listen on this machine alone while NODE_ENV is not set: it may be one that takes
   * real orders.
   *
   * @internal
   */
  guard(server: unknown): void {
    if (!this.isRunning || process.env['NODE_ENV'] || !(server instanceof Server)) return;
    // Before the listener of whoever called `listen`, whose promise is then rejected.
    server.prependListener('listening', () => {
      const address = server.address();
      if (isLoopbackAddress(address)) return;
      // Not at once, since Fastify still reads the address; no connection is taken before.
      process.nextTick(() => server.close());
      const where = `while NODE_ENV is not set and the server listens on ${shownAddress(address)}, not on 127.0.0.1 alone`;
      server.emit('error', new PaymentConfigurationError([simulatorProblem(this.account, where)]));
    });
  }

  /** Whether `baseUrl` is `simulator:`. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** The gateway's base URL, without a slash at its end. */
  get url(): string {
    return this.running.simulator.url;
  }

  /** What was charged, and how often the gateway was asked to. */
  get ledger(): SimulatorLedger {
    return this.running.simulator.ledger;
  }

  /** Cards that can be paid with, as `cardDetails` takes them: `{ cardNo, expDate, cvv }`. None has expired. */
  get testCards(): readonly TestCard[] {
    return this.running.currentTestCards();
  }

  /** The code that a buyer types on the bank's page to be verified. */
  get smsCode(): string {
    return this.running.smsCode;
  }

  /** Queues a fault for the next request of an operation: a lost answer, a declined one, a connection that is reset. */
  fail(options: FaultOptions): FaultHandle {
    return this.running.simulator.fail(options);
  }

  /**
   * Plays a buyer who types the right code at the bank. Nothing is sent: the request that the bank would have the
   * browser send is returned, for `fetch(request.url, request)`, or `app.inject(request)` on Fastify.
   *
   * @param conversationIdOrPage the payment, or the page that `init3d` returned
   * @throws Error when the bank knows no such payment
   */
  approve(conversationIdOrPage: string): BankCallback {
    return this.running.simulator.approve(conversationIdOrPage);
  }

  /**
   * Like {@link approve}, with another code: one of `MAGIC_PASSWORDS` of `nestjs-card-payment/simulator`, a wrong one,
   * or `cancel`.
   */
  answer(conversationIdOrPage: string, answer: { readonly code: string }): BankCallback {
    return this.running.simulator.bank.answer(conversationIdOrPage, answer);
  }

  /**
   * Plays a buyer who pays at the gateway's own page or in its form. Nothing is sent, as with {@link approve}.
   *
   * @param conversationIdOrUrl the payment, or the `redirectUrl` or `html` that `startHosted` returned
   * @throws Error when there is no such page, or it can no longer be paid
   * @experimental
   */
  payAtPage(conversationIdOrUrl: string, options?: PayAtPageOptions): HostedCallback {
    return this.running.simulator.payAtPage(conversationIdOrUrl, options);
  }

  /**
   * Plays a buyer who goes back from such a page without paying. The page stays open.
   *
   * @experimental
   */
  cancelAtPage(conversationIdOrUrl: string): HostedCallback {
    return this.running.simulator.cancelAtPage(conversationIdOrUrl);
  }

  /**
   * Closes such a page at the gateway, as its end would: it can no longer be paid.
   *
   * @experimental
   */
  closePage(conversationIdOrUrl: string): void {
    this.running.simulator.closePage(conversationIdOrUrl);
  }

  /** Forgets payments and faults; call it in `beforeEach`. */
  reset(): void {
    this.running.simulator.reset();
  }

  /**
   * Closes all connections and stops. The module does this when the application closes.
   *
   * @internal
   */
  async close(): Promise<void> {
    await this.#running?.simulator.close();
  }

  private get running(): RunningSimulator {
    if (!this.#running) throw problemOf(this.account, 'is not simulator:, so there is no PaymentSimulator to use');
    return this.#running;
  }

  private describe(): string {
    const { account, testCards, smsCode } = this;
    const [card] = testCards;
    const what = account === DEFAULT_ACCOUNT ? 'Payments' : `Payments of the account "${account}"`;
    const example = card ? `Test card ${card.cardNo}, ${card.expDate} (MMyy), ${card.cvv}; ` : '';
    return `${what} go to the embedded simulator: no money moves. ${example}SMS code ${smsCode}.`;
  }
}

/** A socket file may be one of a proxy's. */
function isLoopbackAddress(address: AddressInfo | string | null): boolean {
  return typeof address === 'object' && address !== null && /^(?:127\.|::1$)/.test(address.address);
}

function shownAddress(address: AddressInfo | string | null): string {
  return typeof address === 'object' && address !== null ? address.address : 'a socket file';
}

function problemOf(account: string, message: string): PaymentConfigurationError {
  return new PaymentConfigurationError([{ option: 'baseUrl', variable: variableOf(account, 'baseUrl'), message }]);
}
