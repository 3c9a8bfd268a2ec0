import type { ClassConstructor } from 'class-transformer';
import { copyInput } from '../dto/copy-input.js';
import type { DoPaymentDto, HostedPaymentDto } from '../dto/do-payment.dto.js';
import { checkInput } from '../dto/validate-input.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import { textLanguage } from '../payment/text-language.js';
import { loopTurn } from '../process/loop-turn.js';
import type { StoreClock } from '../process/store-clock.js';

/**
 * Waits for this payment's turn, then checks what the merchant passed in. The input is copied before the first wait, so
 * that later changes by the caller have no effect.
 *
 * @throws PaymentValidationError
 * @throws PaymentStoreError while the store's time is not known
 */
export async function receiveInput<T extends DoPaymentDto | HostedPaymentDto>(
  type: ClassConstructor<T>,
  given: unknown,
  { luhn, language }: PaymentSettings,
  clock: StoreClock,
): Promise<{ input: T; now: Date }> {
  const copy = copyInput(given, textLanguage(language));
  await loopTurn.take();
  await clock.check();
  const now = clock.now();
  return { input: checkInput(type, copy, { luhn, language, now }), now };
}
