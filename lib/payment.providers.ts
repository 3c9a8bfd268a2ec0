import type { DynamicModule } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { createCallbackController } from './callback/callback.controller.js';
import { CallbackReceiver } from './callback/callback-receiver.js';
import { CallbackResponder } from './callback/callback-responder.js';
import { ReturnUrlMaker } from './flows/return-urls.js';
import { EventDispatcher } from './events/event-dispatcher.js';
import { HandlerFinder } from './events/handler-finder.js';
import { PlainEvents } from './events/plain-events.js';
import { GatewayClient } from './gateway/gateway-client.js';
import { GatewayTransport } from './gateway/transport/gateway-transport.js';
import { AccountRegistration } from './options/account-registration.js';
import { CallbackRoute, routeOf } from './options/callback-route.js';
import type { PaymentOptions, PaymentStructure } from './options/payment-options.js';
import { PaymentSettings } from './options/payment-settings.js';
import { resolveSettings } from './options/resolve-settings.js';
import { DEFAULT_ACCOUNT, variableOf } from './payment/account.js';
import { PaymentClock, SystemClock } from './payment/clock.js';
import { DirectFlow } from './flows/direct-flow.js';
import { InFlight } from './flows/in-flight.js';
import { InquiryFlow } from './flows/inquiry-flow.js';
import { OperatorFlow } from './flows/operator-flow.js';
import { DuePayments } from './flows/due-payments.js';
import { OwedOutcomes } from './flows/owed-outcomes.js';
import { PaymentChanges } from './flows/payment-changes.js';
import { PaymentReader } from './flows/payment-reader.js';
import { PaymentWriter } from './flows/payment-writer.js';
import { Reconciler } from './flows/reconciler.js';
import { ThreeDFlow } from './flows/three-d-flow.js';
import { PaymentService } from './payment.service.js';
import { PAYMENT_OPTIONS, paymentHttpToken, paymentToken } from './payment.tokens.js';
import { openStore } from './store/open-store.js';
import { PaymentStore } from './store/payment-store.js';

/** Makes of the builder's bare definition the module of one account. */
export function assemble(definition: DynamicModule, structure: PaymentStructure): DynamicModule {
  const { isGlobal = true, callback = {}, name } = structure;
  const account = name ?? DEFAULT_ACCOUNT;
  const route = routeOf(structure);
  const service = paymentToken(account);
  const http = paymentHttpToken(account);
  const receiver = CallbackReceiver.token(account);
  const registration = new AccountRegistration(account, route.path);

  return {
    ...definition,
    global: isGlobal,
    imports: [...(definition.imports ?? []), DiscoveryModule],
    controllers: callback === false ? [] : [createCallbackController(route.path ?? '', callback.decorators)],
    providers: [
      ...(definition.providers ?? []),
      { provide: CallbackRoute, useValue: route },
      { provide: AccountRegistration, useValue: registration },
      {
        provide: PaymentSettings,
        useFactory: (options: PaymentOptions | undefined, discovery: DiscoveryService) =>
          resolveSettings(options ?? {}, structure, process.env, registration.problemsAmong(discovery)),
        inject: [PAYMENT_OPTIONS, DiscoveryService],
      },
      { provide: PaymentClock, useClass: SystemClock },
      {
        provide: PaymentStore,
        useFactory: ({ store, storeUrl, background }: PaymentSettings) =>
          openStore({ store, storeUrl, background, variable: variableOf(account, 'storeUrl') }),
        inject: [PaymentSettings],
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
        provide: GatewayClient,
        useFactory: (settings: PaymentSettings, transport: GatewayTransport, clock: PaymentClock) =>
          new GatewayClient(settings, transport, clock),
        inject: [PaymentSettings, GatewayTransport, PaymentClock],
      },
      PlainEvents,
      HandlerFinder,
      EventDispatcher,
      PaymentReader,
      PaymentChanges,
      OwedOutcomes,
      PaymentWriter,
      DuePayments,
      DirectFlow,
      ThreeDFlow,
      InquiryFlow,
      OperatorFlow,
      Reconciler,
      InFlight,
      CallbackReceiver,
      CallbackResponder,
      { provide: service, useClass: PaymentService },
      { provide: receiver, useExisting: CallbackReceiver },
    ],
    exports: [service, http, receiver],
  };
}
