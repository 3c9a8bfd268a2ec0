import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type Type } from '@nestjs/common';
import {
  EVENT_STATES,
  OnPayment,
  OnRefund,
  type PaymentEvent,
  type PaymentEventState,
  REFUND_EVENT_STATES,
  type RefundEvent,
} from 'nestjs-card-payment';
import { Chance } from '../rigs/chance.js';
import type { LedgerEvent } from '../../lib/payment/payment-event.js';

export type ShopVersion = 1 | 2;

/** The handlers of payments. */
export const HANDLER_IDS = ['orders', 'mail'] as const;
/** The handler of refunds, in both versions. */
export const REFUND_HANDLER_ID = 'refunds';
export type HandlerId = (typeof HANDLER_IDS)[number] | typeof REFUND_HANDLER_ID;

/** What each version of the shop declares under the same handler ids. */
export const DECLARED: Readonly<Record<ShopVersion, Readonly<Record<HandlerId, readonly PaymentEventState[]>>>> = {
  1: { orders: ['succeeded'], mail: ['failed'], refunds: REFUND_EVENT_STATES },
  2: { orders: EVENT_STATES, mail: EVENT_STATES, refunds: REFUND_EVENT_STATES },
};

/** How often handlers fail or hang. */
export interface HandlerWork {
  /** The file that gets a line for each handled event. */
  readonly journal: string;
  readonly seed: number;
  /** Probabilities of each call. */
  readonly failing: number;
  readonly hanging: number;
  /** The longest that a call hangs. */
  readonly hangMs: number;
}

/** One line of the journal. */
export interface HandledEvent {
  readonly handlerId: HandlerId;
  readonly version: ShopVersion;
  readonly type: string;
  readonly eventId: string;
}

/** The providers with the handlers of one version. */
export function orderHandlers(version: ShopVersion, work: HandlerWork): Type[] {
  const random = new Chance(work.seed);
  const declared = DECLARED[version];

  const handle = async (handlerId: HandlerId, { type, eventId }: LedgerEvent): Promise<void> => {
    if (random.happens(work.hanging)) await delay(random.between(100, work.hangMs));
    if (random.happens(work.failing)) throw new Error('out of order, before the work');
    appendFileSync(work.journal, `${JSON.stringify({ handlerId, version, type, eventId } satisfies HandledEvent)}\n`);
    if (random.happens(work.failing / 2)) throw new Error('out of order, after the work');
  };

  @Injectable()
  class Orders {
    @OnPayment(declared.orders, { id: 'orders' })
    settled(event: PaymentEvent): Promise<void> {
      return handle('orders', event);
    }
  }

  @Injectable()
  class Mail {
    @OnPayment(declared.mail, { id: 'mail', concurrency: 3 })
    notify(event: PaymentEvent): Promise<void> {
      return handle('mail', event);
    }
  }

  @Injectable()
  class Refunds {
    @OnRefund(REFUND_EVENT_STATES, { id: REFUND_HANDLER_ID })
    refunded(event: RefundEvent): Promise<void> {
      return handle(REFUND_HANDLER_ID, event);
    }
  }

  return [Orders, Mail, Refunds];
}
