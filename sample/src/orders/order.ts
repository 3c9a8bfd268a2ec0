import type { Bilingual } from '../visitor/language.js';

/** `open`: may be paid. `checking`: money may have moved, so wait. `paid`: pack it. */
export type OrderStatus = 'open' | 'checking' | 'paid';

/** A line keeps the name and price that the buyer saw. */
export interface OrderLine {
  readonly productId: string;
  readonly name: Bilingual;
  readonly quantity: number;
  readonly kurus: number;
}

export interface Order {
  /** Cannot be guessed: who knows it may see the order. It is the `reference` of its payments. */
  readonly id: string;
  readonly lines: readonly OrderLine[];
  readonly totalKurus: number;
  readonly status: OrderStatus;
  readonly placedAt: Date;
  /** Given when the order is paid, one after the other without gaps. */
  readonly invoiceNumber: number | null;
}

/** A payment event that reached the shop, and by which way. */
export interface ReceivedEvent {
  readonly eventId: string;
  readonly via: '@OnPayment' | '@OnEvent';
  readonly type: string;
  readonly reason: string | null;
  readonly receivedAt: Date;
}
