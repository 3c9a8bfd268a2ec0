import { ApplicationConfig } from '@nestjs/core';
import {
  EVENT_STATES,
  morposDialect,
  type PaymentRecord,
  PaymentService,
  type PaymentState,
  type PaymentStore,
} from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import { ReturnUrlMaker } from '../../lib/flows/return-urls.js';
import { EventDispatcher } from '../../lib/events/event-dispatcher.js';
import type { PlainEvents } from '../../lib/events/plain-events.js';
import { GatewayClient } from '../../lib/gateway/gateway-client.js';
import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import { DirectFlow } from '../../lib/flows/direct-flow.js';
import { InFlight } from '../../lib/flows/in-flight.js';
import { InquiryFlow } from '../../lib/flows/inquiry-flow.js';
import { OperatorFlow } from '../../lib/flows/operator-flow.js';
import { DuePayments } from '../../lib/flows/due-payments.js';
import { OwedOutcomes } from '../../lib/flows/owed-outcomes.js';
import { PaymentChanges } from '../../lib/flows/payment-changes.js';
import { PaymentReader } from '../../lib/flows/payment-reader.js';
import { PaymentWriter } from '../../lib/flows/payment-writer.js';
import { Reconciler } from '../../lib/flows/reconciler.js';
import { ThreeDFlow } from '../../lib/flows/three-d-flow.js';
import { ModelGateway } from './model-gateway.js';
import { SESSION_MS } from './payment-model.js';

const ALL_STATES: PaymentState[] = [...EVENT_STATES, 'charging', 'initiating', 'awaiting', 'authorizing'];

const DIALECT = { ...morposDialect({ codes: { notFoundCodes: new Set(['B0100']) } }), requiredCallbackFields: [] };

/** What outlives a crash: the store, the gateway and the time. The application before them is put up anew after each. */
export class Shop {
  readonly clock = new TestClock();
  readonly gateway = new ModelGateway();
  /** What instances that were left for dead are still about, by conversationId. */
  readonly zombies = new Map<string, Promise<unknown>>();
  /** Events as the awaited handler heard them. */
  readonly told: string[] = [];
  payments!: PaymentService;
  isVetoing = false;

  private constructor(readonly store: PaymentStore) {}

  static async open(store: PaymentStore): Promise<Shop> {
    await store.open();
    const shop = new Shop(store);
    await shop.restart();
    return shop;
  }

  /** The instance before is left as it is: hung, but perhaps not dead. Put together by hand, since that is a hundred times quicker. */
  async restart(): Promise<void> {
    const { store, clock } = this;
    const settings = resolveSettings(
      {
        baseUrl: 'https://gateway.example',
        publicUrl: 'https://shop.example',
        merchantId: 'merchant',
        clientId: 'client',
        clientSecret: 'c2VjcmV0',
        apiKey: 'key',
        dialect: DIALECT,
        store,
        sessionTtlMs: SESSION_MS,
        beforeAuth3d: () => !this.isVetoing,
      },
      {},
      {},
    );
    const plain = { connect: () => Promise.resolve(), emit: () => undefined } as unknown as PlainEvents;
    const events = new EventDispatcher(store, plain, clock, settings);
    const changes = new PaymentChanges(store, clock, events);
    const owed = new OwedOutcomes(changes);
    const reader = new PaymentReader(store, settings);
    const writer = new PaymentWriter(changes, owed, clock);
    const due = new DuePayments(store, clock, settings);
    const gateway = new GatewayClient(settings, this.gateway as unknown as GatewayTransport, clock);
    const urls = new ReturnUrlMaker(settings, { path: 'payments', waitMs: 25_000 }, new ApplicationConfig());
    const direct = new DirectFlow(reader, writer, gateway, urls, clock, settings);
    const threeD = new ThreeDFlow(reader, writer, gateway, urls, clock, settings);
    const inquiries = new InquiryFlow(reader, writer, gateway, settings);
    const reconciler = new Reconciler(due, owed, writer, inquiries, gateway, events, clock, settings);
    const operator = new OperatorFlow(reader, writer);
    this.payments = new PaymentService(direct, threeD, inquiries, operator, reconciler, reader, new InFlight());
    await events.announce([
      {
        id: 'journal',
        account: settings.account,
        types: EVENT_STATES.map((state) => `payment.${state}` as const),
        handle: ({ eventId, payment }) => void this.told.push(`${eventId} ${payment.state}`),
      },
    ]);
  }

  /** Sees work through, also where it sleeps before it tries again. */
  async see<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
    let settled: PromiseSettledResult<T> | null = null;
    void Promise.allSettled([work]).then(([result]) => (settled = result));
    while (!settled) {
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
