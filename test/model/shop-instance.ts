import {
  EVENT_STATES,
  morposDialect,
  type PaymentRecord,
  PaymentService,
  type PaymentState,
  type PaymentStore,
} from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import { assembleFlows } from '../flows/assembled-flows.js';
import { ModelGateway } from './model-gateway.js';
import { SESSION_MS } from './payment-model.js';

const ALL_STATES: PaymentState[] = [...EVENT_STATES, 'charging', 'initiating', 'awaiting', 'authorizing'];

/** Far more than anything takes. */
const MAX_TURNS = 100_000;

const DIALECT = { ...morposDialect({ codes: { notFoundCodes: new Set(['B0100']) } }), requiredCallbackFields: [] };

/** What outlives a crash: the store, the gateway and the time. The application before them is put up anew after each. */
export class Shop {
  readonly gateway = new ModelGateway();
  /** What instances that were left for dead are still about, by conversationId. */
  readonly zombies = new Map<string, Promise<unknown>>();
  /** Events as the awaited handler heard them. */
  readonly told: string[] = [];
  payments!: PaymentService;
  isVetoing = false;

  private constructor(
    readonly store: PaymentStore,
    readonly clock: TestClock,
  ) {}

  static async open(makeStore: (clock: TestClock) => PaymentStore): Promise<Shop> {
    const clock = new TestClock();
    const store = makeStore(clock);
    await store.open();
    const shop = new Shop(store, clock);
    await shop.restart();
    return shop;
  }

  /** The instance before is left as it is: hung, but perhaps not dead. Put together by hand, since that is a hundred times quicker. */
  async restart(): Promise<void> {
    const { store, clock } = this;
    const options = {
      dialect: DIALECT,
      sessionTtlMs: SESSION_MS,
      beforeAuth3d: () => !this.isVetoing,
    };
    const transport = this.gateway as unknown as GatewayTransport;
    const { payments, events, settings } = assembleFlows({ store, clock, transport, options });
    this.payments = payments;
    await events.announce([
      {
        id: 'journal',
        account: settings.account,
        types: EVENT_STATES.map((state) => `payment.${state}` as const),
        concurrency: 10,
        timeoutMs: null,
        handle: ({ payment }) => void this.told.push(`${payment.conversationId}:${payment.version} ${payment.state}`),
      },
    ]);
  }

  /** Sees work through, also where it sleeps before it tries again. */
  async see<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
    let settled: PromiseSettledResult<T> | null = null;
    void Promise.allSettled([work]).then(([result]) => (settled = result));
    for (let turns = 0; !settled; turns += 1) {
      if (turns > MAX_TURNS) throw new Error('What is waited for never ends.');
      await new Promise(setImmediate);
      if (!settled && this.gateway.play === 'notSent' && this.clock.sleeping > 0) await this.clock.advance(2_000);
    }
    return settled;
  }

  /** Whoever still hangs gets an answer: a payment under way keeps its process alive. */
  async close(): Promise<void> {
    for (const answer of this.gateway.hanging.values()) answer();
    await Promise.all(this.zombies.values());
    await this.store.close();
  }

  records(): Promise<PaymentRecord[]> {
    return this.store.listByState('default', ALL_STATES, 1_000);
  }
}
