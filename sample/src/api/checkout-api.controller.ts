import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  Header,
  HttpCode,
  Param,
  Post,
  UseFilters,
} from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import { CheckoutDto, PaymentService, paymentValidationPipe } from 'nestjs-card-payment';
import { LimitsAttempts } from '../checkout/attempt-limits.js';
import { INSTALMENTS } from '../checkout/checkout-form.js';
import { toHostedPayment } from '../checkout/hosted-payment.js';
import { decimalText, TURKISH_LIRA } from '../money.js';
import type { Order } from '../orders/order.js';
import { OrderRepository } from '../orders/order.repository.js';
import { isAtPage, isPayable, type Outcome, outcomeOf } from '../orders/outcome.js';
import { ApiErrorFilter } from './api-error.filter.js';

class StartedPayment {
  @ApiProperty({ description: 'The id of this attempt.' })
  conversationId!: string;

  @ApiProperty({ description: 'The page that takes the buyer to the bank: show it in a window of its own.' })
  html!: string;
}

class OpenedPage {
  @ApiProperty({ description: 'The id of this attempt.' })
  conversationId!: string;

  @ApiProperty({ type: String, nullable: true, description: 'The address of the payment page: open it in a browser.' })
  redirectUrl!: string | null;
}

/** The checkout for the shop's mobile app, which has its own pages and shows the bank's in a WebView. */
@ApiTags('checkout')
@Controller('api/orders/:id')
@UseFilters(ApiErrorFilter)
export class CheckoutApiController {
  constructor(
    private readonly orders: OrderRepository,
    private readonly payments: PaymentService,
  ) {}

  @Post('pay')
  @LimitsAttempts()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Starts a 3D Secure payment of an order.' })
  @ApiOkResponse({ type: StartedPayment })
  @ApiResponse({ status: 400, description: 'The card, its holder or the instalments are refused; nothing was sent.' })
  @ApiResponse({ status: 404, description: 'There is no such order.' })
  @ApiResponse({ status: 409, description: 'The order has been paid or is being paid.' })
  async pay(
    @Param('id') id: string,
    @Body(paymentValidationPipe({ forbidNonWhitelisted: true })) checkout: CheckoutDto,
  ): Promise<StartedPayment> {
    const order = this.orders.get(id);
    if (!isPayable(await this.outcomeOf(order))) throw new ConflictException();
    const installmentCount = INSTALMENTS.find((count) => count === (checkout.installmentCount ?? 1));
    if (installmentCount === undefined) throw new BadRequestException();
    const { conversationId, html } = await this.payments.init3d({
      reference: order.id,
      cardDetails: checkout.cardDetails,
      cardHolderInfo: checkout.cardHolderInfo,
      transactionDetails: { amount: decimalText(order.totalKurus), currencyCode: TURKISH_LIRA, installmentCount },
    });
    return { conversationId, html };
  }

  @Post('payment-page')
  @LimitsAttempts()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Opens the gateway’s own payment page for an order, or gives the page that is open.' })
  @ApiOkResponse({ type: OpenedPage })
  @ApiResponse({ status: 404, description: 'There is no such order.' })
  @ApiResponse({
    status: 409,
    description: 'The order has been paid or is being paid, or its page cannot be shown again.',
  })
  async openPage(@Param('id') id: string): Promise<OpenedPage> {
    const order = this.orders.get(id);
    const outcome = await this.outcomeOf(order);
    if (!isPayable(outcome) && !isAtPage(outcome)) throw new ConflictException();
    const { conversationId, redirectUrl } = await this.payments.startHosted(toHostedPayment(order));
    return { conversationId, redirectUrl };
  }

  private async outcomeOf(order: Order): Promise<Outcome> {
    return outcomeOf(await this.payments.findByReference(order.id));
  }
}
