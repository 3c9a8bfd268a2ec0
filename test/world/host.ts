import type { PaymentOptions, PaymentService } from 'nestjs-card-payment';
import type { TestClock } from 'nestjs-card-payment/testing';
import type { PaymentHandler } from '../../lib/outbox/handler-finder.js';
import { EVENT_STATES, REFUND_EVENT_STATES } from '../../lib/payment/payment-state.js';
import { assembleFlows, type AssembledFlows, TEST_DIALECT } from '../flows/assembled-flows.js';
import { type Chance, SeededRandomness } from '../rigs/chance.js';
import { GATEWAY_TIMEOUT_MS, type WorldGateway } from './gateway.js';
import type { HandlerWork } from './handler-work.js';
import { HostClock, Life } from './life.js';
import { StoreLine, type StoreWeather } from './store-line.js';
import type { Trace } from './trace.js';
import type { LedgerEventType } from '../../lib/payment/ledger-event.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { refundsAccountOf } from '../../lib/payment/account.js';

export type Version = 1 | 2;

export const ACCOUNT = 'default';
export const REFUNDS = refundsAccountOf(ACCOUNT);

const OF_PAYMENTS = EVENT_STATES.map((state): LedgerEventType => `payment.${state}`);
const OF_REFUNDS = REFUND_EVENT_STATES.map((state): LedgerEventType => `refund.${state}`);

type Declared = Pick<PaymentHandler, 'id' | 'account' | 'types'>;

/** What each version of the shop declares. */
const HANDLERS: Readonly<Record<Version, readonly Declared[]>> = {
  1: [
    { id: 'orders', account: ACCOUNT, types: ['payment.succeeded'] },
    { id: 'orders', account: REFUNDS, types: ['refund.succeeded'] },
    { id: 'mail', account: ACCOUNT, types: ['payment.succeeded', 'payment.failed'] },
  ],
  2: [
    { id: 'orders', account: ACCOUNT, types: OF_PAYMENTS },
    { id: 'orders', account: REFUNDS, types: OF_REFUNDS },
    { id: 'mail', account: ACCOUNT, types: ['payment.succeeded', 'payment.failed'] },
    { id: 'audit', account: ACCOUNT, types: OF_PAYMENTS },
  ],
};
const CONCURRENCY = 2;

/** What all hosts share. */
export interface Surroundings {
  readonly clock: TestClock;
  readonly chance: Chance;
  readonly trace: Trace;
  readonly gateway: WorldGateway;
  readonly store: PaymentStore;
  readonly work: HandlerWork;
  readonly options: PaymentOptions;
  /** Whether the shop refunds. If not, it has no handlers for that. */
  readonly givesBack: boolean;
  /** How often the signer is slow. */
  slowSigns: number;
  /** Plants a fault in the module. */
  readonly tamper?: (flows: AssembledFlows) => void;
}

export interface HostSettings {
  readonly name: string;
  readonly version: Version;
  readonly background: boolean;
  readonly aheadMs: number;
  readonly weather: StoreWeather;
}

/** One process of the shop, from its start until it stops or is killed. */
export class Host {
  readonly name: string;
  readonly version: Version;
  readonly life: Life;
  readonly line: StoreLine;
  readonly clock: HostClock;
  readonly flows: AssembledFlows;
  isStopping = false;
  isReady = false;

  constructor(
    { name, version, background, aheadMs, weather }: HostSettings,
    private readonly around: Surroundings,
  ) {
    const { clock, chance, trace, gateway, store, options, tamper } = around;
    this.name = `${name}/v${version}`;
    this.version = version;
    this.life = new Life(clock);
    this.clock = new HostClock(clock, this.life, aheadMs);
    this.line = new StoreLine(this.name, weather, clock, this.life, chance, trace);
    let ids = 0;
    this.flows = assembleFlows({
      store: this.line.to(store),
      clock: this.clock,
      transport: gateway.transportOf(this.life),
      random: new SeededRandomness(chance.between(0, 2 ** 31)),
      options: {
        ...options,
        background,
        timeoutMs: GATEWAY_TIMEOUT_MS,
        connectTimeoutMs: 5_000,
        dialect: {
          ...TEST_DIALECT,
          newConversationId: () => `${name}-${(ids += 1)}`,
          sign: async (body, context) => {
            if (chance.happens(around.slowSigns)) await this.clock.sleep(chance.between(1, 12_000));
            return TEST_DIALECT.sign(body, context);
          },
        },
      },
    });
    tamper?.(this.flows);
  }

  get payments(): PaymentService {
    return this.flows.payments;
  }

  /** Whether requests are sent to it. */
  get isUp(): boolean {
    return this.isReady && !this.isStopping && !this.life.isDead;
  }

  typesOf(handlerId: string): readonly LedgerEventType[] {
    return this.declared.filter(({ id }) => id === handlerId).flatMap(({ types }) => types);
  }

  /** Starts as the module does. A process that cannot announce its handlers ends. */
  async start(): Promise<void> {
    const { time, events, reconciler } = this.flows;
    await time.start();
    try {
      await events.announce(this.handlers());
    } catch {
      this.kill();
      return;
    }
    reconciler.start();
    this.isReady = true;
  }

  /** Stops as the module does at a shutdown. */
  async stop(): Promise<void> {
    this.isStopping = true;
    const { reconciler, inFlight, owed, time } = this.flows;
    inFlight.refuseNew();
    owed.renewHold();
    await reconciler.stop();
    await inFlight.close();
    await owed.close();
    time.stop();
    this.kill();
  }

  kill(): void {
    this.life.kill();
  }

  /** A request to this host; it is never answered when the process is killed. */
  request<T>(ask: (payments: PaymentService) => Promise<T>): Promise<T> {
    return this.life.ask(() => ask(this.payments));
  }

  /** Events of refunds come from an account of their own. */
  private get declared(): readonly Declared[] {
    const all = HANDLERS[this.version];
    return this.around.givesBack ? all : all.filter(({ account }) => account === ACCOUNT);
  }

  private handlers(): PaymentHandler[] {
    return this.declared.map((declared) => ({
      ...declared,
      concurrency: CONCURRENCY,
      timeoutMs: null,
      handle: (event) => this.around.work.run(this, declared.id, event),
    }));
  }
}
