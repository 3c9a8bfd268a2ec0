import { ConfigurableModuleBuilder, type DynamicModule, type FactoryProvider, type Provider } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModulesContainer } from '@nestjs/core';
import { EventDispatcher } from '../events/event-dispatcher.js';
import { HandlerFinder } from '../events/handler-finder.js';
import { PlainEvents } from '../events/plain-events.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import { GatewayTrouble } from '../gateway/gateway-trouble.js';
import { GatewayTransport } from '../gateway/transport/gateway-transport.js';
import { OWN_OPERATIONS, PaymentHealth } from '../health/payment-health.js';
import { CallbackReceiver } from '../http/callback-receiver.js';
import { CallbackResponder } from '../http/callback-responder.js';
import { createCallbackController } from '../http/callback.controller.js';
import { BinInquiries } from '../operations/bin.js';
import { DirectPayments } from '../operations/direct.js';
import { HostedPayments } from '../operations/hosted.js';
import { Inquiries } from '../operations/inquiry.js';
import { Opening } from '../operations/opening.js';
import { Refunds } from '../operations/refund.js';
import { Resolutions } from '../operations/resolution.js';
import { ReturnUrlMaker } from '../operations/return-urls.js';
import { PaymentOperations } from '../operations/staff.js';
import { ThreeDPayments } from '../operations/three-d.js';
import { CallbackRoute, type PaymentOptions, type PaymentStructure, routeOf } from '../options/payment-options.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { resolveSettings } from '../options/resolve-settings.js';
import { PaymentService } from '../payment.service.js';
import { DEFAULT_ACCOUNT, variableOf } from '../payment/account.js';
import { Reconciler } from '../reconciler/reconciler.js';
import { PaymentClock, SystemClock } from '../runtime/clock.js';
import { Hidden } from '../runtime/hidden.js';
import { Randomness, SystemRandomness } from '../runtime/randomness.js';
import { InFlight, Refusals, ProcessHold } from '../settlement/in-flight.js';
import { SettlementRules } from '../settlement/outcomes.js';
import { OwedWrites } from '../settlement/owed-writes.js';
import { PaymentWriter } from '../settlement/writer.js';
import { PaymentReader, RefundReader } from '../settlement/records.js';
import { StoreClock } from '../settlement/store-clock.js';
import { openStore } from '../store/open-store.js';
import { PAYMENT_STORE } from '../store/payment-store.js';
import { AccountRegistration, ScopeCheck } from './account-registration.js';
import { LifeCycle } from './life-cycle.js';
import { PaymentSimulator } from './payment-simulator.js';
import { StartUpReport } from './start-up-report.js';
import {
  OWN_HEALTH,
  OWN_SIMULATOR,
  PAYMENT_OPTIONS,
  paymentHealthToken,
  paymentHttpToken,
  paymentOperationsToken,
  paymentSimulatorToken,
  paymentToken,
} from './tokens.js';

/** Turns the builder's definition into the module of one account. */
function assemble(definition: DynamicModule, structure: PaymentStructure): DynamicModule {
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
        useFactory: (
          options: Hidden<PaymentOptions | undefined>,
          discovery: DiscoveryService,
          modules: ModulesContainer,
        ) =>
          resolveSettings(
            options.reveal() ?? {},
            structure,
            process.env,
            registration.problemsAmong(discovery, modules),
          ),
        inject: [PAYMENT_OPTIONS, DiscoveryService, ModulesContainer],
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
      LifeCycle,
      PlainEvents,
      HandlerFinder,
      EventDispatcher,
      PaymentReader,
      RefundReader,
      ProcessHold,
      OwedWrites,
      StoreClock,
      SettlementRules,
      PaymentWriter,
      Opening,
      DirectPayments,
      Refunds,
      ThreeDPayments,
      HostedPayments,
      BinInquiries,
      Inquiries,
      Resolutions,
      Reconciler,
      InFlight,
      Refusals,
      StartUpReport,
      CallbackReceiver,
      CallbackResponder,
      { provide: service, useClass: PaymentService },
      { provide: operations, useClass: PaymentOperations },
      { provide: health, useClass: PaymentHealth },
      { provide: OWN_OPERATIONS, useExisting: operations },
      { provide: OWN_HEALTH, useExisting: health },
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

const STRUCTURE_DEFAULTS: PaymentStructure = { isGlobal: true, callback: {}, name: undefined };

export const { ConfigurableModuleClass, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<PaymentOptions>({ moduleName: 'Payment', optionsInjectionToken: PAYMENT_OPTIONS })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createPaymentOptions')
    .setExtras<PaymentStructure>(STRUCTURE_DEFAULTS, assemble)
    .build();
