import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { OnPayment, OnRefund, type PaymentEvent, type RefundEvent } from 'nestjs-card-payment';
import { OrderRepository } from './order.repository.js';

/** The id of the handler that marks orders paid. */
const PAID = 'OrderPayments.paid';

/** The id of the handler that writes down what was given back. */
const REFUNDED = 'OrderPayments.refunded';

/** What the shop does when the state of a payment or refund changes. */
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
    const { reference, conversationId, settled } = event.payment;
    if (reference === null) return;
    if (settled) this.orders.release(reference, conversationId);
    else this.orders.hold(reference, conversationId);
  }

  /** Refunds and voids have events of their own, delivered in the same way. */
  @OnRefund('succeeded', { id: REFUNDED })
  refunded(event: RefundEvent<'succeeded'>): void {
    this.orders.recordEvent('@OnRefund', event);
    const { reference } = event.payment;
    if (reference !== null) this.orders.markRefunded(reference, REFUNDED, event);
  }

  /** Changes nothing of the order: the orders page shows the refund, and who has to look at it. */
  @OnRefund(['failed', 'unknown', 'review'])
  notRefunded(event: RefundEvent): void {
    this.orders.recordEvent('@OnRefund', event);
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
