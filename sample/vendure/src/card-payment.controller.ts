import { Body, ConflictException, Controller, Post, Redirect, UseFilters, UsePipes } from '@nestjs/common';
import { ActiveOrderService, Allow, Ctx, Permission, RequestContext } from '@vendure/core';
import {
  BankPage,
  CheckoutDto,
  PaymentExceptionFilter,
  PaymentService,
  paymentValidationPipe,
} from 'nestjs-card-payment';
import { currencyCodeOf, majorUnits } from './amounts';

/** Where the storefront's forms go. Limit how often a visitor may call this: others try stolen cards on such forms. */
@Controller('card-payment')
@UseFilters(PaymentExceptionFilter)
@UsePipes(paymentValidationPipe())
export class CardPaymentController {
  constructor(
    private readonly activeOrders: ActiveOrderService,
    private readonly payments: PaymentService,
  ) {}

  /** Answers the card form with the bank's page. */
  @Post('card')
  @Allow(Permission.Owner)
  @BankPage()
  async pay(@Ctx() ctx: RequestContext, @Body() { cardDetails, cardHolderInfo }: CheckoutDto): Promise<string> {
    const { html } = await this.payments.init3d({ ...(await this.saleOf(ctx)), cardDetails, cardHolderInfo });
    return html;
  }

  /** Sends the buyer to the gateway's own page, where the card is typed. */
  @Post('page')
  @Allow(Permission.Owner)
  @Redirect(undefined, 303)
  async open(@Ctx() ctx: RequestContext): Promise<{ url: string | null }> {
    const { redirectUrl } = await this.payments.startHosted(await this.saleOf(ctx));
    return { url: redirectUrl };
  }

  /** The order of this session. At most one payment of it can succeed. */
  private async saleOf(ctx: RequestContext) {
    const order = await this.activeOrders.getActiveOrder(ctx, undefined);
    if (order?.state !== 'ArrangingPayment') throw new ConflictException('No order waits for its payment');
    const transactionDetails = { amount: majorUnits(order.totalWithTax, order), currencyCode: currencyCodeOf(order) };
    return { reference: order.code, transactionDetails };
  }
}
