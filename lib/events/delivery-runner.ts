import { Logger } from '@nestjs/common';
import { maskCards } from '../payment/card-mask.js';
import type { PaymentClock } from '../payment/clock.js';
import type { Payment } from '../payment/payment.js';
import type { PaymentEvent } from '../payment/payment-event.js';
import { plainText } from '../payment/plain-text.js';
import type { Delivery, PaymentStore } from '../store/payment-store.js';
import type { PaymentHandler } from './handler-finder.js';

/** A handler that takes longer counts as failed. */
const HANDLER_LIMIT_MS = 60_000;
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 3_600_000;
/** Tries before a delivery is parked: about four hours. */
export const MAX_TRIES = 15;
const MAX_ERROR_LENGTH = 300;

/** Carries out one delivery: calls the handler, then acknowledges, postpones or parks it. */
export class DeliveryRunner {
  private readonly logger = new Logger('PaymentModule');

  constructor(
    private readonly store: PaymentStore,
    private readonly clock: PaymentClock,
  ) {}

  /** Never rejects: a delivery that the store does not take back comes again when its lease has run out. */
  async run(delivery: Delivery, handler: PaymentHandler | undefined): Promise<void> {
    const { account, handlerId, event } = delivery;
    const failure = handler ? await this.call(handler, event) : 'this instance has no such handler';
    try {
      if (failure === null) await this.store.acknowledge(account, handlerId, event.eventId);
      else await this.store.postpone(this.postponed(delivery, failure));
    } catch {
      this.logger.error(
        `Event ${event.eventId}: the store did not take the delivery to ${handlerId}; it will come again.`,
      );
    }
  }

  /** @returns what failed, or null */
  private async call(handler: PaymentHandler, event: PaymentEvent): Promise<string | null> {
    const limit = new AbortController();
    const late = this.clock.sleep(HANDLER_LIMIT_MS, limit.signal).then(() => 'took longer than 60 seconds');
    const call = Promise.resolve()
      .then(() => handler.handle(event))
      .then(
        () => null,
        (error: unknown) => failureText(error, event.payment),
      );
    const failure = await Promise.race([call, late]);
    limit.abort();
    return failure;
  }

  private postponed(delivery: Delivery, error: string): Delivery {
    const attempts = delivery.attempts + 1;
    const parked = attempts >= MAX_TRIES;
    const wait = Math.min(MIN_RETRY_MS * 2 ** (attempts - 1), MAX_RETRY_MS);
    const { handlerId, event } = delivery;
    if (parked) {
      this.logger.error(
        `Event ${event.eventId}: ${handlerId} failed ${attempts} times and is parked until it is replayed.`,
      );
    } else {
      this.logger.warn(`Event ${event.eventId}: ${handlerId} failed (try ${attempts}); it is tried again.`);
    }
    return { ...delivery, attempts, parked, error, dueAt: new Date(this.clock.now().getTime() + wait) };
  }
}

function failureText(error: unknown, payment: Payment): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : 'threw something that is no Error';
  return plainText(text, MAX_ERROR_LENGTH, (line) => maskCards(line, payment));
}
