import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import * as vendure from '@vendure/core';
import { OnPayment, OnRefund, PaymentEvent, RefundEvent } from 'nestjs-card-payment';
import { REFUND_STATES } from './card-payment.handler';

/**
 * Writes into Vendure's book what was paid and given back. What throws here is tried again for hours, and then parked:
 * `payments parked` shows it with its error, `payments replay` tries once more. Nothing is lost.
 */
@Injectable()
export class OrderBook {
  constructor(
    private readonly connection: vendure.TransactionalConnection,
    private readonly orders: vendure.OrderService,
    private readonly contexts: vendure.RequestContextService,
  ) {}

  @OnPayment('succeeded')
  async paid({ payment: { reference, conversationId } }: PaymentEvent<'succeeded'>): Promise<void> {
    const found = { where: { code: String(reference) }, relations: ['channels', 'payments'] };
    const order = await this.connection.rawConnection.getRepository(vendure.Order).findOneOrFail(found);
    if (order.payments.some(({ transactionId }) => transactionId === conversationId)) return;
    // The code of the payment method in Vendure.
    const input = { method: 'card', metadata: { conversationId } };
    await this.write(order, (ctx) => this.orders.addPaymentToOrder(ctx, order.id, input));
  }

  /** Of a refund whose outcome Vendure did not get at once. */
  @OnRefund(['succeeded', 'failed'])
  async refunded({ refund: { refundId, state } }: RefundEvent<'succeeded' | 'failed'>): Promise<void> {
    // Vendure writes its row after createRefund has returned, of which this event is ahead.
    await sleep(2_000);
    const found = { where: { transactionId: refundId }, relations: ['payment.order.channels'] };
    const row = await this.connection.rawConnection.getRepository(vendure.Refund).findOne(found);
    if (!row && state === 'succeeded') throw new Error(`Vendure has no refund ${refundId}: ask for it there once more`);
    if (row?.state !== 'Pending') return;
    const settled = REFUND_STATES[state]!;
    await this.write(row.payment.order, (ctx) => this.orders.transitionRefundToState(ctx, row.id, settled));
  }

  /** In one transaction, which is rolled back if Vendure refuses. */
  private async write(order: vendure.Order, work: (ctx: vendure.RequestContext) => Promise<unknown>): Promise<void> {
    const channelOrToken = order.channels[order.channels.length - 1]?.token;
    const admin = await this.contexts.create({ apiType: 'admin', channelOrToken });
    await this.connection.withTransaction(admin, async (ctx) => {
      const result = await work(ctx);
      if (vendure.isGraphQlErrorResult(result as never)) {
        throw new Error(`Vendure refuses it for order ${order.code}: ${JSON.stringify(result)}`);
      }
    });
  }
}
