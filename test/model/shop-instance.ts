import {
  EVENT_STATES,
  morposDialect,
  type PaymentHistoryEntry,
  PaymentService,
  type PaymentState,
  REFUND_EVENT_STATES,
  type RefundState,
} from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import { assembleFlows } from '../flows/assembled-flows.js';
import { ModelGateway } from './model-gateway.js';
import { SESSION_MS } from './payment-model.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { refundsAccountOf } from '../../lib/payment/account.js';

const ALL_STATES: PaymentState[] = [...EVENT_STATES, 'charging', 'initiating', 'awaiting', 'authorizing'];
const ALL_REFUND_STATES: RefundState[] = [...REFUND_EVENT_STATES, 'refunding'];

/** Far more than any work takes. */
const MAX_TURNS = 100_000;

const REFUNDS = refundsAccountOf('default');
const DIALECT = { ...morposDialect({ codes: { notFoundCodes: new Set(['B0100']) } }), requiredCallbackFields: [] };

/** The store, the gateway and the time outlive a crash. The application is started again after each. */
export class Shop {
  readonly gateway = new ModelGateway();
  /** Work of instances that were given up, by conversationId or refundId. */
  readonly zombies = new Map<string, Promise<unknown>>();
  /** The events that the awaited handlers were called with. */
  readonly told: string[] = [];
  payments!: PaymentService;
  isVetoing = false;
  /** The id of the next refund for which none is given. */
  nextRefundId = '';

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

  /** The earlier instance is left as it is, hung. The flows are put together by hand, which is a hundred times faster. */
  async restart(): Promise<void> {
    const { store, clock } = this;
    const options = {
      dialect: { ...DIALECT, newConversationId: () => this.nextRefundId },
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
      {
        id: 'journal',
        account: REFUNDS,
        types: REFUND_EVENT_STATES.map((state) => `refund.${state}` as const),
        concurrency: 10,
        timeoutMs: null,
        handle: (event) => {
          if (!('refund' in event)) throw new Error(`A handler of refunds was called with ${event.type}.`);
          const { refundId, version, state } = event.refund;
          this.told.push(`${refundId}:${version} ${state}`);
        },
      },
    ]);
  }

  /** Waits for work to end, also when it sleeps before it tries again. */
  async see<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
    let settled: PromiseSettledResult<T> | null = null;
    void Promise.allSettled([work]).then(([result]) => (settled = result));
    for (let turns = 0; !settled; turns += 1) {
      if (turns > MAX_TURNS) throw new Error('The work never ends.');
      await new Promise(setImmediate);
      if (!settled && this.gateway.play === 'notSent' && this.clock.sleeping > 0) await this.clock.advance(2_000);
    }
    return settled;
  }

  /** Answers requests that still hang, since a payment under way keeps its process alive. */
  async close(): Promise<void> {
    for (const answer of this.gateway.hanging.values()) answer();
    await Promise.all(this.zombies.values());
    await this.store.close();
  }

  records(): Promise<PaymentRecord[]> {
    return this.store.listByState('default', ALL_STATES, 1_000);
  }

  refundRecords(): Promise<PaymentRecord[]> {
    return this.store.listByState(REFUNDS, ALL_REFUND_STATES, 1_000);
  }

  refundHistory(refundId: string): Promise<PaymentHistoryEntry[]> {
    return this.store.history(REFUNDS, refundId);
  }
}
