import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Payment, Refund } from 'nestjs-card-payment';
import { aPayment, aPaymentEvent, aRefundEvent } from 'nestjs-card-payment/testing';
import { OrderPayments } from '../../sample/src/orders/order-payments.js';
import { OrderRepository } from '../../sample/src/orders/order.repository.js';
import { ShopDatabase } from '../../sample/src/orders/shop-database.js';
import { PRODUCTS } from '../../sample/src/catalogue/products.js';

describe('the sample’s orders', () => {
  let folder: string;
  let database: ShopDatabase;
  let orders: OrderRepository;
  let handlers: OrderPayments;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orders-'));
    process.env.SHOP_DATA = folder;
    database = new ShopDatabase();
    orders = new OrderRepository(database);
    handlers = new OrderPayments(orders);
  });
  afterEach(() => {
    database.onApplicationShutdown();
    delete process.env.SHOP_DATA;
    rmSync(folder, { recursive: true });
  });

  const place = (): string => orders.place([{ product: PRODUCTS[0]!, quantity: 2 }]);
  const invoiceOf = (id: string) => orders.find(id)?.invoiceNumber;
  const statusOf = (id: string) => orders.find(id)?.status;
  /** The payment for which the order is held: null unless the order is being checked. */
  const heldBy = (id: string) =>
    (database.sqlite.prepare('SELECT held_by FROM orders WHERE id = ?').get(id) as { held_by: string | null }).held_by;
  const paid = (reference: string, more: object = {}) => aPaymentEvent({ state: 'succeeded', reference, ...more });

  /** The event of a refund of a payment of the order. */
  const refunded = (
    reference: string | null,
    amount: string,
    { payment = aPayment({ reference }), ...more }: Partial<Refund> & { readonly payment?: Payment } = {},
  ) => aRefundEvent({ refundId: 'REF00000000000000001', reference, amount, ...more, state: 'succeeded' }, payment);
  const refundedOf = (id: string) => orders.find(id)?.refundedKurus;

  it('write a refund down once, however often its event is delivered', () => {
    const [id, other] = [place(), place()];
    handlers.paid(paid(id));
    for (let delivery = 0; delivery < 3; delivery += 1) handlers.refunded(refunded(id, '10.50'));
    expect([refundedOf(id), refundedOf(other)]).toEqual([1050, 0]);
    handlers.refunded(refunded(id, '2.5', { refundId: 'REF00000000000000002' }));
    handlers.refunded(refunded(id, '1', { account: 'second' }));
    expect([refundedOf(id), statusOf(id), invoiceOf(id)]).toEqual([1400, 'paid', 1001]);
    expect(orders.latest(2).find((order) => order.id === id)).toMatchObject({ refundedKurus: 1400 });
  });

  it('are refunded when all of their payment was given back, and not before', () => {
    const id = place();
    handlers.paid(paid(id));
    const total = PRODUCTS[0]!.kurus * 2;
    handlers.refunded(refunded(id, String((total - 1) / 100)));
    expect(statusOf(id)).toBe('paid');
    handlers.refunded(refunded(id, '0.01', { refundId: 'REF00000000000000002' }));
    expect([statusOf(id), refundedOf(id)]).toEqual(['refunded', total]);
  });

  it('stay paid when a second payment of theirs is given back', () => {
    const id = place();
    handlers.paid(paid(id));
    const second = aPayment({ state: 'review', reference: id, conversationId: 'ABC00000000000000002' });
    handlers.refunded(refunded(id, '9999.00', { payment: second }));
    expect([statusOf(id), refundedOf(id)]).toEqual(['paid', 0]);
  });

  it('are refunded if their payment is given back before it counts as paid', () => {
    const id = place();
    handlers.refunded(refunded(id, String((PRODUCTS[0]!.kurus * 2) / 100)));
    expect(statusOf(id)).toBe('open');
    handlers.paid(paid(id));
    expect(statusOf(id)).toBe('refunded');
  });

  it('write nothing down if there is no such order, and try again at the next delivery', () => {
    for (let delivery = 0; delivery < 2; delivery += 1) {
      expect(() => handlers.refunded(refunded('T-none', '1.00'))).toThrow('There is no order T-none');
    }
    handlers.refunded(refunded(null, '1.00'));
    expect(database.sqlite.prepare('SELECT * FROM order_refunds').all()).toEqual([]);
  });

  it('are left as they are by refunds without an outcome, and list their events', () => {
    const id = place();
    handlers.paid(paid(id));
    handlers.notRefunded(aRefundEvent({ state: 'unknown', reason: 'no_answer', reference: id, amount: '1.00' }));
    expect([statusOf(id), refundedOf(id)]).toEqual(['paid', 0]);
    expect(orders.eventsOf(id).at(-1)).toMatchObject({
      via: '@OnRefund',
      type: 'refund.unknown',
      reason: 'no_answer',
    });
  });

  it('are kept when the shop of an earlier release is updated', () => {
    const id = place();
    handlers.paid(paid(id));
    database.onApplicationShutdown();
    const before = new Database(join(folder, 'shop.sqlite'));
    before.exec('ALTER TABLE orders DROP COLUMN paid_by; DROP TABLE order_refunds');
    before.close();

    database = new ShopDatabase();
    orders = new OrderRepository(database);
    handlers = new OrderPayments(orders);
    expect([statusOf(id), invoiceOf(id), refundedOf(id)]).toEqual(['paid', 1001, 0]);
    handlers.refunded(refunded(id, '10.00'));
    expect(refundedOf(id)).toBe(1000);
  });

  it('give an invoice number once, however often the event is delivered', () => {
    const [first, second] = [place(), place()];
    for (let delivery = 0; delivery < 3; delivery += 1) handlers.paid(paid(first));
    expect([statusOf(first), invoiceOf(first)]).toEqual(['paid', 1001]);
    expect([statusOf(second), invoiceOf(second)]).toEqual(['open', null]);
    handlers.paid(paid(second, { conversationId: 'ABC00000000000000002' }));
    handlers.paid(paid(first));
    expect([invoiceOf(first), invoiceOf(second)]).toEqual([1001, 1002]);
  });

  it('handle an event of another account with the same id', () => {
    const [first, second] = [place(), place()];
    handlers.paid(paid(first));
    handlers.paid(paid(second, { account: 'second' }));
    expect([statusOf(first), statusOf(second)]).toEqual(['paid', 'paid']);
    handlers.paid(paid(second, { account: 'second' }));
    expect(invoiceOf(second)).toBe(1002);
  });

  it('handle the same event for another handler', () => {
    const [first, second] = [place(), place()];
    orders.markPaid(first, 'one', paid(first));
    orders.markPaid(second, 'other', paid(second));
    expect([statusOf(first), statusOf(second)]).toEqual(['paid', 'paid']);
  });

  it('mark no event as handled if there is no such order', () => {
    for (let delivery = 0; delivery < 2; delivery += 1) {
      expect(() => handlers.paid(paid('T-none'))).toThrow('There is no order T-none');
    }
    const { handled } = database.sqlite.prepare('SELECT count(*) AS handled FROM handled_deliveries').get() as {
      handled: number;
    };
    expect(handled).toBe(0);
  });

  it('are held while the outcome is not known, and released only by the payment for which they are held', () => {
    const id = place();
    const [one, other] = ['ABC00000000000000001', 'ABC00000000000000002'];
    const told = (
      conversationId: string,
      state: 'unknown' | 'failed' | 'expired' | 'review',
      reason: 'declined' | null,
    ) => handlers.notPaid(aPaymentEvent({ state, reason, reference: id, conversationId }));
    told(one, 'unknown', null);
    expect(statusOf(id)).toBe('checking');
    told(other, 'failed', 'declined');
    expect(statusOf(id)).toBe('checking');
    expect(heldBy(id)).toBe(one);
    told(one, 'failed', 'declined');
    expect([statusOf(id), heldBy(id)]).toEqual(['open', null]);
    told(other, 'review', null);
    expect(statusOf(id)).toBe('checking');
    told(other, 'expired', null);
    expect(statusOf(id)).toBe('open');
  });

  it('stay paid after events of another payment', () => {
    const id = place();
    const conversationId = 'ABC00000000000000002';
    handlers.notPaid(aPaymentEvent({ state: 'unknown', reference: id, conversationId }));
    handlers.paid(paid(id));
    expect(heldBy(id)).toBeNull();
    handlers.notPaid(aPaymentEvent({ state: 'review', reference: id, conversationId }));
    handlers.notPaid(aPaymentEvent({ state: 'failed', reason: 'declined', reference: id, conversationId }));
    expect([statusOf(id), invoiceOf(id)]).toEqual(['paid', 1001]);
  });

  it('ignore payments without an order, and leave other orders as they are', () => {
    const [id, other] = [place(), place()];
    handlers.paid(aPaymentEvent({ state: 'succeeded', reference: null }));
    handlers.notPaid(aPaymentEvent({ state: 'unknown', reference: null }));
    handlers.notPaid(aPaymentEvent({ state: 'unknown', reference: other }));
    expect([statusOf(id), statusOf(other)]).toEqual(['open', 'checking']);
    handlers.notPaid(aPaymentEvent({ state: 'failed', reason: 'declined', reference: id }));
    expect(statusOf(other)).toBe('checking');
  });

  it('list their events in order, and how each was received', () => {
    const [id, other] = [place(), place()];
    const held = aPaymentEvent({ state: 'unknown', reason: 'no_answer', reference: id });
    handlers.notPaid(held);
    handlers.onPlainEvent(held);
    handlers.paid(paid(id));
    handlers.paid(paid(other, { conversationId: 'ABC00000000000000002' }));
    expect(orders.eventsOf(id)).toEqual([
      expect.objectContaining({
        via: '@OnPayment',
        type: 'payment.unknown',
        reason: 'no_answer',
        eventId: held.eventId,
      }),
      expect.objectContaining({ via: '@OnEvent', type: 'payment.unknown' }),
      expect.objectContaining({ via: '@OnPayment', type: 'payment.succeeded', reason: null }),
    ]);
  });

  it('are listed newest first, up to a limit', () => {
    const ids = [place(), place(), place()];
    const date = database.sqlite.prepare('UPDATE orders SET placed_at = ? WHERE id = ?');
    for (const [index, id] of ids.entries()) date.run(`2026-03-0${index + 1}T00:00:00.000Z`, id);
    expect(orders.latest(2).map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(orders.find(ids[0]!)).toMatchObject({
      totalKurus: PRODUCTS[0]!.kurus * 2,
      lines: [{ productId: PRODUCTS[0]!.id, quantity: 2, kurus: PRODUCTS[0]!.kurus * 2 }],
    });
    expect(orders.find('T-none')).toBeNull();
  });
});
