import { Inject, Injectable } from '@nestjs/common';
import { Server } from 'node:net';
import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import type { PaymentHandler } from '../events/handler-finder.js';
import { PlainEvents } from '../events/plain-events.js';
import { CallbackRoute } from '../options/payment-options.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { nearMisses, unprotectedStoreText } from '../options/setting-hints.js';
import { variableOf } from '../payment/account.js';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { ReturnUrlMaker } from '../operations/return-urls.js';
import { type OtherGateways, otherGatewaysIn } from '../payment/gateway-id.js';
import { PAYMENT_STORE, type PaymentStore } from '../store/payment-store.js';

/** Guards that do not ask for a login. */
const HARMLESS_GUARD = /^Throttler/;

/** The applications that have been told, of which each may have several accounts. */
const TOLD_OF_HOOKS = new WeakSet<HttpAdapterHost>();

/** Logs how an account is configured, and settings that are allowed but look like a mistake. */
@Injectable()
export class StartUpReport {
  private readonly logger = new PaymentLogger();
  /** #private, since `inspect` would otherwise print the host's own objects. */
  readonly #config: ApplicationConfig;
  readonly #adapterHost: HttpAdapterHost;

  private others: OtherGateways = { count: 0, hosts: [] };

  constructor(
    @Inject(PAYMENT_STORE) private readonly store: PaymentStore,
    private readonly settings: PaymentSettings,
    private readonly urls: ReturnUrlMaker,
    private readonly route: CallbackRoute,
    private readonly plain: PlainEvents,
    config: ApplicationConfig,
    adapterHost: HttpAdapterHost,
  ) {
    this.#config = config;
    this.#adapterHost = adapterHost;
  }

  /** Counts what belongs to another gateway. If the store does not say, the report does not, either. */
  async countOthers(): Promise<void> {
    const { account, gateways } = this.settings;
    this.others = await this.store.otherGateways(account, gateways).then(otherGatewaysIn, () => this.others);
  }

  /** @param handlers the handlers of this account */
  write(handlers: readonly PaymentHandler[]): void {
    const { account, dialect, background } = this.settings;
    const callback = this.urls.shown();
    const fields = {
      account,
      dialect: dialect.name,
      gateway: this.gateway,
      store: this.storeKind,
      callback,
      handlers: handlers.map(
        ({ id, types }) => `${id} (${types.map((type) => type.replace(/^payment\./, '')).join(', ')})`,
      ),
      background,
    };
    const parts = [
      `dialect ${fields.dialect}`,
      `gateway ${fields.gateway}`,
      `store ${fields.store}`,
      this.callbackText(callback),
      fields.handlers.length === 0 ? 'no @OnPayment handlers' : `handlers ${fields.handlers.join(', ')}`,
      ...(background ? [] : ['no background work here']),
    ];
    this.logger.log(new LogRecord(`Account ${account}: ${parts.join('; ')}.`, fields));
    for (const warning of this.warnings(handlers)) this.logger.warn(new LogRecord(warning, { account }));
    this.warnOfMissingHooks();
  }

  /** Where callbacks arrive. */
  private callbackText(callback: string | null): string {
    if (this.route.path !== null) return `callback ${callback}`;
    return callback === null
      ? 'no callback controller, so each call names its own returnUrl and failUrl'
      : `no callback controller, so callbacks arrive at ${callback} (returnUrl)`;
  }

  /**
   * Without shutdown hooks a signal ends the process in the middle of its payments, each of which is then `unknown`.
   * Looked at once the server listens, since the hooks may be enabled until then.
   */
  private warnOfMissingHooks(): void {
    const host = this.#adapterHost;
    const server: unknown = host.httpAdapter?.getHttpServer();
    if (!(server instanceof Server) || TOLD_OF_HOOKS.has(host) || process.env['NODE_ENV'] === 'test') return;
    TOLD_OF_HOOKS.add(host);
    const look = (): void => {
      if (process.listenerCount('SIGTERM') > 0) return;
      this.logger.warn(
        'Nothing waits for payments when this process is told to end (SIGTERM): call app.enableShutdownHooks() in ' +
          'main.ts.',
      );
    };
    server.once('listening', () => setImmediate(look));
  }

  private warnings(handlers: readonly PaymentHandler[]): string[] {
    const { account, store, storeUrl } = this.settings;
    const warnings = nearMisses(process.env, [account]).map(({ text }) => text);
    const unprotected = store ? null : unprotectedStoreText(storeUrl, variableOf(account, 'storeUrl'), process.env);
    if (unprotected !== null) warnings.push(unprotected);
    if (this.others.count > 0) warnings.push(this.othersText());
    const hearsPayments = handlers.some(({ types }) => types.some((type) => type.startsWith('payment.')));
    if (!hearsPayments && !this.plain.isConnected) {
      warnings.push(
        `No handler gets the outcome of payments of the account ${account}: add a method with ` +
          "@OnPayment(['succeeded', 'failed', 'expired']) to a provider.",
      );
    }
    const guards = this.route.path === null || this.route.isDecorated ? [] : this.guards();
    if (guards.length > 0) {
      warnings.push(
        `Global guards (${guards.join(', ')}) apply to the bank's callback, which comes without a login: what they ` +
          'refuse is never completed. Mark it public: callback: { decorators: [Public()] } with your own decorator; or ' +
          'say that they let it pass: callback: { decorators: [] }.',
      );
    }
    return warnings;
  }

  private othersText(): string {
    const { account } = this.settings;
    const variables = (['baseUrl', 'merchantId', 'dialect'] as const).map((option) => variableOf(account, option));
    return (
      `Payments and refunds of the account ${account} that are not settled were made at another gateway ` +
      `(${this.others.hosts.join(', ')}): ${this.others.count}. Nothing is asked or sent about them. If this gateway has ` +
      `moved, name its former address in ${variableOf(account, 'formerBaseUrls')}; otherwise look at ` +
      `${variables.join(', ')}, and at whose store this is.`
    );
  }

  private guards(): string[] {
    const names = [
      ...this.#config.getGlobalGuards().map((guard) => (guard as object).constructor.name),
      ...this.#config.getGlobalRequestGuards().map((wrapper) => wrapper.metatype?.name ?? 'a guard of a request'),
    ];
    return [...new Set(names)].filter((name) => !HARMLESS_GUARD.test(name));
  }

  private get gateway(): string {
    const { baseUrl } = this.settings;
    return new URL(baseUrl).host || baseUrl;
  }

  private get storeKind(): string {
    const { store, storeUrl } = this.settings;
    return store ? store.constructor.name : storeUrl.slice(0, storeUrl.indexOf(':'));
  }
}
