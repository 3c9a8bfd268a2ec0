import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { PaymentConfigurationError } from './errors/payment-configuration.error.js';
import { EventDispatcher } from './events/event-dispatcher.js';
import { HandlerFinder, type PaymentHandler } from './events/handler-finder.js';
import { GatewayTransport } from './gateway/transport/gateway-transport.js';
import { AccountRegistration, handlerAccountProblems } from './options/account-registration.js';
import { InFlight } from './flows/in-flight.js';
import { OwedWrites } from './flows/owed-writes.js';
import { ProcessHold } from './flows/process-hold.js';
import { Reconciler } from './flows/reconciler.js';
import { StartUpReport } from './flows/start-up-report.js';
import { StoreClock } from './flows/store-clock.js';
import { type ASYNC_OPTIONS_TYPE, ConfigurableModuleClass, type OPTIONS_TYPE } from './payment.module-definition.js';
import { PaymentSimulator } from './payment.simulator.js';
import { OWN_SIMULATOR } from './payment.tokens.js';
import { PaymentGauges } from './health/payment-gauges.js';
import { connectTelemetry } from './telemetry/open-telemetry.js';
import { releaseStore } from './store/open-store.js';
import { PaymentStore } from './store/payment-store.js';

/** One merchant account. Its life: find handlers, serve, stop taking work, let payments end, close. */
@Module({})
export class PaymentModule
  extends ConfigurableModuleClass
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  /** Private to the language, too: printed, it would show the whole application. */
  readonly #discovery: DiscoveryService;
  /** The account's own. */
  private handlers: readonly PaymentHandler[] = [];
  private closed: Promise<void> | null = null;

  constructor(
    private readonly registration: AccountRegistration,
    discovery: DiscoveryService,
    private readonly finder: HandlerFinder,
    private readonly events: EventDispatcher,
    private readonly reconciler: Reconciler,
    private readonly owed: OwedWrites,
    private readonly clock: StoreClock,
    private readonly inFlight: InFlight,
    private readonly transport: GatewayTransport,
    private readonly store: PaymentStore,
    @Inject(OWN_SIMULATOR) private readonly simulator: PaymentSimulator,
    private readonly startUp: StartUpReport,
    private readonly gauges: PaymentGauges,
    private readonly processHold: ProcessHold,
  ) {
    super();
    this.#discovery = discovery;
  }

  /** Options given here win; the others are read from `PAYMENT_*` variables. */
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    return super.forRoot(options);
  }

  /** The same with options from a factory or class; what shapes the module stays at the top level. */
  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return super.forRootAsync(options);
  }

  async onModuleInit(): Promise<void> {
    const handlers = this.finder.find();
    const problems = handlerAccountProblems(
      this.#discovery,
      handlers.map((handler) => handler.account),
    );
    if (problems.length > 0) throw new PaymentConfigurationError(problems);
    await connectTelemetry();
    await this.clock.start();
    this.handlers = handlers.filter((handler) => handler.account === this.registration.account);
    await this.events.announce(this.handlers);
    this.inFlight.open();
  }

  onApplicationBootstrap(): void {
    this.startUp.write(this.handlers);
    this.gauges.start();
    this.reconciler.start();
  }

  async onModuleDestroy(): Promise<void> {
    // Nest comes to one account after another, and each may take half a minute to stop.
    for (const wrapper of this.#discovery.getProviders()) {
      if (wrapper.token === InFlight) (wrapper.instance as InFlight).refuseNew();
    }
    this.owed.renewHold();
    await this.processHold.during(() => this.reconciler.stop());
  }

  /** The server still listens: buyers who come back from the bank meanwhile get their answer. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.inFlight.ended();
  }

  onApplicationShutdown(): Promise<void> {
    return (this.closed ??= this.processHold.during(() => this.close()));
  }

  private async close(): Promise<void> {
    await this.inFlight.close();
    await this.owed.close();
    this.gauges.stop();
    this.clock.stop();
    try {
      await this.transport.close();
      await this.simulator.close();
    } finally {
      await releaseStore(this.store);
    }
  }
}
