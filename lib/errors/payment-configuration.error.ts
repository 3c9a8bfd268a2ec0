import { PaymentError } from './payment.error.js';

/** One wrong or missing setting. Values are never told. */
export interface ConfigurationProblem {
  /** The option as in `PaymentModule.forRoot({ … })`. */
  readonly option: string;
  /** The variable that would have set it; null for options that exist in code only. */
  readonly variable: string | null;
  readonly message: string;
}

/** Start-up: names every setting that is wrong or missing. The application does not start half configured. */
export class PaymentConfigurationError extends PaymentError {
  readonly code = 'PAYMENT_CONFIGURATION';

  constructor(readonly problems: readonly ConfigurationProblem[]) {
    super(
      'The payment module cannot start:\n' +
        problems
          .map(({ option, variable, message }) => `  - ${option}${variable ? ` (${variable})` : ''}: ${message}`)
          .join('\n'),
    );
  }
}
