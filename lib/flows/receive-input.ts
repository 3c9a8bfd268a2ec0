import type { ClassConstructor } from 'class-transformer';
import { copyInput } from '../dto/copy-input.js';
import type { DoPaymentDto, HostedPaymentDto } from '../dto/do-payment.dto.js';
import { checkInput } from '../dto/validate-input.js';
import { PaymentValidationError } from '../errors/payment-validation.error.js';
import { rejectApart } from '../errors/payment-errors.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import { textLanguage } from '../payment/text-language.js';
import { loopTurn } from '../process/loop-turn.js';
import type { StoreClock } from '../process/store-clock.js';
import type { RefundReader } from './refund-reader.js';

/**
 * Waits for this payment's turn, then checks what the merchant passed in. The input is copied before the first wait, so
 * that later changes by the caller have no effect.
 *
 * @throws PaymentValidationError
 * @throws PaymentDuplicateError a refund has its conversationId
 * @throws PaymentStoreError while the store's time is not known
 */
export async function receiveInput<T extends DoPaymentDto | HostedPaymentDto>(
  type: ClassConstructor<T>,
  given: Handover<unknown>,
  { luhn, language }: PaymentSettings,
  clock: StoreClock,
  refunds: RefundReader,
): Promise<{ input: T; now: Date }> {
  const copy = copyInput(given.take(), textLanguage(language));
  if (copy instanceof PaymentValidationError) return rejectApart(copy);
  await loopTurn.take();
  await clock.check();
  const now = clock.now();
  const input = checkInput(type, copy, { luhn, language, now });
  if (input instanceof PaymentValidationError) return rejectApart(input);
  await refunds.refuseRefundId(input.conversationId);
  return { input, now };
}

/**
 * Holds a value that can be taken once. Functions that wait until a payment has ended hold this instead of the card, so
 * that an error which passes through them shows none.
 */
export class Handover<T> {
  #value: T | undefined;

  constructor(value: T) {
    this.#value = value;
  }

  /** The value on the first call, undefined afterwards. */
  take(): T | undefined {
    const value = this.#value;
    this.#value = undefined;
    return value;
  }
}
