import type { PaymentEventType, PaymentReason, RefundEventType } from 'nestjs-card-payment';
import type { Bilingual } from '../visitor/language.js';

/**
 * `open`: can be paid. `checking`: money may have moved, so wait. `paid`: can be packed. `refunded`: was paid, and all of
 * it was given back, so it is not packed.
 */
export type OrderStatus = 'open' | 'checking' | 'paid' | 'refunded';

/** With the name and price that the buyer saw. */
export interface OrderLine {
  readonly productId: string;
  readonly name: Bilingual;
  readonly quantity: number;
  readonly kurus: number;
}

export interface Order {
  /**
   * Cannot be guessed, so anyone who knows it may see the order. It is also the `reference` of the order's payments.
   */
  readonly id: string;
  readonly lines: readonly OrderLine[];
  readonly totalKurus: number;
  readonly status: OrderStatus;
  readonly placedAt: Date;
  /** Assigned when the order is paid, without gaps. */
  readonly invoiceNumber: number | null;
  /** What was given back of the payment that paid the order. A second payment's refund is not the order's. */
  readonly refundedKurus: number;
}

/** An event of a payment or refund that the shop received, and how. */
export interface ReceivedEvent {
  readonly eventId: string;
  readonly via: '@OnPayment' | '@OnRefund' | '@OnEvent';
  readonly type: PaymentEventType | RefundEventType;
  readonly reason: PaymentReason | null;
  readonly receivedAt: Date;
}
