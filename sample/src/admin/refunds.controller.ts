import {
  BadRequestException,
  Body,
  Controller,
  Get,
  Header,
  NotFoundException,
  Param,
  Post,
  Query,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { Response } from 'express';
import {
  PaymentService,
  PaymentStateError,
  PaymentUnsupportedError,
  type Refund,
  type VoidDto,
} from 'nestjs-card-payment';
import { DemoGateway } from '../demo/demo-gateway.js';
import { formText } from '../form-text.js';
import { moneyBackOf } from '../orders/money-back.js';
import type { Order } from '../orders/order.js';
import { OrderRepository } from '../orders/order.repository.js';
import { adminOrderPage, type OrderPageState } from '../pages/admin-order-page.js';
import { TEXTS } from '../texts/texts.js';
import { CurrentVisitor, type Visitor } from '../visitor/visitor.js';
import { AdminGuard, CurrentAdmin } from './admin.guard.js';
import { askedAmount, problemOf, readRefund, type RefundAction, valuesToRepeat } from './refund-form.js';

const FORMS = [
  'payments/:id/refund',
  'payments/:id/void',
  'payments/:id/record',
  'payments/:id/refunds/:refundId/inquire',
  'payments/:id/refunds/:refundId/resolve',
];

/** The merchant's page of one order, where money is given back. */
@Controller('admin')
@UseGuards(AdminGuard)
export class RefundsController {
  constructor(
    private readonly orders: OrderRepository,
    private readonly payments: PaymentService,
    private readonly demo: DemoGateway,
  ) {}

  /** @param refundId the refund that was just made or changed, to say what came of it */
  @Get('orders/:id')
  @Header('Cache-Control', 'no-store')
  show(
    @Param('id') id: string,
    @Query('refund') refundId: unknown,
    @CurrentVisitor() visitor: Visitor,
  ): Promise<string> {
    const order = this.orders.get(id);
    return this.page(order, visitor, { refundId: typeof refundId === 'string' ? refundId : null });
  }

  /** A form that was refused is shown at its own address. Whoever loads that again comes to the order's page. */
  @Get(FORMS)
  async showInstead(@Param('id') conversationId: string, @Res() response: Response): Promise<void> {
    const { id } = await this.orderOf(conversationId);
    response.redirect(303, `/admin/orders/${id}`);
  }

  @Post('payments/:id/refund')
  @Header('Cache-Control', 'no-store')
  refund(
    @Param('id') conversationId: string,
    @Body() form: unknown,
    @CurrentAdmin() by: string,
    @CurrentVisitor() visitor: Visitor,
    @Res() response: Response,
  ): Promise<void> {
    const give = (input: VoidDto): Promise<Refund> => this.payments.refund({ ...input, amount: askedAmount(form) });
    return this.giveBack('refund', give, { conversationId, form, by }, visitor, response);
  }

  @Post('payments/:id/void')
  @Header('Cache-Control', 'no-store')
  void(
    @Param('id') conversationId: string,
    @Body() form: unknown,
    @CurrentAdmin() by: string,
    @CurrentVisitor() visitor: Visitor,
    @Res() response: Response,
  ): Promise<void> {
    const give = (input: VoidDto): Promise<Refund> => this.payments.void(input);
    return this.giveBack('void', give, { conversationId, form, by }, visitor, response);
  }

  /** Writes down a refund that staff have made at the gateway's own panel. */
  @Post('payments/:id/record')
  @Header('Cache-Control', 'no-store')
  record(
    @Param('id') conversationId: string,
    @Body() form: unknown,
    @CurrentAdmin() by: string,
    @CurrentVisitor() visitor: Visitor,
    @Res() response: Response,
  ): Promise<void> {
    const give = ({ note = '', ...input }: VoidDto): Promise<Refund> =>
      this.payments.recordRefund({ ...input, note, amount: askedAmount(form) });
    return this.giveBack('record', give, { conversationId, form, by }, visitor, response);
  }

  /** Asks the gateway about a refund now, instead of waiting until the module does. */
  @Post('payments/:id/refunds/:refundId/inquire')
  @Header('Cache-Control', 'no-store')
  inquire(
    @Param('id') conversationId: string,
    @Param('refundId') refundId: string,
    @CurrentVisitor() visitor: Visitor,
    @Res() response: Response,
  ): Promise<void> {
    const ask = (): Promise<Refund> => this.payments.inquireRefund(refundId);
    return this.settle(ask, { conversationId, refundId }, visitor, response);
  }

  /** For staff who have looked the outcome up in the gateway's own records. */
  @Post('payments/:id/refunds/:refundId/resolve')
  @Header('Cache-Control', 'no-store')
  resolve(
    @Param('id') conversationId: string,
    @Param('refundId') refundId: string,
    @Body() form: unknown,
    @CurrentAdmin() by: string,
    @CurrentVisitor() visitor: Visitor,
    @Res() response: Response,
  ): Promise<void> {
    const state = formText(form, 'state') === 'succeeded' ? 'succeeded' : 'failed';
    const resolve = (): Promise<Refund> =>
      this.payments.resolveRefund(refundId, state, 'settled on the orders page', { by });
    return this.settle(resolve, { conversationId, refundId }, visitor, response);
  }

  /** Shows what came of it by a redirect, so that a reload sends nothing. Errors are shown beside the form. */
  private async giveBack(
    action: RefundAction,
    give: (input: VoidDto) => Promise<Refund>,
    { conversationId, form, by }: { conversationId: string; form: unknown; by: string },
    visitor: Visitor,
    response: Response,
  ): Promise<void> {
    const order = await this.orderOf(conversationId);
    const values = readRefund(form);
    const { idempotencyKey, note } = values;
    // Every form of the page has a key. Without one, a repeated request would give back twice.
    if (idempotencyKey === '') throw new BadRequestException();
    try {
      const { refundId } = await give({ conversationId, idempotencyKey, by, ...(note !== '' && { note }) });
      response.redirect(303, pathOf(order, refundId));
    } catch (error) {
      const problem = problemOf(error, visitor.language);
      if (!problem) throw error;
      const refused = { conversationId, action, values: valuesToRepeat(values, error), problem };
      response.status(422).send(await this.page(order, visitor, { refused }));
    }
  }

  private async settle(
    change: () => Promise<Refund>,
    { conversationId, refundId }: { conversationId: string; refundId: string },
    visitor: Visitor,
    response: Response,
  ): Promise<void> {
    const order = await this.orderOf(conversationId);
    const refunds = await this.payments.refunds(conversationId);
    if (!refunds.some((refund) => refund.refundId === refundId)) throw new NotFoundException();
    try {
      await change();
      response.redirect(303, pathOf(order, refundId));
    } catch (error) {
      const { problems } = TEXTS[visitor.language].refunds;
      const isRefused = error instanceof PaymentStateError || error instanceof PaymentUnsupportedError;
      if (!isRefused) throw error;
      const unchanged = error instanceof PaymentStateError ? problems.notSettled : problems.noInquiry;
      response.status(422).send(await this.page(order, visitor, { unchanged }));
    }
  }

  private async orderOf(conversationId: string): Promise<Order> {
    const payment = await this.payments.find(conversationId);
    const order = payment && this.orders.find(payment.reference ?? '');
    if (!order) throw new NotFoundException();
    return order;
  }

  private async page(order: Order, visitor: Visitor, state: OrderPageState): Promise<string> {
    const payments = await moneyBackOf(this.payments, order.id);
    const entry = { order, payments, events: this.orders.eventsOf(order.id) };
    return adminOrderPage(entry, visitor, { ...state, isSimulated: this.demo.isOn });
  }
}

function pathOf({ id }: Order, refundId: string): string {
  return `/admin/orders/${id}?refund=${refundId}`;
}
