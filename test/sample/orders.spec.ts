import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { MemoryPaymentStore, type Payment, type PaymentEventState } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { aPaymentEvent } from 'nestjs-card-payment/testing';
import { Basket } from '../../sample/src/basket/basket.js';
import { Catalogue } from '../../sample/src/catalogue/catalogue.js';
import { PRODUCTS } from '../../sample/src/catalogue/products.js';
import { AttemptLimits } from '../../sample/src/checkout/attempt-limits.js';
import { DemoGateway } from '../../sample/src/demo/demo-gateway.js';
import { OrderPayments } from '../../sample/src/orders/order-payments.js';
import { OrderRepository } from '../../sample/src/orders/order.repository.js';
import { OrdersController } from '../../sample/src/orders/orders.controller.js';
import { ShopDatabase } from '../../sample/src/orders/shop-database.js';
import { type Merchant, sale, startMerchant } from '../e2e/merchant.js';

const product = (id: string) => PRODUCTS.find((one) => one.id === id)!;
const CUP = product('cup');
const BOWL = product('bowl');
const LINES = [
  { product: CUP, quantity: 2 },
  { product: BOWL, quantity: 1 },
];

let folder: string;
let database: ShopDatabase;
let orders: OrderRepository;
let payments: OrderPayments;

describe('orders', () => {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orders-'));
    process.env.SHOP_DATA = folder;
    open();
  });
  afterEach(() => {
    database.onApplicationShutdown();
    rmSync(folder, { recursive: true });
    delete process.env.SHOP_DATA;
  });

  let events = 0;

  /** An event of a payment of the order. Each id is a payment of its own. */
  function event(
    reference: string | null,
    state: PaymentEventState,
    conversationId = 'A',
    more: Omit<Partial<Payment>, 'state'> = {},
  ) {
    events += 1;
    return aPaymentEvent({ reference, state, conversationId, version: events, ...more });
  }

  describe('an order', () => {
    it('keeps the products and the prices that the buyer saw, and can be paid', () => {
      const before = Date.now();
      const id = orders.place(LINES);
      const order = orders.find(id)!;
      expect(order).toEqual({
        id,
        lines: [
          { productId: 'cup', name: CUP.name, quantity: 2, kurus: CUP.kurus * 2 },
          { productId: 'bowl', name: BOWL.name, quantity: 1, kurus: BOWL.kurus },
        ],
        totalKurus: CUP.kurus * 2 + BOWL.kurus,
        status: 'open',
        placedAt: expect.any(Date) as Date,
        invoiceNumber: null,
        refundedKurus: 0,
      });
      expect(order.placedAt.getTime()).toBeGreaterThanOrEqual(before);
      expect(order.placedAt.getTime()).toBeLessThanOrEqual(Date.now());
    });

    it('has an id that cannot be guessed', () => {
      const ids = Array.from({ length: 200 }, () => orders.place(LINES));
      for (const id of ids) expect(id).toMatch(/^T-([2-9A-HJKMNP-Z]{4}-){2}[2-9A-HJKMNP-Z]{4}$/);
      expect(new Set(ids).size).toBe(200);
      expect(new Set(ids.join('').replace(/-/g, '')).size).toBe(30);
    });

    it('is not found by an unknown id', () => {
      expect(orders.find('T-0000-0000-0000')).toBeNull();
    });

    it('is listed newest first, up to a limit', () => {
      const ids = ['2026-03-03', '2026-03-01', '2026-03-02'].map((placedAt) => {
        const id = orders.place(LINES);
        database.sqlite.prepare('UPDATE orders SET placed_at = ? WHERE id = ?').run(placedAt, id);
        return id;
      });
      expect(orders.latest(5).map(({ id }) => id)).toEqual([ids[0], ids[2], ids[1]]);
      expect(orders.latest(2).map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    });

    it('outlives the process', () => {
      const id = orders.place(LINES);
      payments.paid(event(id, 'succeeded'));
      const order = orders.find(id);
      database.onApplicationShutdown();
      expect(database.sqlite.open).toBe(false);
      open();
      expect(orders.find(id)).toEqual(order);
    });

    it('can be read while another process writes', () => {
      expect(database.sqlite.pragma('journal_mode', { simple: true })).toBe('wal');
    });
  });

  describe('a payment that succeeded', () => {
    it('makes its order paid, with the next invoice number', () => {
      const [first, second, third] = [orders.place(LINES), orders.place(LINES), orders.place(LINES)];
      payments.paid(event(second, 'succeeded', 'A'));
      payments.paid(event(first, 'succeeded', 'B'));
      expect(orders.find(second)).toMatchObject({ status: 'paid', invoiceNumber: 1001 });
      expect(orders.find(first)).toMatchObject({ status: 'paid', invoiceNumber: 1002 });
      expect(orders.find(third)).toMatchObject({ status: 'open', invoiceNumber: null });
    });

    it('gives no second invoice number when its event is delivered again', () => {
      const [order, other] = [orders.place(LINES), orders.place(LINES)];
      const delivered = event(order, 'succeeded', 'A');
      payments.paid(delivered);
      payments.paid(event(other, 'succeeded', 'B'));
      payments.paid(delivered);
      expect(orders.find(order)).toMatchObject({ status: 'paid', invoiceNumber: 1001 });
    });

    it('pays an order that was being checked; nothing opens it again', () => {
      const order = orders.place(LINES);
      payments.notPaid(event(order, 'unknown'));
      payments.paid(event(order, 'succeeded'));
      payments.notPaid(event(order, 'failed'));
      payments.notPaid(event(order, 'unknown'));
      expect(orders.find(order)).toMatchObject({ status: 'paid', invoiceNumber: 1001 });
      const held = database.sqlite.prepare('SELECT held_by FROM orders WHERE id = ?').pluck().get(order);
      expect(held).toBeNull();
    });

    it('is an error each time if its order does not exist, so that an operator sees it', () => {
      const delivered = event('T-NONE', 'succeeded');
      expect(() => payments.paid(delivered)).toThrow('There is no order T-NONE');
      expect(() => payments.paid(delivered)).toThrow('There is no order T-NONE');
    });

    it('without a reference pays nothing', () => {
      const order = orders.place(LINES);
      payments.paid(event(null, 'succeeded'));
      expect(orders.find(order)).toMatchObject({ status: 'open' });
    });
  });

  describe('a payment that may have taken money', () => {
    it.each(['unknown', 'review'] as const)('(%s) holds its order and no other', (state) => {
      const [order, other] = [orders.place(LINES), orders.place(LINES)];
      payments.notPaid(event(order, state));
      expect(orders.find(order)).toMatchObject({ status: 'checking' });
      expect(orders.find(other)).toMatchObject({ status: 'open' });
    });

    it.each(['failed', 'expired'] as const)('opens its order again when it has %s, and no other', (state) => {
      const [order, other] = [orders.place(LINES), orders.place(LINES)];
      for (const id of [order, other]) payments.notPaid(event(id, 'unknown'));
      payments.notPaid(event(order, state));
      expect(orders.find(order)).toMatchObject({ status: 'open' });
      expect(orders.find(other)).toMatchObject({ status: 'checking' });
    });

    it('still holds its order when another payment of the order fails', () => {
      const order = orders.place(LINES);
      payments.notPaid(event(order, 'unknown', 'A'));
      payments.notPaid(event(order, 'failed', 'B'));
      expect(orders.find(order)).toMatchObject({ status: 'checking' });
    });

    it('can hold it again', () => {
      const order = orders.place(LINES);
      payments.notPaid(event(order, 'unknown', 'A'));
      payments.notPaid(event(order, 'failed', 'A'));
      payments.notPaid(event(order, 'failed', 'A', { reason: 'declined' }));
      payments.notPaid(event(order, 'review', 'B'));
      expect(orders.find(order)).toMatchObject({ status: 'checking' });
    });

    it('without a reference holds nothing', () => {
      const order = orders.place(LINES);
      payments.notPaid(event(null, 'unknown'));
      expect(orders.find(order)).toMatchObject({ status: 'open' });
    });
  });

  describe('the events that a shop received', () => {
    it('are listed for each order, in the order in which they came', () => {
      const [order, other] = [orders.place(LINES), orders.place(LINES)];
      const unknown = event(order, 'unknown', 'A', { reason: 'no_answer' });
      const succeeded = event(order, 'succeeded', 'A');
      const before = Date.now();
      payments.notPaid(unknown);
      payments.notPaid(event(other, 'failed', 'B'));
      payments.notPaid(event(null, 'failed', 'C'));
      payments.paid(succeeded);
      payments.onPlainEvent(succeeded);
      const received = orders.eventsOf(order);
      expect(received).toMatchObject([
        { eventId: unknown.eventId, via: '@OnPayment', type: 'payment.unknown', reason: 'no_answer' },
        { eventId: succeeded.eventId, via: '@OnPayment', type: 'payment.succeeded', reason: null },
        { eventId: succeeded.eventId, via: '@OnEvent', type: 'payment.succeeded', reason: null },
      ]);
      for (const { receivedAt } of received) {
        expect(receivedAt.getTime()).toBeGreaterThanOrEqual(before);
        expect(receivedAt.getTime()).toBeLessThanOrEqual(Date.now());
      }
      expect(orders.eventsOf(other)).toHaveLength(1);
      expect(orders.eventsOf('')).toHaveLength(1);
    });
  });

  describe('in a shop', () => {
    let simulator: Simulator;
    let merchant: Merchant;
    const store = new MemoryPaymentStore();

    beforeAll(async () => {
      Logger.overrideLogger(false);
      simulator = await startSimulator();
    });
    afterAll(() => simulator.close());
    beforeEach(async () => {
      merchant = await startMerchant('express', simulator, {
        options: { store },
        metadata: {
          imports: [AttemptLimits],
          controllers: [OrdersController],
          providers: [
            Basket,
            Catalogue,
            { provide: DemoGateway, useValue: { isOn: false } },
            { provide: ShopDatabase, useValue: database },
            OrderRepository,
            OrderPayments,
          ],
        },
      });
    });
    afterEach(async () => {
      await merchant.app.close();
      open();
    });

    const post = (basket: string) =>
      fetch(`${merchant.url}/orders`, { method: 'POST', redirect: 'manual', headers: { cookie: `basket=${basket}` } });
    const get = (id: string, basket: string) =>
      fetch(`${merchant.url}/orders/${id}`, { headers: { cookie: `basket=${basket}; lang=en` } });
    const pay = (reference: string) =>
      merchant.payments.doPayment({
        ...sale(),
        reference,
        transactionDetails: { amount: '149.90', currencyCode: 949 },
      });

    it('the basket is ordered and goes to payment', async () => {
      const answer = await post('cup.2~bowl.1');
      expect(answer.status).toBe(303);
      const id = /^\/orders\/(T-[^/]+)\/pay$/.exec(answer.headers.get('location')!)?.[1];
      expect(orders.find(id!)).toMatchObject({ totalKurus: CUP.kurus * 2 + BOWL.kurus });
    });

    it('an empty basket cannot be ordered', async () => {
      const answer = await post('');
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/basket']);
      expect(orders.latest(1)).toEqual([]);
    });

    it('an order that does not exist has no page', async () => {
      expect((await get('T-NONE', '')).status).toBe(404);
    });

    it('an order that waits for its payment keeps the basket', async () => {
      const answer = await get(orders.place(LINES), 'cup.2~bowl.1');
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('set-cookie')).toBeNull();
      const page = await answer.text();
      expect(page).toContain('data-outcome="unpaid"');
      expect(page).toContain('<b>3</b>');
    });

    it('the page of a paid order empties the basket, unless the basket has changed since', async () => {
      const id = orders.place(LINES);
      await pay(id);
      const other = await get(id, 'cup.1');
      expect(other.headers.get('set-cookie')).toBeNull();
      expect(await other.text()).toContain('<b>1</b>');
      const answer = await get(id, 'cup.2~bowl.1');
      expect(answer.headers.get('set-cookie')).toContain('basket=;');
      const page = await answer.text();
      expect(page).toContain('data-outcome="paid"');
      expect(page).not.toContain('<b>');
      expect(page).toContain('Order');
    });

    it.each<[string, PaymentEventState]>([
      ['149.90', 'succeeded'],
      ['149.51', 'failed'],
      ['149.96', 'unknown'],
    ])('both kinds of listeners hear of a payment of %s: %s', async (amount, state) => {
      const id = orders.place(LINES);
      const details = { amount, currencyCode: 949 };
      await merchant.payments.doPayment({ ...sale(), reference: id, transactionDetails: details });
      const heard = () => orders.eventsOf(id).map(({ via, type }) => `${via} ${type}`);
      const until = Date.now() + 5_000;
      while (heard().length < 2 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(heard().sort()).toEqual([`@OnEvent payment.${state}`, `@OnPayment payment.${state}`]);
    });
  });
});

function open(): void {
  database = new ShopDatabase();
  orders = new OrderRepository(database);
  payments = new OrderPayments(orders);
}
