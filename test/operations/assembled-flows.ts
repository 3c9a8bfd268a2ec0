import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { morposDialect, type PaymentOptions, PaymentService } from 'nestjs-card-payment';
import { CallbackReceiver } from '../../lib/http/callback-receiver.js';
import { EventDispatcher } from '../../lib/events/event-dispatcher.js';
import type { PlainEvents } from '../../lib/events/plain-events.js';
import { BinInquiries } from '../../lib/operations/bin.js';
import { DirectPayments } from '../../lib/operations/direct.js';
import { HostedPayments } from '../../lib/operations/hosted.js';
import { Reconciler } from '../../lib/reconciler/reconciler.js';
import { InFlight, type ProcessHold, Refusals } from '../../lib/settlement/in-flight.js';
import { Inquiries } from '../../lib/operations/inquiry.js';
import { Resolutions } from '../../lib/operations/resolution.js';
import { OwedWrites } from '../../lib/settlement/owed-writes.js';
import { PaymentWriter } from '../../lib/settlement/writer.js';
import { PaymentReader, RefundReader } from '../../lib/settlement/records.js';
import { Refunds } from '../../lib/operations/refund.js';
import { ReturnUrlMaker } from '../../lib/operations/return-urls.js';
import { StoreClock } from '../../lib/settlement/store-clock.js';
import { Opening } from '../../lib/operations/opening.js';
import { SettlementRules } from '../../lib/settlement/outcomes.js';
import { ThreeDPayments } from '../../lib/operations/three-d.js';
import { GatewayClient } from '../../lib/gateway/gateway-client.js';
import type { GatewayTransport } from '../../lib/gateway/transport/gateway-transport.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import type { PaymentClock } from '../../lib/runtime/clock.js';
import { type Randomness, SystemRandomness } from '../../lib/runtime/randomness.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

const NO_PLAIN_EVENTS = {
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

/** For what needs no gateway. */
export const RULES: SettlementRules = { dateOrder: 'dmy', canInquire: true, random: new SystemRandomness() };

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
  const owed = new OwedWrites(clock, processHold);
  const reader = new PaymentReader(store, settings);
  const refunds = new RefundReader(store, settings);
  const gateway = new GatewayClient(settings, transport, clock);
  const rules = new SettlementRules(settings, gateway, random);
  const writer = new PaymentWriter(store, time, events, owed, rules);
  const urls = new ReturnUrlMaker(settings, route, new ApplicationConfig(), new HttpAdapterHost());
  const opening = new Opening(reader, writer, urls, time, random, settings);
  const direct = new DirectPayments(opening, writer, gateway, time, settings);
  const threeD = new ThreeDPayments(opening, reader, writer, gateway, time, random, settings);
  const inquiries = new Inquiries(reader, refunds, writer, gateway, time, rules, settings);
  const hosted = new HostedPayments(opening, reader, writer, inquiries, gateway, time, random, settings);
  const reconciler = new Reconciler(store, owed, writer, inquiries, events, rules, time, settings);
  const operator = new Resolutions(reader, refunds, writer, time);
  const refusals = new Refusals(settings, clock);
  const inFlight = new InFlight(processHold, refusals, settings);
  inFlight.open();
  const refundFlow = new Refunds(reader, refunds, writer, gateway, time, random, settings);
  const payments = new PaymentService(
    direct,
    threeD,
    hosted,
    new BinInquiries(gateway, clock, refusals, settings),
    refundFlow,
    inquiries,
    operator,
    reconciler,
    reader,
    inFlight,
  );
  const receiver = new CallbackReceiver(reader, threeD, hosted, inFlight, route, clock, settings);
  return {
    settings,
    time,
    events,
    owed,
    reader,
    writer,
    opening,
    gateway,
    reconciler,
    inFlight,
    payments,
    receiver,
  };
}
