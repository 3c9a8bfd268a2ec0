import type { HostedPaymentDto } from 'nestjs-card-payment';
import { decimalText, TURKISH_LIRA } from '../money.js';
import type { Order } from '../orders/order.js';

/** What the payment module takes to open the gateway's own page. Nothing of it comes from the buyer. */
export function toHostedPayment(order: Order): HostedPaymentDto {
  return {
    reference: order.id,
    form: 'page',
    transactionDetails: { amount: decimalText(order.totalKurus), currencyCode: TURKISH_LIRA },
  };
}
