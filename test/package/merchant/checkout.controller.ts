import { Body, Controller, Post } from '@nestjs/common';
import { CardDetailsDto, type Payment } from 'nestjs-card-payment';
import { Orders } from './orders.js';

/** A controller without the exception filter. */
@Controller('pay')
export class CheckoutController {
  constructor(private readonly orders: Orders) {}

  @Post()
  pay(@Body() card: CardDetailsDto): Promise<Payment> {
    return this.orders.charge('web', card);
  }
}
