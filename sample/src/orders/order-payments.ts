import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { OnPayment, type PaymentEvent } from 'nestjs-card-payment';
import { OrderRepository } from './order.repository.js';

/** The id of the handler that marks orders paid. */
const PAID = 'OrderPayments.paid';

/** What the shop does when the state of a payment changes. */
@Injectable()
export class OrderPayments {
  constructor(private readonly orders: OrderRepository) {}

  /** Awaited, and called again until it returns: the order is marked paid even if the shop crashes before that. */
  @OnPayment('succeeded', { id: PAID })
  paid(event: PaymentEvent): void {
    this.orders.recordEvent('@OnPayment', event);
    if (event.payment.reference !== null) this.orders.markPaid(event.payment.reference, PAID, event);
  }

  /** One handler for all these states, because only one handler gets the events of a payment in order. */
  @OnPayment(['unknown', 'review', 'failed', 'expired'])
  notPaid(event: PaymentEvent): void {
    this.orders.recordEvent('@OnPayment', event);
    const { reference, conversationId, state, settled, reason } = event.payment;
    if (reference === null) return;
    // Another payment of this order is under way or has succeeded: this failure says nothing about the order.
    if (state === 'failed' && reason === 'reference_taken') return;
    if (settled) this.orders.release(reference, conversationId);
    else this.orders.hold(reference, conversationId);
  }

  /** Plain NestJS events are not repeated. Use them for what may get lost, such as a message on a screen. */
  @OnEvent('payment.succeeded')
  @OnEvent('payment.failed')
  @OnEvent('payment.expired')
  @OnEvent('payment.unknown')
  @OnEvent('payment.review')
  onPlainEvent(event: PaymentEvent): void {
    this.orders.recordEvent('@OnEvent', event);
  }
}
