import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { LifeCycle } from './module/life-cycle.js';
import { PaymentConfigurationError } from './errors/payment-errors.js';
import { type ASYNC_OPTIONS_TYPE, ConfigurableModuleClass, type OPTIONS_TYPE } from './module/providers.js';
import { PaymentLogger } from './telemetry/payment-logger.js';

/** The module of one merchant account. */
@Module({
  // Only for the bare class, `imports: [PaymentModule]`: forRoot replaces this provider.
  providers: [{ provide: LifeCycle, useFactory: refuseBareImport, inject: [ModulesContainer] }],
})
export class PaymentModule
  extends ConfigurableModuleClass
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  /** @hidden */
  constructor(private readonly life: LifeCycle) {
    super();
  }

  /** Options given here take precedence; the others are read from `PAYMENT_*` variables. */
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    return super.forRoot(options);
  }

  /**
   * Like {@link forRoot}, with options from a factory or class. Structural options stay at the top level.
   *
   * @throws PaymentConfigurationError if neither is given
   */
  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    const { useFactory, useClass, useExisting } = Object(options) as typeof ASYNC_OPTIONS_TYPE;
    if (![useFactory, useClass].some(isFunction) && !useExisting) {
      const message =
        'needs useFactory: () => ({ … }), useClass or useExisting; where every option comes from a variable, call ' +
        'PaymentModule.forRoot()';
      throw new PaymentConfigurationError([{ option: 'forRootAsync', variable: null, message }]);
    }
    return super.forRootAsync(options);
  }

  onModuleInit(): Promise<void> {
    return this.life.open();
  }

  onApplicationBootstrap(): void {
    this.life.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.life.refuseNew();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.life.drain();
  }

  onApplicationShutdown(): Promise<void> {
    return this.life.closeOnce();
  }
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/** @throws PaymentConfigurationError, which names the modules that import the class without calling forRoot */
function refuseBareImport(modules: ModulesContainer): never {
  const importers = [...modules.values()]
    .filter(({ imports }) => [...imports].some((one) => one.metatype === PaymentModule && isBare(one.providers)))
    .map(({ metatype }) => metatype.name);
  const where = importers.length === 0 ? '' : ` by ${[...new Set(importers)].join(', ')}`;
  const message =
    `is imported bare${where}: import PaymentModule.forRoot() (or forRootAsync) once, in the module of the application; ` +
    'the others need not import it, since it is global';
  // Nest may first find a provider that needs PaymentService, and would then only say that it cannot be found.
  new PaymentLogger().error(`PaymentModule ${message}`);
  throw new PaymentConfigurationError([{ option: 'PaymentModule', variable: null, message }]);
}

/** Whether the module is the bare class, without what forRoot adds. */
function isBare(providers: ReadonlyMap<unknown, { readonly inject?: unknown }>): boolean {
  const inject = providers.get(LifeCycle)?.inject;
  return Array.isArray(inject) && inject.includes(ModulesContainer);
}
