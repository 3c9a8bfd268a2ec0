import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { OnPayment, type PaymentEvent } from 'nestjs-card-payment';
import { OrderBook } from './order-book.js';

/** What the shop does when a payment reaches a state. */
@Injectable()
export class OrderPayments {
  constructor(private readonly orders: OrderBook) {}

  /** Awaited, and called again until it returns: the order is paid, even when the shop dies in the middle of this. */
  @OnPayment('succeeded')
  paid(event: PaymentEvent): void {
    this.orders.note('@OnPayment', event);
    if (event.payment.reference !== null) this.orders.markPaid(event.payment.reference, event.eventId);
  }

  /** One handler for the states that follow one another, so that they arrive in their order. */
  @OnPayment(['unknown', 'review', 'failed', 'expired'])
  notPaid(event: PaymentEvent): void {
    this.orders.note('@OnPayment', event);
    const { reference, conversationId, state, settled, reason } = event.payment;
    if (reference === null) return;
    // Another payment of this order holds it and may have paid it: this one's failure says nothing about the order.
    if (state === 'failed' && reason === 'reference_taken') return;
    if (settled) this.orders.release(reference, conversationId);
    else this.orders.hold(reference, conversationId);
  }

  /** Plain NestJS events, fire and forget: good for what may be missed, such as a message on a screen. */
  @OnEvent('payment.succeeded')
  @OnEvent('payment.failed')
  @OnEvent('payment.expired')
  @OnEvent('payment.unknown')
  @OnEvent('payment.review')
  heard(event: PaymentEvent): void {
    this.orders.note('@OnEvent', event);
  }
}
