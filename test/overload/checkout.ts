import { Controller, Post } from '@nestjs/common';
import { type Payment, PaymentService } from 'nestjs-card-payment';
import { sale } from '../rigs/sale.js';

/** A merchant's own route. */
@Controller('checkout')
export class Checkout {
  constructor(private readonly payments: PaymentService) {}

  @Post()
  pay(): Promise<Payment> {
    return this.payments.doPayment(sale());
  }
}
