import { Controller, Get, Header, Param, Post, Query, Redirect, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PaymentService } from 'nestjs-card-payment';
import { Basket } from '../basket/basket.js';
import { LimitsOrders } from '../checkout/attempt-limits.js';
import { orderPage } from '../pages/order-page.js';
import { CurrentVisitor, type Visitor } from '../visitor/visitor.js';
import { OrderRepository } from './order.repository.js';
import { moneyBackOf } from './money-back.js';
import { outcomeWithRefunds } from './outcome.js';

@Controller('orders')
export class OrdersController {
  constructor(
    private readonly orders: OrderRepository,
    private readonly payments: PaymentService,
    private readonly basket: Basket,
  ) {}

  @Post()
  @LimitsOrders()
  @Redirect('/basket', 303)
  place(@Req() request: Request): { url: string } | undefined {
    const lines = this.basket.read(request);
    return lines.length === 0 ? undefined : { url: `/orders/${this.orders.place(lines)}/pay` };
  }

  /** Orders have no list: nobody but their buyer knows their addresses. */
  @Get()
  @Redirect('/', 303)
  list(): void {}

  /** Where the buyer comes back after paying. It reads the payments, because the order's status is updated later. */
  @Get(':id')
  @Header('Cache-Control', 'no-store')
  async show(
    @Param('id') id: string,
    @Query('page') page: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @CurrentVisitor() visitor: Visitor,
  ): Promise<string> {
    const order = this.orders.get(id);
    const moneyBack = await moneyBackOf(this.payments, order.id);
    const outcome = outcomeWithRefunds(moneyBack);
    const refunds = moneyBack.flatMap((each) => each.refunds);
    const isEmptied = outcome.kind === 'paid' && this.basket.emptyAfter(request, response, order.lines);
    return orderPage(order, outcome, isEmptied ? { ...visitor, basketCount: 0 } : visitor, {
      refunds,
      isPageKept: page === 'open',
    });
  }
}
