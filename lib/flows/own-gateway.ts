import { PaymentStateError } from '../errors/payment-errors.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import { gatewayHostOf } from '../payment/gateway-id.js';
import { isRefund, type PaymentRecord, toPayment } from '../payment/payment.js';
import { refundedPayment, toRefund } from '../payment/refund.js';

/**
 * Whether the gateway of these settings may be asked about a record, or be sent anything about it. Another one does not
 * know it: "not found" there would say nothing about the money. A record of an older release names none, and is its
 * own.
 */
export function isOwn({ gateway }: PaymentRecord, { gateways }: Pick<PaymentSettings, 'gateways'>): boolean {
  return typeof gateway !== 'string' || gateways.includes(gateway);
}

/**
 * Refuses a call that would ask the gateway, or send it something, about a record of another gateway.
 *
 * @param action what is refused: `be inquired`
 * @throws PaymentStateError
 */
export function expectOwn(record: PaymentRecord, settings: Pick<PaymentSettings, 'gateways'>, action: string): void {
  if (isOwn(record, settings)) return;
  const refusal =
    `${action} with these settings: it was made at the gateway ${gatewayHostOf(record.gateway ?? '')}, ` +
    'under another baseUrl, merchantId or dialect';
  if (!isRefund(record)) throw new PaymentStateError(toPayment(record), refusal);
  throw new PaymentStateError(refundedPayment(record), refusal, toRefund(record));
}
