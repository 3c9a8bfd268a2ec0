import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { morposDialect, type PaymentOptions, PaymentService } from 'nestjs-card-payment';
import { CallbackReceiver } from '../../lib/callback/callback-receiver.js';
import { EventDispatcher } from '../../lib/outbox/event-dispatcher.js';
import type { PlainEvents } from '../../lib/outbox/plain-events.js';
import { BinFlow } from '../../lib/flows/bin-flow.js';
import { DirectFlow } from '../../lib/flows/direct-flow.js';
import { HostedFlow } from '../../lib/flows/hosted-flow.js';
import { DuePayments } from '../../lib/flows/background/due-payments.js';
import { InFlight, InFlightLimit, type ProcessHold } from '../../lib/process/in-flight.js';
import { InquiryFlow } from '../../lib/flows/inquiry-flow.js';
import { OperatorFlow } from '../../lib/flows/operator-flow.js';
import { OwedWrites } from '../../lib/flows/settling/owed-writes.js';
import { PaymentChanges } from '../../lib/flows/settling/payment-changes.js';
import { PaymentReader } from '../../lib/flows/payment-reader.js';
import { RefundFlow } from '../../lib/flows/refund-flow.js';
import { RefundReader } from '../../lib/flows/refund-reader.js';
import { PaymentWriter } from '../../lib/flows/settling/payment-writer.js';
import { Reconciler } from '../../lib/flows/background/reconciler.js';
import { ReturnUrlMaker } from '../../lib/flows/return-urls.js';
import { StoreClock } from '../../lib/process/store-clock.js';
import { ThreeDFlow } from '../../lib/flows/three-d-flow.js';
import { GatewayClient } from '../../lib/gateway/gateway-client.js';
import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import type { PaymentClock } from '../../lib/payment/clock.js';
import { type Randomness, SystemRandomness } from '../../lib/payment/randomness.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

export const NO_PLAIN_EVENTS = {
  connect: () => Promise.resolve(),
  emit: () => undefined,
} as unknown as PlainEvents;

/** The clock stands still in most tests, where a real hold would never let the test process end. */
export const NO_HOLD: ProcessHold = { hold: () => () => undefined, during: (work) => work() };

/** A dialect with a separate code for a payment that the gateway does not know. */
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
  readonly random?: Randomness;
  readonly processHold?: ProcessHold;
}

export type AssembledFlows = ReturnType<typeof assembleFlows>;

/** One instance of the module, assembled without Nest, which would take a hundred times as long. */
export function assembleFlows({
  store,
  clock,
  transport,
  options,
  waitMs = 25_000,
  random = new SystemRandomness(),
  processHold = NO_HOLD,
}: Parts) {
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
  const time = new StoreClock(clock, store);
  const events = new EventDispatcher(store, NO_PLAIN_EVENTS, clock, random, settings);
  const changes = new PaymentChanges(store, time, events);
  const owed = new OwedWrites(changes, clock, processHold);
  const reader = new PaymentReader(store, settings);
  const refunds = new RefundReader(store, settings);
  const writer = new PaymentWriter(changes, owed, time);
  const due = new DuePayments(store, settings);
  const gateway = new GatewayClient(settings, transport, clock);
  const urls = new ReturnUrlMaker(settings, route, new ApplicationConfig(), new HttpAdapterHost());
  const direct = new DirectFlow(reader, writer, gateway, urls, time, random, settings);
  const threeD = new ThreeDFlow(reader, writer, gateway, urls, time, random, settings);
  const inquiries = new InquiryFlow(reader, refunds, writer, gateway, time, random, settings);
  const hosted = new HostedFlow(reader, writer, inquiries, gateway, urls, time, random, settings);
  const reconciler = new Reconciler(due, owed, writer, inquiries, gateway, events, time, random, settings);
  const operator = new OperatorFlow(reader, refunds, writer, time);
  const inFlight = new InFlight(processHold);
  inFlight.open();
  const limit = new InFlightLimit(settings, clock);
  const refundFlow = new RefundFlow(reader, refunds, writer, gateway, time, random, settings);
  const payments = new PaymentService(
    direct,
    threeD,
    hosted,
    new BinFlow(gateway, clock, settings),
    refundFlow,
    inquiries,
    operator,
    reconciler,
    reader,
    inFlight,
    limit,
  );
  const receiver = new CallbackReceiver(reader, threeD, hosted, inFlight, route, clock, settings);
  return {
    settings,
    time,
    events,
    changes,
    owed,
    reader,
    writer,
    due,
    gateway,
    reconciler,
    inFlight,
    limit,
    payments,
    receiver,
  };
}
