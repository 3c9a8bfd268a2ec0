import {
  Body,
  Controller,
  Get,
  Param,
  Post,
  Redirect,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import {
  BankPage,
  CheckoutDto,
  paymentValidationPipe,
} from 'nestjs-card-payment';
import { AttemptLimit } from './attempt-limit.guard.js';
import { ErrorPages } from './error-pages.filter.js';
import { type Checkout, OrderService, PRICE } from './order.service.js';
import { cardForm, CHECKOUT, orderPage, ShopPage, shopPage } from './pages.js';
import { LANGUAGE } from './texts.js';

/** Reads the form by itself, whatever pipe the application has. */
const CARD_FORM = paymentValidationPipe({
  language: LANGUAGE,
  expectedType: CheckoutDto,
});

@Controller('checkout')
@UseFilters(ErrorPages)
export class CheckoutController {
  constructor(private readonly orders: OrderService) {}

  @Get()
  @ShopPage()
  shop(): string {
    return shopPage(PRICE);
  }

  @Post()
  @UseGuards(AttemptLimit)
  @Redirect()
  order(): { url: string; statusCode: number } {
    return { url: `${CHECKOUT}/${this.orders.place()}/pay`, statusCode: 303 };
  }

  @Get(':id/pay')
  @ShopPage()
  form(@Param('id') id: string): string {
    return cardForm(this.orders.find(id).total);
  }

  @Post(':id/pay')
  @UseGuards(AttemptLimit)
  @ShopPage() // the form again, when it is refused
  @BankPage() // otherwise
  pay(
    @Param('id') id: string,
    @Body(CARD_FORM) checkout: Checkout,
  ): Promise<string> {
    return this.orders.startPayment(id, checkout);
  }

  @Get(':id')
  @ShopPage()
  async show(@Param('id') id: string): Promise<string> {
    return orderPage(id, await this.orders.stateOf(id));
  }
}
