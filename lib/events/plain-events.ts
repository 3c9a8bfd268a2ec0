import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { LogRecord, PaymentLogger } from '../telemetry/payment-logger.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { PaymentClock } from '../runtime/clock.js';
import { LimitedLog } from '../runtime/limited-log.js';
import type { LedgerEvent } from '../payment/payment-event.js';
import { describeHostError, thrownText } from '../payment/kept-text.js';
import { PAYMENT_STORE, type PaymentLedger } from '../store/payment-store.js';
import { isSilent } from './held-orders.js';

/** Lines a minute for each type of event. */
const MAX_LINES = 10;

/** The part of EventEmitter2 that is used. */
interface Emitter {
  emitAsync(type: string, event: LedgerEvent): Promise<unknown>;
}

/** Plain NestJS events, fire and forget, where the host has @nestjs/event-emitter. */
@Injectable()
export class PlainEvents {
  private readonly logger = new PaymentLogger();
  private readonly limited: LimitedLog;
  private emitter: Emitter | null = null;

  /** #private, since `inspect` would otherwise print the whole application. */
  readonly #discovery: DiscoveryService;

  constructor(
    discovery: DiscoveryService,
    clock: PaymentClock,
    private readonly settings: PaymentSettings,
    @Inject(PAYMENT_STORE) private readonly ledger: PaymentLedger,
  ) {
    this.limited = new LimitedLog(clock, MAX_LINES);
    this.#discovery = discovery;
  }

  /** Looks for the host's emitter. If there is none, plain events are not emitted. */
  connect(): void {
    // Of several, the last one, as Nest itself gives it to whoever asks for it.
    const found = this.#discovery
      .getProviders()
      .filter(({ token }) => isEmitterClass(token))
      .at(-1);
    this.emitter = (found?.instance as Emitter | null | undefined) ?? null;
  }

  /** Whether the host has an emitter. */
  get isConnected(): boolean {
    return this.emitter !== null;
  }

  /** Listeners run after the caller has gone on; what they throw is logged, a few times a minute. */
  emit(event: LedgerEvent): void {
    const { emitter } = this;
    if (!emitter) return;
    setImmediate(() => void this.emitUnlessSilent(emitter, event));
  }

  private async emitUnlessSilent(emitter: Emitter, event: LedgerEvent): Promise<void> {
    const { type, eventId } = event;
    const silent = await isSilent(event, this.ledger).catch(() => null);
    if (silent === null) {
      const line = `Event ${eventId} is not emitted (${type}): the payment store failed to say whether its order is held.`;
      this.limited.write(type, (end) => this.logger.error(new LogRecord(line + end, { type, eventId })));
    }
    if (silent !== false) return;
    try {
      await emitter.emitAsync(type, event);
    } catch (error) {
      this.report(event, error);
    }
  }

  private report({ type, eventId }: LedgerEvent, thrown: unknown): void {
    const failure = describeHostError(thrown, this.settings.credentials);
    const line =
      `A listener of ${type} (@OnEvent) failed and is not called again for event ${eventId}; what must not be missed ` +
      `belongs in a method with @OnPayment or @OnRefund${thrownText(failure)}.`;
    const { error, at } = failure;
    this.limited.write(type, (end) => this.logger.error(new LogRecord(line + end, { type, eventId, error, at })));
  }
}

/**
 * Whether it is EventEmitter2, recognized by its methods: a minified host renames its classes, and importing the
 * package would slow the start of a host that has it installed without using it.
 */
function isEmitterClass(token: unknown): boolean {
  const prototype = (typeof token === 'function' ? token.prototype : null) as object | null | undefined;
  return ['emitAsync', 'onAny', 'prependAny'].every((name) => prototype && Object.hasOwn(prototype, name));
}
