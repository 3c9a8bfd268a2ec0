import { randomInt } from 'node:crypto';
import { Injectable, NotFoundException } from '@nestjs/common';
import { type PaymentEvent, RefundEvent } from 'nestjs-card-payment';
import { type BasketLine, totalOf } from '../basket/basket.js';
import { kurusOf } from '../money.js';
import type { Order, OrderLine, OrderStatus, ReceivedEvent } from './order.js';
import { ShopDatabase } from './shop-database.js';

interface OrderRow {
  id: string;
  lines: string;
  total_kurus: number;
  status: Exclude<OrderStatus, 'refunded'>;
  placed_at: string;
  invoice_number: number | null;
  refunded_kurus: number;
}

const SELECT_ORDERS = `
SELECT orders.*, (
  SELECT COALESCE(SUM(kurus), 0) FROM order_refunds
  WHERE order_id = orders.id AND conversation_id = COALESCE(orders.paid_by, conversation_id)
) AS refunded_kurus
FROM orders`;

/** Stores the shop's orders. */
@Injectable()
export class OrderRepository {
  private readonly sqlite;

  constructor(database: ShopDatabase) {
    this.sqlite = database.sqlite;
  }

  place(basket: readonly BasketLine[]): string {
    const id = newOrderId();
    const lines = basket.map(({ product, quantity }): OrderLine => ({
      productId: product.id,
      name: product.name,
      quantity,
      kurus: product.kurus * quantity,
    }));
    this.sqlite
      .prepare('INSERT INTO orders (id, lines, total_kurus, placed_at) VALUES (?, ?, ?, ?)')
      .run(id, JSON.stringify(lines), totalOf(basket), new Date().toISOString());
    return id;
  }

  find(id: string): Order | null {
    const row = this.sqlite.prepare<[string], OrderRow>(`${SELECT_ORDERS} WHERE id = ?`).get(id);
    return row ? toOrder(row) : null;
  }

  /** @throws NotFoundException if there is no such order: a page or an answer says so */
  get(id: string): Order {
    const order = this.find(id);
    if (!order) throw new NotFoundException();
    return order;
  }

  /**
   * Marks an order paid and assigns its invoice number, in one transaction. It does so once, even if the event is
   * delivered to this handler several times. The same eventId for another handler or of another account is a different
   * delivery. An order that was paid before keeps its payment and its number.
   * @throws Error for an unknown order; the event is then delivered again, and parked for an operator in the end
   */
  markPaid(id: string, handler: string, { eventId, payment }: PaymentEvent): void {
    this.sqlite.transaction(() => {
      if (!this.isFirstDelivery(payment.account, handler, eventId)) return;
      const { changes } = this.sqlite
        .prepare(
          `UPDATE orders SET status = 'paid', held_by = NULL, paid_by = COALESCE(paid_by, ?),
             invoice_number = COALESCE(invoice_number, (SELECT COALESCE(MAX(invoice_number), 1000) + 1 FROM orders))
           WHERE id = ?`,
        )
        .run(payment.conversationId, id);
      if (changes === 0) throw new Error(`There is no order ${id}`);
    })();
  }

  /**
   * Writes down what was given back of an order, once, as {@link markPaid} does.
   * @throws Error for an unknown order
   */
  markRefunded(id: string, handler: string, { eventId, refund }: RefundEvent<'succeeded'>): void {
    this.sqlite.transaction(() => {
      if (!this.isFirstDelivery(refund.account, handler, eventId)) return;
      const { changes } = this.sqlite
        .prepare(
          `INSERT INTO order_refunds (account, event_id, order_id, conversation_id, kurus)
           SELECT ?, ?, id, ?, ? FROM orders WHERE id = ?`,
        )
        .run(refund.account, eventId, refund.conversationId, kurusOf(refund.amount), id);
      if (changes === 0) throw new Error(`There is no order ${id}`);
    })();
  }

  private isFirstDelivery(account: string, handler: string, eventId: string): boolean {
    const { changes } = this.sqlite
      .prepare('INSERT OR IGNORE INTO handled_deliveries (account, handler, event_id) VALUES (?, ?, ?)')
      .run(account, handler, eventId);
    return changes === 1;
  }

  /** Money may have moved. Until that is known, the order must be neither packed nor paid again. */
  hold(id: string, conversationId: string): void {
    this.sqlite
      .prepare("UPDATE orders SET status = 'checking', held_by = ? WHERE id = ? AND status <> 'paid'")
      .run(conversationId, id);
  }

  /** No money moved. Only the payment for which the order is held can release it. */
  release(id: string, conversationId: string): void {
    this.sqlite
      .prepare("UPDATE orders SET status = 'open', held_by = NULL WHERE id = ? AND status = 'checking' AND held_by = ?")
      .run(id, conversationId);
  }

  /** Records an event for the orders page. */
  recordEvent(via: ReceivedEvent['via'], event: PaymentEvent | RefundEvent): void {
    const { eventId, type, payment } = event;
    const { reason } = event instanceof RefundEvent ? event.refund : payment;
    this.sqlite
      .prepare('INSERT INTO received_events VALUES (?, ?, ?, ?, ?, ?)')
      .run(payment.reference ?? '', eventId, via, type, reason, new Date().toISOString());
  }

  /** Oldest first. */
  eventsOf(id: string): ReceivedEvent[] {
    return this.sqlite
      .prepare<[string], Pick<ReceivedEvent, 'via' | 'type' | 'reason'> & { event_id: string; received_at: string }>(
        'SELECT * FROM received_events WHERE order_id = ? ORDER BY rowid',
      )
      .all(id)
      .map((row) => ({
        eventId: row.event_id,
        via: row.via,
        type: row.type,
        reason: row.reason,
        receivedAt: new Date(row.received_at),
      }));
  }
}

function toOrder(row: OrderRow): Order {
  return {
    id: row.id,
    lines: JSON.parse(row.lines) as OrderLine[],
    totalKurus: row.total_kurus,
    status: row.status === 'paid' && row.refunded_kurus >= row.total_kurus ? 'refunded' : row.status,
    placedAt: new Date(row.placed_at),
    invoiceNumber: row.invoice_number,
    refundedKurus: row.refunded_kurus,
  };
}

const LETTERS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Such as `T-7KQ2-M9XD-4RBW`: about 59 random bits. */
function newOrderId(): string {
  const group = (): string => Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return `T-${group()}-${group()}-${group()}`;
}
