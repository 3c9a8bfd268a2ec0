import { Body, Controller, Get, Header, Param, Post, Redirect, UseGuards } from '@nestjs/common';
import { PaymentService, PaymentStateError, PaymentUnsupportedError } from 'nestjs-card-payment';
import { formText } from '../form-text.js';
import { OrderBook } from '../orders/order-book.js';
import { adminPage } from '../pages/admin-page.js';
import { CurrentVisitor, type Visitor } from '../visitor/visitor.js';
import { AdminGuard } from './admin.guard.js';

const SHOWN = 50;

/** The merchant's side: orders, their payments, and the events that came. */
@Controller('admin')
@UseGuards(AdminGuard)
export class AdminController {
  constructor(
    private readonly orders: OrderBook,
    private readonly payments: PaymentService,
  ) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  async show(@CurrentVisitor() visitor: Visitor): Promise<string> {
    const entries = this.orders.latest(SHOWN).map(async (order) => ({
      order,
      payments: await this.payments.findByReference(order.id),
      events: this.orders.eventsOf(order.id),
    }));
    return adminPage(await Promise.all(entries), visitor);
  }

  /** Asks the gateway what became of a payment. The module does so by itself; this is for the impatient. */
  @Post('payments/:id/inquire')
  @Redirect('/admin', 303)
  async inquire(@Param('id') conversationId: string): Promise<void> {
    await unlessTooLate(this.payments.inquire(conversationId));
  }

  /** Somebody has looked at the gateway's own records and knows. */
  @Post('payments/:id/resolve')
  @Redirect('/admin', 303)
  async resolve(@Param('id') conversationId: string, @Body() form: unknown): Promise<void> {
    const state = formText(form, 'state') === 'succeeded' ? 'succeeded' : 'failed';
    await unlessTooLate(this.payments.resolve(conversationId, state, 'settled on the orders page'));
  }
}

/** The page tells the state anyway: also when somebody was faster, or the gateway cannot be asked. */
async function unlessTooLate(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof PaymentStateError || error instanceof PaymentUnsupportedError)) throw error;
  }
}
