import { BadRequestException, Body, Controller, Get, Header, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import {
  BANK_PAGE_HEADERS,
  PaymentDuplicateError,
  PaymentInit3dError,
  PaymentNotSentError,
  PaymentService,
  PaymentValidationError,
} from 'nestjs-card-payment';
import { DemoGateway } from '../demo/demo-gateway.js';
import { formText } from '../form-text.js';
import type { Order } from '../orders/order.js';
import { OrderRepository } from '../orders/order.repository.js';
import { isPayable, outcomeOf } from '../orders/outcome.js';
import { checkoutPage } from '../pages/checkout-page.js';
import { TEXTS } from '../texts/texts.js';
import { CurrentVisitor, type Visitor } from '../visitor/visitor.js';
import { LimitsAttempts } from './attempt-limits.js';
import { type CardOffer, firstDigits, offerFor } from './card-offer.js';
import { EMPTY_CHECKOUT, readCheckout, shownAgain, toPayment, wrongFields } from './checkout-form.js';

@Controller('orders/:id/pay')
export class CheckoutController {
  constructor(
    private readonly orders: OrderRepository,
    private readonly payments: PaymentService,
    private readonly demo: DemoGateway,
  ) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  async form(@Param('id') id: string, @Res() response: Response, @CurrentVisitor() visitor: Visitor): Promise<void> {
    const order = this.orders.get(id);
    if (!(await this.isPayable(order))) return response.redirect(303, `/orders/${order.id}`);
    response.send(checkoutPage({ order, visitor, values: EMPTY_CHECKOUT, demo: this.demo }));
  }

  @Post()
  @LimitsAttempts()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async pay(
    @Param('id') id: string,
    @Body() form: unknown,
    @Res() response: Response,
    @CurrentVisitor() visitor: Visitor,
  ): Promise<void> {
    const order = this.orders.get(id);
    const { is3d } = readCheckout(form);
    // The form does not offer it, but anyone can post it. Without 3D Secure, the shop is liable for stolen cards.
    if (!is3d && !this.demo.isOn) throw new BadRequestException();
    const offer = await this.offerOf(form, order);
    const { instalments } = readCheckout(form);
    if (offer && !offer.instalments.some(({ count }) => count === instalments)) {
      const wrong = new Map([['instalments', TEXTS[visitor.language].checkout.notThese] as const]);
      response
        .status(422)
        .send(checkoutPage({ order, visitor, values: shownAgain(form), wrong, offer, demo: this.demo }));
      return;
    }
    try {
      if (is3d) return await this.goToBank(order, form, visitor, response);
      // The order page shows the outcome.
      await this.payments.doPayment(this.paymentOf(order, form, visitor));
    } catch (error) {
      if (error instanceof PaymentValidationError) {
        const wrong = wrongFields(error, visitor.language);
        const values = shownAgain(form);
        response.status(422).send(checkoutPage({ order, visitor, values, wrong, offer, demo: this.demo }));
        return;
      }
      // After each of these errors the order page shows a payment, and this request moved no money.
      const isShownWithOrder =
        error instanceof PaymentNotSentError ||
        error instanceof PaymentInit3dError ||
        error instanceof PaymentDuplicateError;
      if (!isShownWithOrder) throw error;
    }
    response.redirect(303, `/orders/${order.id}`);
  }

  /**
   * Sends the gateway's page, which takes the buyer to the bank. The headers replace the shop's policy: they let the
   * page go to the bank, and prevent it from reading the shop. The payment module does the rest.
   */
  private async goToBank(order: Order, form: unknown, visitor: Visitor, response: Response): Promise<void> {
    const { html } = await this.payments.init3d(this.paymentOf(order, form, visitor));
    response.set(BANK_PAGE_HEADERS).send(html);
  }

  private paymentOf(order: Order, form: unknown, visitor: Visitor): ReturnType<typeof toPayment> {
    const payment = toPayment(form, order);
    // Only `tr` is documented for the real gateway; the simulated bank also has English pages.
    return this.demo.isOn ? { ...payment, language: visitor.language } : payment;
  }

  /** What the card can do, asked again, since a form can be changed. Null if the buyer pays in full. */
  private async offerOf(form: unknown, order: Order): Promise<CardOffer | null> {
    const bin = firstDigits(formText(form, 'number'));
    if (bin === null || readCheckout(form).instalments === 1) return null;
    // The payment goes on: the gateway decides.
    return offerFor(this.payments, bin, order).catch(() => null);
  }

  private async isPayable(order: Order): Promise<boolean> {
    return isPayable(outcomeOf(await this.payments.findByReference(order.id)));
  }
}
