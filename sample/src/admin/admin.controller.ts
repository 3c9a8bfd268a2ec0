import { Body, Controller, Get, Header, NotFoundException, Param, Post, Redirect, UseGuards } from '@nestjs/common';
import { PaymentNotFoundError, PaymentService, PaymentStateError, PaymentUnsupportedError } from 'nestjs-card-payment';
import { formText } from '../form-text.js';
import { moneyBackOf } from '../orders/money-back.js';
import { OrderRepository } from '../orders/order.repository.js';
import { adminPage } from '../pages/admin-page.js';
import { CurrentVisitor, type Visitor } from '../visitor/visitor.js';
import { AdminGuard, CurrentAdmin } from './admin.guard.js';

const SHOWN = 50;

/** The merchant's page: orders, their payments and refunds, and the events received. */
@Controller('admin')
@UseGuards(AdminGuard)
export class AdminController {
  constructor(
    private readonly orders: OrderRepository,
    private readonly payments: PaymentService,
  ) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  async show(@CurrentVisitor() visitor: Visitor): Promise<string> {
    const entries = this.orders.latest(SHOWN).map(async (order) => ({
      order,
      payments: await moneyBackOf(this.payments, order.id),
      events: this.orders.eventsOf(order.id),
    }));
    return adminPage(await Promise.all(entries), visitor);
  }

  /** Asks the gateway about a payment now, instead of waiting until the module does. */
  @Post('payments/:id/inquire')
  @Redirect('/admin', 303)
  async inquire(@Param('id') conversationId: string, @Body() form: unknown): Promise<{ url: string }> {
    await ignoringRefusals(this.payments.inquire(conversationId));
    return { url: this.pageOf(form) };
  }

  /** For staff who have looked the outcome up in the gateway's own records. */
  @Post('payments/:id/resolve')
  @Redirect('/admin', 303)
  async resolve(
    @Param('id') conversationId: string,
    @Body() form: unknown,
    @CurrentAdmin() by: string,
  ): Promise<{ url: string }> {
    const state = formText(form, 'state') === 'succeeded' ? 'succeeded' : 'failed';
    await ignoringRefusals(this.payments.resolve(conversationId, state, 'settled on the orders page', { by }));
    return { url: this.pageOf(form) };
  }

  /** Where the form was: the page of an order, or the list. */
  private pageOf(form: unknown): string {
    const order = this.orders.find(formText(form, 'order'));
    return order ? `/admin/orders/${order.id}` : '/admin';
  }
}

/**
 * Refusals are ignored because the page shows the state anyway: the payment may have changed, or the gateway may have
 * no inquiry.
 */
async function ignoringRefusals(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (error instanceof PaymentNotFoundError) throw new NotFoundException();
    if (!(error instanceof PaymentStateError || error instanceof PaymentUnsupportedError)) throw error;
  }
}
