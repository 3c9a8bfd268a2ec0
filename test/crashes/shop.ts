// The merchant's application of a process that is killed, or of the one that comes after it.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { Injectable, type Type } from '@nestjs/common';
import {
  EVENT_STATES,
  OnPayment,
  OnRefund,
  type PaymentEvent,
  type PaymentOptions,
  REFUND_EVENT_STATES,
  type RefundEvent,
} from 'nestjs-card-payment';

/** What processes of the shop are started with. */
export interface ShopSettings {
  readonly account: PaymentOptions;
  readonly storeUrl: string;
  /** Where each event that a handler has heard becomes a line. */
  readonly journal: string;
}

/** A handler that does what an order needs, here: a line in a journal, written through to the disk. */
export function ordersIn(
  journal: string,
  beforeWork: (eventId: string) => Promise<void> | undefined = () => undefined,
): Type {
  const note = async (eventId: string): Promise<void> => {
    await beforeWork(eventId);
    const file = openSync(journal, 'a');
    writeSync(file, `${eventId}\n`);
    fsyncSync(file);
    closeSync(file);
  };

  @Injectable()
  class Orders {
    @OnPayment(EVENT_STATES)
    settled({ eventId }: PaymentEvent): Promise<void> {
      return note(eventId);
    }

    @OnRefund(REFUND_EVENT_STATES)
    refunded({ eventId }: RefundEvent): Promise<void> {
      return note(eventId);
    }
  }
  return Orders;
}
