import type { ClassConstructor } from 'class-transformer';
import { copyInput } from '../dto/copy-input.js';
import type { DoPaymentDto } from '../dto/do-payment.dto.js';
import { checkInput } from '../dto/validate-input.js';
import { PaymentValidationError } from '../errors/payment-validation.error.js';
import { rejectApart } from '../errors/payment-errors.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import { textLanguage } from '../payment/text-language.js';
import type { Handover } from './handover.js';
import { loopTurn } from './loop-turn.js';
import type { StoreClock } from './store-clock.js';

/**
 * Reads what a merchant passed in, checked, once it is its turn. It is copied before anything is waited for: what is
 * paid is what was passed in, whatever the caller does to it meanwhile.
 *
 * @throws PaymentValidationError
 * @throws PaymentStoreError while the store's time is not known
 */
export async function receiveInput<T extends DoPaymentDto>(
  type: ClassConstructor<T>,
  given: Handover<unknown>,
  { luhn, language }: PaymentSettings,
  clock: StoreClock,
): Promise<{ input: T; now: Date }> {
  const copy = copyInput(given.take(), textLanguage(language));
  if (copy instanceof PaymentValidationError) return rejectApart(copy);
  await loopTurn.take();
  await clock.check();
  const now = clock.now();
  const input = checkInput(type, copy, { luhn, language, now });
  return input instanceof PaymentValidationError ? rejectApart(input) : { input, now };
}
