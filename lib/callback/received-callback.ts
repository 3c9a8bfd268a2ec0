import { Allow } from 'class-validator';
import { AsGiven } from '../dto/rules/reading.rules.js';
import type { CallbackFields } from '../gateway/gateway-dialect.js';
import type { Payment } from '../payment/payment.js';

/**
 * A callback that has been checked: whose it is, and what the bank sent. A pipe with `validateCustomDecorators` leaves it
 * as it is.
 */
export class ReceivedCallback {
  @Allow()
  @AsGiven()
  readonly conversationId!: string;

  @Allow()
  @AsGiven()
  readonly payment!: Payment;

  /** Pass them to `PaymentService.auth3d`. They decide nothing. */
  @Allow()
  @AsGiven()
  readonly fields!: CallbackFields;

  constructor(fields: ReceivedCallback) {
    Object.assign(this, fields);
  }
}
