import { Injectable } from '@nestjs/common';
import { DoPaymentDto } from '../dto/sale.dto.js';
import { PaymentDuplicateError, PaymentNotSentError } from '../errors/payment-errors.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { type Payment, toPayment } from '../payment/payment.js';
import { Claim, StoreClock } from '../settlement/store-clock.js';
import { paymentOf, PaymentWriter } from '../settlement/writer.js';
import { Opening } from './opening.js';

/** The direct payment: stored as `charging`, sent once, then its outcome is stored. */
@Injectable()
export class DirectPayments {
  constructor(
    private readonly opening: Opening,
    private readonly writer: PaymentWriter,
    private readonly gateway: GatewayClient,
    private readonly clock: StoreClock,
    private readonly settings: PaymentSettings,
  ) {}

  async pay(given: unknown): Promise<Payment> {
    const received = await this.opening.receive(DoPaymentDto, given);
    const sale = this.opening.saleRequest(received.input);
    const record = this.opening.newPayment('direct', sale, received);
    const earlier = await this.opening.open(record);
    if (earlier?.key === 'reference') throw new PaymentDuplicateError(toPayment(earlier.payment), 'reference');
    if (earlier) return toPayment(earlier.payment);

    const claim = new Claim(record, this.settings.timeoutMs, this.clock);
    const attempt = await this.gateway.charge('doPayment', sale, { expected: sale }, claim);
    const payment = paymentOf(await this.writer.conclude(record, attempt));
    if (!attempt.sent) throw new PaymentNotSentError(payment, attempt.why);
    return payment;
  }
}
