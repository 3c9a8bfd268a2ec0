import type { ClassConstructor } from 'class-transformer';
import { copyInput } from '../dto/copy-input.js';
import type { DoPaymentDto } from '../dto/do-payment.dto.js';
import { validateInput } from '../dto/validate-input.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import { textLanguage } from '../payment/text-language.js';
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
  given: unknown,
  { luhn, language }: PaymentSettings,
  clock: StoreClock,
): Promise<{ input: T; now: Date }> {
  const copy = copyInput(given, textLanguage(language));
  await loopTurn.take();
  await clock.check();
  const now = clock.now();
  return { input: validateInput(type, copy, { luhn, language, now }), now };
}
