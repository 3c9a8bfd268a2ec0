import { copyInput as copied } from '../../lib/dto/copy-input.js';
import type { DoPaymentDto } from '../../lib/dto/do-payment.dto.js';
import { checkInput, type InputChecks } from '../../lib/dto/validate-input.js';
import { PaymentValidationError } from '../../lib/errors/payment-validation.error.js';

/** @throws PaymentValidationError what `checkInput` returns as a refusal */
export function validateInput<T extends DoPaymentDto>(type: new () => T, input: unknown, checks: InputChecks): T {
  return orThrow(checkInput(type, input, checks));
}

/** @throws PaymentValidationError what it returns as a refusal */
export function copyInput(...call: Parameters<typeof copied>): object {
  return orThrow<object>(copied(...call));
}

function orThrow<T>(result: T | PaymentValidationError): T {
  if (result instanceof PaymentValidationError) throw result;
  return result;
}
