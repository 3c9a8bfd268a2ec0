import { Body, Controller, Get, Param, Post, UseGuards } from '@nestjs/common';
import {
  CheckoutDto,
  Payment,
  PaymentCallback,
  PaymentCallbackGuard,
  PaymentService,
  ReceivedCallback,
} from 'nestjs-card-payment';

/** Routes of the merchant. Decorator metadata needs the classes in signatures to be imported as values. */
@Controller('own')
export class OwnCallbackController {
  constructor(private readonly payments: PaymentService) {}

  @Post(':token/back')
  @UseGuards(PaymentCallbackGuard)
  back(@PaymentCallback() { conversationId, fields }: ReceivedCallback): Promise<Payment> {
    return this.payments.auth3d({ conversationId, fields });
  }

  @Post('orders/:reference/pay')
  pay(@Param('reference') reference: string, @Body() checkout: CheckoutDto): Promise<Payment> {
    return this.payments.doPayment({
      reference,
      cardDetails: checkout.cardDetails,
      cardHolderInfo: checkout.cardHolderInfo,
      transactionDetails: { amount: '149.90', currencyCode: 949, installmentCount: checkout.installmentCount },
    });
  }

  @Get('orders/:reference')
  attempts(@Param('reference') reference: string): Promise<Payment[]> {
    return this.payments.findByReference(reference);
  }
}
