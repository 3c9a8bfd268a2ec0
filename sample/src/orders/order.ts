import type { PaymentEventType, PaymentReason } from 'nestjs-card-payment';
import type { Bilingual } from '../visitor/language.js';

/** `open`: can be paid. `checking`: money may have moved, so wait. `paid`: can be packed. */
export type OrderStatus = 'open' | 'checking' | 'paid';

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
}

/** A payment event that the shop received, and how. */
export interface ReceivedEvent {
  readonly eventId: string;
  readonly via: '@OnPayment' | '@OnEvent';
  readonly type: PaymentEventType;
  readonly reason: PaymentReason | null;
  readonly receivedAt: Date;
}
