import type { DynamicModule, FactoryProvider, Provider } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { AccountLife } from './account-life.js';
import { createCallbackController } from './callback/callback.controller.js';
import { CallbackReceiver } from './callback/callback-receiver.js';
import { CallbackResponder, RefusalLog } from './callback/callback-responder.js';
import { ReturnUrlMaker } from './flows/return-urls.js';
import { EventDispatcher } from './outbox/event-dispatcher.js';
import { HandlerFinder } from './outbox/handler-finder.js';
import { PlainEvents } from './outbox/plain-events.js';
import { GatewayClient } from './gateway/gateway-client.js';
import { GatewayTrouble } from './gateway/gateway-trouble.js';
import { GatewayTransport } from './gateway/transport/gateway-transport.js';
import { AccountRegistration, ScopeCheck } from './options/account-registration.js';
import { PaymentGauges, PaymentHealth } from './health/payment-health.js';
import { CallbackRoute, type PaymentOptions, type PaymentStructure, routeOf } from './options/payment-options.js';
import { PaymentSettings } from './options/payment-settings.js';
import { resolveSettings } from './options/resolve-settings.js';
import { DEFAULT_ACCOUNT, variableOf } from './payment/account.js';
import { PaymentClock, SystemClock } from './payment/clock.js';
import { Hidden } from './payment/hidden.js';
import { Randomness, SystemRandomness } from './payment/randomness.js';
import { BinFlow } from './flows/bin-flow.js';
import { DirectFlow } from './flows/direct-flow.js';
import { InFlight, InFlightLimit, ProcessHold } from './process/in-flight.js';
import { HostedFlow } from './flows/hosted-flow.js';
import { InquiryFlow } from './flows/inquiry-flow.js';
import { OperatorFlow } from './flows/operator-flow.js';
import { DuePayments } from './flows/background/due-payments.js';
import { OwedWrites } from './flows/settling/owed-writes.js';
import { StartUpReport } from './start-up-report.js';
import { StoreClock } from './process/store-clock.js';
import { PaymentChanges } from './flows/settling/payment-changes.js';
import { PaymentReader } from './flows/payment-reader.js';
import { RefundFlow } from './flows/refund-flow.js';
import { RefundReader } from './flows/refund-reader.js';
import { PaymentWriter } from './flows/settling/payment-writer.js';
import { Reconciler } from './flows/background/reconciler.js';
import { ThreeDFlow } from './flows/three-d-flow.js';
import { PaymentService } from './payment.service.js';
import { PaymentSimulator } from './payment.simulator.js';
import { PaymentOperations } from './flows/staff.js';
import {
  OWN_SIMULATOR,
  PAYMENT_OPTIONS,
  paymentHealthToken,
  paymentHttpToken,
  paymentOperationsToken,
  paymentSimulatorToken,
  paymentToken,
} from './payment.tokens.js';
import { openStore } from './store/open-store.js';
import { PAYMENT_STORE } from './store/payment-store.js';

/** Turns the builder's definition into the module of one account. */
export function assemble(definition: DynamicModule, structure: PaymentStructure): DynamicModule {
  const { isGlobal = true, callback = {}, name } = structure;
  const account = name ?? DEFAULT_ACCOUNT;
  const route = routeOf(structure);
  const service = paymentToken(account);
  const operations = paymentOperationsToken(account);
  const http = paymentHttpToken(account);
  const health = paymentHealthToken(account);
  const simulator = paymentSimulatorToken(account);
  const receiver = CallbackReceiver.token(account);
  const registration = new AccountRegistration(account, route.path);

  return {
    ...definition,
    global: isGlobal,
    imports: [...(definition.imports ?? []), DiscoveryModule],
    controllers: callback === false ? [] : [createCallbackController(route.path ?? '', callback.decorators)],
    providers: [
      ...(definition.providers ?? []).map(withHiddenOptions),
      ScopeCheck,
      { provide: CallbackRoute, useValue: route },
      { provide: AccountRegistration, useValue: registration },
      {
        provide: PaymentSettings,
        useFactory: (options: Hidden<PaymentOptions | undefined>, discovery: DiscoveryService) =>
          resolveSettings(options.reveal() ?? {}, structure, process.env, registration.problemsAmong(discovery)),
        inject: [PAYMENT_OPTIONS, DiscoveryService],
      },
      { provide: PaymentClock, useClass: SystemClock },
      { provide: Randomness, useClass: SystemRandomness },
      {
        provide: PAYMENT_STORE,
        useFactory: ({ store, storeUrl, background }: PaymentSettings, clock: PaymentClock) =>
          openStore({ store, storeUrl, background, clock, variable: variableOf(account, 'storeUrl') }),
        inject: [PaymentSettings, PaymentClock],
      },
      {
        provide: GatewayTransport,
        useFactory: ({ timeoutMs, connectTimeoutMs, keepAliveMs, dispatcher }: PaymentSettings) =>
          new GatewayTransport({ timeoutMs, connectTimeoutMs, keepAliveMs, dispatcher: dispatcher ?? undefined }),
        inject: [PaymentSettings],
      },
      { provide: http, useFactory: (transport: GatewayTransport) => transport.http, inject: [GatewayTransport] },
      ReturnUrlMaker,
      {
        provide: OWN_SIMULATOR,
        useFactory: (settings: PaymentSettings, clock: PaymentClock) => PaymentSimulator.open(settings, clock),
        inject: [PaymentSettings, PaymentClock],
      },
      {
        provide: GatewayClient,
        useFactory: (
          settings: PaymentSettings,
          transport: GatewayTransport,
          clock: PaymentClock,
          simulator: PaymentSimulator,
        ) => {
          const baseUrl = simulator.isRunning ? simulator.url : settings.baseUrl;
          const trouble = new GatewayTrouble(settings.account, { dialect: settings.dialect, baseUrl }, clock);
          return new GatewayClient(settings, transport, clock, trouble, baseUrl);
        },
        inject: [PaymentSettings, GatewayTransport, PaymentClock, OWN_SIMULATOR],
      },
      AccountLife,
      PlainEvents,
      HandlerFinder,
      EventDispatcher,
      PaymentReader,
      RefundReader,
      PaymentChanges,
      ProcessHold,
      OwedWrites,
      StoreClock,
      PaymentWriter,
      DuePayments,
      DirectFlow,
      RefundFlow,
      ThreeDFlow,
      HostedFlow,
      BinFlow,
      InquiryFlow,
      OperatorFlow,
      Reconciler,
      InFlight,
      InFlightLimit,
      StartUpReport,
      CallbackReceiver,
      CallbackResponder,
      RefusalLog,
      { provide: service, useClass: PaymentService },
      { provide: operations, useClass: PaymentOperations },
      { provide: health, useClass: PaymentHealth },
      {
        provide: PaymentGauges,
        useFactory: (report: PaymentHealth, inFlight: InFlight, clock: StoreClock, settings: PaymentSettings) =>
          new PaymentGauges(report, inFlight, clock, settings),
        inject: [health, InFlight, StoreClock, PaymentSettings],
      },
      { provide: receiver, useExisting: CallbackReceiver },
      { provide: simulator, useExisting: OWN_SIMULATOR },
    ],
    exports: [service, operations, http, health, receiver, simulator],
  };
}

/** Hides the options, which hold the secrets, when the container or the module is printed. */
function withHiddenOptions(provider: Provider): Provider {
  if (!('provide' in provider) || provider.provide !== PAYMENT_OPTIONS) return provider;
  if ('useValue' in provider) return { ...provider, useValue: new Hidden(provider.useValue as PaymentOptions) };
  const { useFactory, ...factory } = provider as FactoryProvider<PaymentOptions | undefined>;
  return { ...factory, useFactory: async (...given: unknown[]) => new Hidden(await useFactory(...(given as never[]))) };
}
