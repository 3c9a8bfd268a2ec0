import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { PaymentConfigurationError } from '../errors/payment-errors.js';
import { EventDispatcher } from '../events/event-dispatcher.js';
import { HandlerFinder, type PaymentHandler } from '../events/handler-finder.js';
import { InFlight, ProcessHold } from '../settlement/in-flight.js';
import { OwedWrites } from '../settlement/owed-writes.js';
import { Reconciler } from '../reconciler/reconciler.js';
import { StartUpReport } from './start-up-report.js';
import { StoreClock } from '../settlement/store-clock.js';
import { GatewayTransport } from '../gateway/transport/gateway-transport.js';
import { observeHealth, type PaymentHealth } from '../health/payment-health.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { AccountRegistration, handlerAccountProblems } from './account-registration.js';
import { PaymentSimulator } from './payment-simulator.js';
import { OWN_HEALTH, OWN_SIMULATOR } from './tokens.js';
import { releaseStore } from '../store/open-store.js';
import { PAYMENT_STORE, type PaymentStore } from '../store/payment-store.js';
import { connectTelemetry } from '../telemetry/open-telemetry.js';

/**
 * Starts and stops one merchant account; its module calls this in Nest's hooks. The names of the methods differ from
 * those of the hooks, so that Nest does not call them as well.
 */
@Injectable()
export class LifeCycle {
  /** #private, since `inspect` would otherwise print the whole application. */
  readonly #discovery: DiscoveryService;
  readonly #adapterHost: HttpAdapterHost;
  /** The handlers of this account. */
  private handlers: readonly PaymentHandler[] = [];
  private endGauges = (): void => undefined;
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
    @Inject(PAYMENT_STORE) private readonly store: PaymentStore,
    @Inject(OWN_SIMULATOR) private readonly simulator: PaymentSimulator,
    private readonly startUp: StartUpReport,
    private readonly settings: PaymentSettings,
    @Inject(OWN_HEALTH) private readonly health: PaymentHealth,
    private readonly processHold: ProcessHold,
    adapterHost: HttpAdapterHost,
  ) {
    this.#discovery = discovery;
    this.#adapterHost = adapterHost;
  }

  /** Finds the handlers and begins to accept work. */
  async open(): Promise<void> {
    const handlers = this.finder.find();
    const problems = handlerAccountProblems(
      this.#discovery,
      handlers.map(({ account }) => account),
    );
    if (problems.length > 0) throw new PaymentConfigurationError(problems);
    await connectTelemetry();
    await this.clock.start();
    this.handlers = handlers.filter(({ account }) => account === this.registration.account);
    await this.events.announce(this.handlers);
    await this.startUp.countOthers();
    this.inFlight.open();
  }

  start(): void {
    this.simulator.guard(this.#adapterHost.httpAdapter?.getHttpServer());
    this.startUp.write(this.handlers);
    this.endGauges = observeHealth(this.health, this.settings);
    this.reconciler.start();
  }

  async refuseNew(): Promise<void> {
    // Nest calls one account after another, and each may take half a minute to stop.
    for (const wrapper of this.#discovery.getProviders()) {
      if (wrapper.token === InFlight) (wrapper.instance as InFlight).refuseNew();
    }
    this.owed.renewHold();
    await this.processHold.during(() => this.reconciler.stop());
  }

  /** The server still listens, so that buyers who return from the bank meanwhile are answered. */
  async drain(): Promise<void> {
    await this.inFlight.ended();
  }

  closeOnce(): Promise<void> {
    return (this.closed ??= this.processHold.during(() => this.close()));
  }

  private async close(): Promise<void> {
    await this.inFlight.close();
    await this.owed.close();
    this.endGauges();
    this.clock.stop();
    try {
      await this.transport.close();
      await this.simulator.close();
    } finally {
      await releaseStore(this.store);
    }
  }
}
