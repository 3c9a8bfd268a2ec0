import { ApplicationConfig } from '@nestjs/core';
import { morposDialect, type PaymentOptions, PaymentService, type PaymentStore } from 'nestjs-card-payment';
import { CallbackReceiver } from '../../lib/callback/callback-receiver.js';
import { EventDispatcher } from '../../lib/events/event-dispatcher.js';
import type { PlainEvents } from '../../lib/events/plain-events.js';
import { DirectFlow } from '../../lib/flows/direct-flow.js';
import { DuePayments } from '../../lib/flows/due-payments.js';
import { InFlight } from '../../lib/flows/in-flight.js';
import { InquiryFlow } from '../../lib/flows/inquiry-flow.js';
import { OperatorFlow } from '../../lib/flows/operator-flow.js';
import { OwedOutcomes } from '../../lib/flows/owed-outcomes.js';
import { PaymentChanges } from '../../lib/flows/payment-changes.js';
import { PaymentReader } from '../../lib/flows/payment-reader.js';
import { PaymentWriter } from '../../lib/flows/payment-writer.js';
import { Reconciler } from '../../lib/flows/reconciler.js';
import { ReturnUrlMaker } from '../../lib/flows/return-urls.js';
import { ThreeDFlow } from '../../lib/flows/three-d-flow.js';
import { GatewayClient } from '../../lib/gateway/gateway-client.js';
import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import type { PaymentClock } from '../../lib/payment/clock.js';

export const NO_PLAIN_EVENTS = {
  connect: () => Promise.resolve(),
  emit: () => undefined,
} as unknown as PlainEvents;

/** Knows payments that the gateway has never heard of by a code of their own. */
export const TEST_DIALECT = {
  ...morposDialect({ codes: { notFoundCodes: new Set(['B0100']) } }),
  requiredCallbackFields: [],
};

interface Parts {
  readonly store: PaymentStore;
  readonly clock: PaymentClock;
  readonly transport: GatewayTransport;
  readonly options?: PaymentOptions;
  readonly waitMs?: number;
}

export type AssembledFlows = ReturnType<typeof assembleFlows>;

/** One instance of the module, put together by hand: a hundred times quicker than Nest does it. */
export function assembleFlows({ store, clock, transport, options, waitMs = 25_000 }: Parts) {
  const settings = resolveSettings(
    {
      baseUrl: 'https://gateway.example',
      publicUrl: 'https://shop.example',
      merchantId: 'merchant',
      clientId: 'client',
      clientSecret: 'c2VjcmV0',
      apiKey: 'key',
      dialect: TEST_DIALECT,
      store,
      ...options,
    },
    {},
    {},
  );
  const route = { path: 'payments', waitMs };
  const events = new EventDispatcher(store, NO_PLAIN_EVENTS, clock, settings);
  const changes = new PaymentChanges(store, clock, events);
  const owed = new OwedOutcomes(changes);
  const reader = new PaymentReader(store, settings);
  const writer = new PaymentWriter(changes, owed, clock);
  const due = new DuePayments(store, clock, settings);
  const gateway = new GatewayClient(settings, transport, clock);
  const urls = new ReturnUrlMaker(settings, route, new ApplicationConfig());
  const direct = new DirectFlow(reader, writer, gateway, urls, clock, settings);
  const threeD = new ThreeDFlow(reader, writer, gateway, urls, clock, settings);
  const inquiries = new InquiryFlow(reader, writer, gateway, settings);
  const reconciler = new Reconciler(due, owed, writer, inquiries, gateway, events, clock, settings);
  const operator = new OperatorFlow(reader, writer);
  const inFlight = new InFlight();
  const payments = new PaymentService(direct, threeD, inquiries, operator, reconciler, reader, inFlight);
  const receiver = new CallbackReceiver(reader, threeD, inFlight, route, clock, settings);
  return { settings, events, changes, owed, reader, writer, due, reconciler, inFlight, payments, receiver };
}
