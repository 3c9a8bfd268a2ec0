import Database from 'better-sqlite3';
import { aPayment, aPaymentEvent, aRefundEvent } from 'nestjs-card-payment/testing';
import { PRODUCTS } from '../../sample/src/catalogue/products.js';
import { OrderPayments } from '../../sample/src/orders/order-payments.js';
import { OrderRepository } from '../../sample/src/orders/order.repository.js';
import { ShopDatabase } from '../../sample/src/orders/shop-database.js';
import { useScratchFolder } from '../rigs/scratch-folder.js';

const product = (id: string) => PRODUCTS.find((one) => one.id === id)!;
const [CUP, BOWL] = [product('cup'), product('bowl')];
const LINES = [
  { product: CUP, quantity: 2 },
  { product: BOWL, quantity: 1 },
];
const TOTAL = CUP.kurus * 2 + BOWL.kurus;

describe('the orders of the sample', () => {
  const folder = useScratchFolder('orders');
  let database: ShopDatabase;
  let orders: OrderRepository;
  let handlers: OrderPayments;

  beforeEach(() => {
    process.env.SHOP_DATA = folder.path;
    open();
  });
  afterEach(() => {
    database.onApplicationShutdown();
    delete process.env.SHOP_DATA;
  });

  function open(): void {
    database = new ShopDatabase();
    orders = new OrderRepository(database);
    handlers = new OrderPayments(orders);
  }

  /** What an order is, such as `paid 1001`, `checking by A`, `paid 1001, 10.50 back`. */
  function told(id: string): string {
    const { status, invoiceNumber, refundedKurus } = orders.get(id);
    const held = database.sqlite.prepare('SELECT held_by FROM orders WHERE id = ?').pluck().get(id) as string | null;
    const back = refundedKurus === 0 ? '' : `, ${(refundedKurus / 100).toFixed(2)} back`;
    return [status, invoiceNumber, held && `by ${held}`].filter(Boolean).join(' ') + back;
  }

  /**
   * An event, and what it is about: `1 succeeded A` is of payment A of the first order, `- unknown A` of a payment
   * without an order, `1 refund R 10.50 of A` of a refund, and `in second` of another account.
   */
  function deliver(step: string, ids: readonly string[]): void {
    const [, number = '', word = '', id = 'A', amount = '', of = 'A', account = 'default'] =
      /^(\S+) (\w+)(?: (\w+))?(?: ([\d.]+))?(?: of (\w+))?(?: in (\w+))?$/.exec(step) ?? [];
    const reference = number === '-' ? null : (ids[Number(number) - 1] ?? number);
    if (word === 'refund') {
      const payment = aPayment({ reference, conversationId: of, account });
      handlers.refunded(aRefundEvent({ refundId: id, amount, reference, account, conversationId: of }, payment));
    } else if (word === 'notRefunded') {
      const refund = { state: 'unknown', reason: 'no_answer', amount: '1.00', reference } as const;
      handlers.notRefunded(aRefundEvent({ refundId: id, ...refund }));
    } else if (word === 'succeeded') {
      handlers.paid(aPaymentEvent({ state: word, reference, conversationId: id, account }));
    } else {
      handlers.notPaid(aPaymentEvent({ state: word as 'failed', reference, conversationId: id, account }));
    }
  }

  const all = (TOTAL / 100).toFixed(2);
  const allButOne = ((TOTAL - 1) / 100).toFixed(2);

  /** What two orders are after each of these events. */
  it.each<[string, [event: string, first: string, second: string][]]>([
    [
      'an invoice number is given once for each payment of each account, however often its event is delivered',
      [
        ['1 succeeded A', 'paid 1001', 'open'],
        ['1 succeeded A', 'paid 1001', 'open'],
        ['2 succeeded A in second', 'paid 1001', 'paid 1002'],
        ['2 succeeded A in second', 'paid 1001', 'paid 1002'],
        ['1 succeeded A', 'paid 1001', 'paid 1002'],
      ],
    ],
    [
      'an order is held while an outcome is not known, and released only by the payment that holds it',
      [
        ['1 unknown A', 'checking by A', 'open'],
        ['2 failed B', 'checking by A', 'open'],
        ['1 failed B', 'checking by A', 'open'],
        ['2 unknown C', 'checking by A', 'checking by C'],
        ['1 failed A', 'open', 'checking by C'],
        ['1 failed A', 'open', 'checking by C'],
        ['1 review B', 'checking by B', 'checking by C'],
        ['1 expired B', 'open', 'checking by C'],
      ],
    ],
    [
      'nothing opens a paid order again',
      [
        ['1 unknown B', 'checking by B', 'open'],
        ['1 succeeded A', 'paid 1001', 'open'],
        ['1 review B', 'paid 1001', 'open'],
        ['1 failed B', 'paid 1001', 'open'],
        ['1 unknown A', 'paid 1001', 'open'],
        ['1 expired A', 'paid 1001', 'open'],
      ],
    ],
    [
      'a payment without an order changes none',
      [
        ['- succeeded A', 'open', 'open'],
        ['- unknown B', 'open', 'open'],
        ['- refund R 1.00', 'open', 'open'],
      ],
    ],
    [
      'a refund is written down once, however often its event is delivered',
      [
        ['1 succeeded A', 'paid 1001', 'open'],
        ['1 refund R 10.50', 'paid 1001, 10.50 back', 'open'],
        ['1 refund R 10.50', 'paid 1001, 10.50 back', 'open'],
        ['1 refund S 2.5', 'paid 1001, 13.00 back', 'open'],
        ['1 refund R 1 in second', 'paid 1001, 14.00 back', 'open'],
        ['1 notRefunded T', 'paid 1001, 14.00 back', 'open'],
      ],
    ],
    [
      'an order is refunded when all of its payment was given back',
      [
        ['1 succeeded A', 'paid 1001', 'open'],
        [`1 refund R ${allButOne}`, `paid 1001, ${allButOne} back`, 'open'],
        ['1 refund S 0.01', `refunded 1001, ${all} back`, 'open'],
      ],
    ],
    [
      'a second payment changes nothing, and what it gives back is not the order’s',
      [
        ['1 succeeded A', 'paid 1001', 'open'],
        ['1 succeeded B', 'paid 1001', 'open'],
        ['1 refund R 9999.00 of B', 'paid 1001', 'open'],
      ],
    ],
    [
      'an order may be refunded before it counts as paid',
      [
        [`1 refund R ${all}`, `open, ${all} back`, 'open'],
        ['1 succeeded A', `refunded 1001, ${all} back`, 'open'],
      ],
    ],
  ])('%s', (_what, steps) => {
    const ids = [orders.place(LINES), orders.place(LINES)];
    for (const [step, ...expected] of steps) {
      deliver(step, ids);
      expect([step, ...ids.map(told)]).toEqual([step, ...expected]);
    }
  });

  it('fails each time for an order that there is not', () => {
    for (const step of ['T-none succeeded A', 'T-none succeeded A', 'T-none refund R 1.00', 'T-none refund R 1.00']) {
      expect(() => deliver(step, [])).toThrow('There is no order T-none');
    }
  });

  it('lists the events of an order as they came, and how each was received', () => {
    const [id, other] = [orders.place(LINES), orders.place(LINES)];
    const held = aPaymentEvent({ state: 'unknown', reason: 'no_answer', reference: id });
    handlers.notPaid(held);
    handlers.onPlainEvent(held);
    deliver('2 failed B', [id, other]);
    deliver('- failed C', []);
    deliver('1 succeeded A', [id]);
    deliver('1 notRefunded R', [id]);
    expect(orders.eventsOf(id)).toMatchObject([
      { via: '@OnPayment', type: 'payment.unknown', reason: 'no_answer', eventId: held.eventId },
      { via: '@OnEvent', type: 'payment.unknown', reason: 'no_answer', eventId: held.eventId },
      { via: '@OnPayment', type: 'payment.succeeded', reason: null },
      { via: '@OnRefund', type: 'refund.unknown', reason: 'no_answer' },
    ]);
    expect([orders.eventsOf(other), orders.eventsOf('')].map(({ length }) => length)).toEqual([1, 1]);
  });

  it('keeps the products and the prices that the buyer saw, also over a restart', () => {
    const id = orders.place(LINES);
    const order = orders.find(id)!;
    expect(order).toEqual({
      id,
      lines: [
        { productId: 'cup', name: CUP.name, quantity: 2, kurus: CUP.kurus * 2 },
        { productId: 'bowl', name: BOWL.name, quantity: 1, kurus: BOWL.kurus },
      ],
      totalKurus: TOTAL,
      status: 'open',
      placedAt: expect.any(Date) as Date,
      invoiceNumber: null,
      refundedKurus: 0,
    });
    database.onApplicationShutdown();
    open();
    expect([orders.find(id), orders.find('T-0000-0000-0000')]).toEqual([order, null]);
  });

  it('has ids that cannot be guessed', () => {
    const ids = Array.from({ length: 200 }, () => orders.place(LINES));
    for (const id of ids) expect(id).toMatch(/^T-([2-9A-HJKMNP-Z]{4}-){2}[2-9A-HJKMNP-Z]{4}$/);
    expect(new Set(ids).size).toBe(200);
    expect(new Set(ids.join('').replace(/-/g, '')).size).toBe(30);
  });

  it('keeps the orders of an earlier release', () => {
    const id = orders.place(LINES);
    deliver('1 succeeded A', [id]);
    database.onApplicationShutdown();
    const before = new Database(folder.file('shop.sqlite'));
    before.exec('ALTER TABLE orders DROP COLUMN paid_by; DROP TABLE order_refunds');
    before.close();
    open();
    expect(told(id)).toBe('paid 1001');
    deliver('1 refund R 10.00', [id]);
    expect(told(id)).toBe('paid 1001, 10.00 back');
  });
});
