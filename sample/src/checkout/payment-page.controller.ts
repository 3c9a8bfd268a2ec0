import { Controller, Get, Header, HttpCode, Param, Post, Redirect, Res } from '@nestjs/common';
import type { Response } from 'express';
import {
  PaymentDuplicateError,
  PaymentHostedError,
  PaymentNotSentError,
  PaymentService,
  PaymentStateError,
} from 'nestjs-card-payment';
import { DemoGateway } from '../demo/demo-gateway.js';
import type { Order } from '../orders/order.js';
import { OrderRepository } from '../orders/order.repository.js';
import { isAtPage, isPayable, type Outcome, outcomeOf } from '../orders/outcome.js';
import { goingToPage } from '../pages/going-to-page.js';
import { CurrentVisitor, type Visitor } from '../visitor/visitor.js';
import { LimitsAttempts } from './attempt-limits.js';
import { toHostedPayment } from './hosted-payment.js';

/** The gateway's own payment page, at which the buyer types the card instead of in the shop. */
@Controller('orders/:id/payment-page')
export class PaymentPageController {
  constructor(
    private readonly orders: OrderRepository,
    private readonly payments: PaymentService,
    private readonly demo: DemoGateway,
  ) {}

  /** Opens the page. While it is open, this leads to the same page again. */
  @Post()
  @LimitsAttempts()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async open(@Param('id') id: string, @Res() response: Response, @CurrentVisitor() visitor: Visitor): Promise<void> {
    const order = this.orders.get(id);
    // Only `tr` is documented for the real gateway; the simulated page is also in English.
    const language = this.demo.isOn ? { language: visitor.language } : {};
    try {
      const { redirectUrl } = await this.payments.startHosted({ ...toHostedPayment(order), ...language });
      if (redirectUrl !== null) return void response.send(goingToPage(redirectUrl, visitor));
    } catch (error) {
      // After these errors the order page shows a payment: the one that holds the order, or the one that failed.
      const isShownWithOrder =
        error instanceof PaymentHostedError ||
        error instanceof PaymentNotSentError ||
        error instanceof PaymentDuplicateError;
      if (!isShownWithOrder) throw error;
    }
    response.redirect(303, `/orders/${order.id}`);
  }

  /** For a buyer who loads the page again, or changes its language. */
  @Get()
  @Redirect('/', 303)
  show(@Param('id') id: string): { url: string } {
    return { url: `/orders/${this.orders.get(id).id}` };
  }

  /** Gives the page up, so that the order can be paid in another way. The gateway is asked first whether it was paid. */
  @Post('leave')
  @Redirect('/', 303)
  async leave(@Param('id') id: string): Promise<{ url: string }> {
    const order = this.orders.get(id);
    const before = await this.outcomeOf(order);
    if (isAtPage(before)) await this.giveUp(before.payment.conversationId);
    const outcome = await this.outcomeOf(order);
    if (isPayable(outcome)) return { url: `/orders/${order.id}/pay` };
    return { url: `/orders/${order.id}${isAtPage(outcome) ? '?page=open' : ''}` };
  }

  private async giveUp(conversationId: string): Promise<void> {
    try {
      await this.payments.abandon(conversationId);
    } catch (error) {
      // It is only just being opened.
      if (!(error instanceof PaymentStateError)) throw error;
    }
  }

  private async outcomeOf(order: Order): Promise<Outcome> {
    return outcomeOf(await this.payments.findByReference(order.id));
  }
}
