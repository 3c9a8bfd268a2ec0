import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  HttpException,
  HttpStatus,
  Param,
  Post,
  Redirect,
  Res,
} from '@nestjs/common';
import type { Response } from 'express';
import { PaymentOverloadError, PaymentService, PaymentValidationError } from 'nestjs-card-payment';
import { DemoGateway } from '../demo/demo-gateway.js';
import { formText } from '../form-text.js';
import type { Order } from '../orders/order.js';
import { OrderRepository } from '../orders/order.repository.js';
import { cardText, choicesOf, type Choice } from '../pages/card-choices.js';
import { checkoutPage } from '../pages/checkout-page.js';
import { CurrentVisitor, type Visitor } from '../visitor/visitor.js';
import { LimitsLookUps } from './attempt-limits.js';
import { type CardOffer, offerFor } from './card-offer.js';
import { EMPTY_CHECKOUT } from './checkout-form.js';

/** What the script of the form shows while the buyer types. */
interface ShownOffer {
  readonly card: string;
  readonly choices: readonly Choice[];
}

/** Tells which bank a card is of, and in which instalments it can pay, by its first digits. */
@Controller('orders/:id/card')
export class CardController {
  constructor(
    private readonly orders: OrderRepository,
    private readonly payments: PaymentService,
    private readonly demo: DemoGateway,
  ) {}

  /** For the script. The digits are in the body, since addresses are logged. */
  @Post('choices')
  @LimitsLookUps()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async choices(
    @Param('id') id: string,
    @Body() form: unknown,
    @CurrentVisitor() { language }: Visitor,
  ): Promise<ShownOffer> {
    const order = this.orders.get(id);
    const offer = await this.offerFor(formText(form, 'bin'), order);
    return { card: cardText(offer, language), choices: choicesOf(order, offer, language) };
  }

  /** For browsers without script: the form again, with what the card can do. */
  @Post()
  @LimitsLookUps()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async form(
    @Param('id') id: string,
    @Body() form: unknown,
    @Res() response: Response,
    @CurrentVisitor() visitor: Visitor,
  ): Promise<void> {
    const order = this.orders.get(id);
    const page = { order, visitor, values: EMPTY_CHECKOUT, demo: this.demo };
    try {
      const offer = await this.offerFor(formText(form, 'bin'), order);
      response.send(checkoutPage({ ...page, offer }));
    } catch (error) {
      if (!(error instanceof PaymentValidationError)) throw error;
      response.status(422).send(checkoutPage(page));
    }
  }

  /** For a buyer who loads the page again, or changes its language. */
  @Get()
  @Redirect('/', 303)
  show(@Param('id') id: string): { url: string } {
    return { url: `/orders/${this.orders.get(id).id}/pay` };
  }

  private async offerFor(bin: string, order: Order): Promise<CardOffer> {
    try {
      return await offerFor(this.payments, bin, order);
    } catch (error) {
      if (error instanceof PaymentOverloadError) throw new HttpException({}, HttpStatus.TOO_MANY_REQUESTS);
      throw error;
    }
  }
}
