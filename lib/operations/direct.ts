import { Injectable } from '@nestjs/common';
import { DoPaymentDto } from '../dto/sale.dto.js';
import { PaymentDuplicateError, PaymentNotSentError } from '../errors/payment-errors.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { type Payment, toPayment } from '../payment/payment.js';
import { Randomness } from '../runtime/randomness.js';
import { inOperation, itself } from '../telemetry/spans.js';
import { newAttemptId, newHostIdNonce } from './ids.js';
import { Claim } from '../settlement/claim.js';
import { newPaymentRecord, openPayment, receiveInput, saleRequest } from './opening.js';
import { loopTurn } from '../runtime/clock.js';
import { PaymentReader } from '../settlement/records.js';
import { PaymentWriter } from '../settlement/writer.js';
import { ReturnUrlMaker } from './return-urls.js';
import { applyNotSent, applyOutcome, settlementRules } from '../settlement/outcomes.js';
import { StoreClock } from '../settlement/store-clock.js';

/** The direct payment: stored as `charging`, sent once, then its outcome is stored. */
@Injectable()
export class DirectFlow {
  constructor(
    private readonly reader: PaymentReader,
    private readonly writer: PaymentWriter,
    private readonly gateway: GatewayClient,
    private readonly returnUrls: ReturnUrlMaker,
    private readonly clock: StoreClock,
    private readonly random: Randomness,
    private readonly settings: PaymentSettings,
  ) {}

  pay(given: unknown): Promise<Payment> {
    const { account } = this.settings;
    return inOperation({ operation: 'doPayment', account }, itself, () => this.payOnce(given));
  }

  private async payOnce(given: unknown): Promise<Payment> {
    const { input, now } = await receiveInput(DoPaymentDto, given, this.settings, this.clock);
    const sale = saleRequest(input, this.settings, this.returnUrls.make(input));
    const attemptId = newAttemptId(this.random);
    const hostIdNonce = newHostIdNonce(this.random, input);
    const ids = { tokenHash: null, attemptId, hostIdNonce };
    const record = newPaymentRecord('direct', sale, input, this.settings, now, ids);

    const earlier = await openPayment(record, this.writer, this.reader, this.settings);
    if (earlier?.key === 'reference') throw new PaymentDuplicateError(toPayment(earlier.payment), 'reference');
    if (earlier) return toPayment(earlier.payment);
    await loopTurn.take();

    const attempt = await this.gateway.doPayment(sale, new Claim(record, this.settings.timeoutMs, this.clock));
    if (!attempt.sent) {
      throw new PaymentNotSentError(await this.writer.settle(record, applyNotSent), attempt.why);
    }
    const rules = settlementRules(this.settings, this.gateway, this.random);
    const { outcome: answer } = attempt;
    return this.writer.settle(record, (current, at) => applyOutcome(current, answer, rules, at), { answer });
  }
}
