import { randomUUID } from 'node:crypto';
import {
  Injectable,
  NotFoundException,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import Database from 'better-sqlite3';
import {
  CheckoutDto,
  OnPayment,
  PaymentEvent,
  PaymentService,
  TRY,
} from 'nestjs-card-payment';

/** Of this shop's only product. */
export const PRICE = '149.90';

/** What is taken from the buyer; never the amount. */
export type Checkout = Pick<CheckoutDto, 'cardDetails' | 'cardHolderInfo'>;

interface Order {
  readonly id: string;
  readonly total: string;
  readonly paidBy: string | null;
}

@Injectable()
export class OrderService implements OnApplicationShutdown {
  /**
   * Use your shop's database instead. This one keeps orders across restarts, as
   * the payments are kept.
   */
  private readonly database: Database.Database;

  constructor(
    private readonly payments: PaymentService,
    config: ConfigService,
  ) {
    this.database = new Database(
      config.get<string>('ORDERS_DB', 'orders.sqlite'),
    );
    this.database.exec(
      `create table if not exists orders
        (id text primary key, total text not null, paid_by text)`,
    );
  }

  onApplicationShutdown(): void {
    this.database.close();
  }

  /**
   * Anyone who knows the id can see the order's page. It is random, so that
   * nobody can try ids one by one.
   */
  place(): string {
    const id = randomUUID();
    this.database
      .prepare('insert into orders (id, total) values (?, ?)')
      .run(id, PRICE);
    return id;
  }

  find(id: string): Order {
    const select = this.database.prepare(
      'select id, total, paid_by as paidBy from orders where id = ?',
    );
    const order = select.get(id) as Order | undefined;
    if (!order) throw new NotFoundException();
    return order;
  }

  /** The bank's page, for the buyer's browser. */
  async startPayment(id: string, checkout: Checkout): Promise<string> {
    const order = this.find(id);
    const { html } = await this.payments.init3d({
      reference: order.id, // your own id: at most one payment of it can succeed
      // from your order, never from the buyer
      transactionDetails: { amount: order.total, currencyCode: TRY },
      cardDetails: checkout.cardDetails,
      cardHolderInfo: checkout.cardHolderInfo,
    });
    return html;
  }

  /**
   * All that the order's page shows: a payment also has the bank's references,
   * which only your staff should see.
   */
  async stateOf(id: string): Promise<'not paid' | 'please wait' | 'paid'> {
    if (this.find(id).paidBy !== null) return 'paid';
    const payments = await this.payments.findByReference(id);
    if (payments.some(({ state }) => state === 'succeeded')) return 'paid';
    // `awaiting`: the buyer left the bank's page, and may start again.
    const isOver = payments.every(
      ({ state, settled }) => settled || state === 'awaiting',
    );
    return isOver ? 'not paid' : 'please wait';
  }

  /**
   * Called again until it returns, even after a crash; so it may be called more
   * than once.
   */
  @OnPayment('succeeded')
  markPaid({ eventId, payment }: PaymentEvent<'succeeded'>): void {
    const update = this.database.prepare(
      'update orders set paid_by = ? where id = ? and paid_by is null',
    );
    update.run(eventId, payment.reference);
  }
}
