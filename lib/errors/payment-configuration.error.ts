import { PaymentError } from './payment.error.js';

/** One wrong or missing setting. Its value is never shown. */
export interface ConfigurationProblem {
  /** The option as in `PaymentModule.forRoot({ … })`. */
  readonly option: string;
  /** The variable that sets it; null where only code can. */
  readonly variable: string | null;
  readonly message: string;
}

/**
 * Thrown at start-up, naming every setting that is wrong or missing. The application does not start half configured.
 */
export class PaymentConfigurationError extends PaymentError {
  readonly code = 'PAYMENT_CONFIGURATION';

  /** @param hints what is probably behind the problems, each a sentence */
  constructor(
    readonly problems: readonly ConfigurationProblem[],
    readonly hints: readonly string[] = [],
  ) {
    super(
      'The payment module cannot start:\n' +
        problems
          .map(({ option, variable, message }) => `  - ${option}${variable ? ` (${variable})` : ''}: ${message}`)
          .join('\n') +
        hints.map((hint) => `\n  ${hint}`).join(''),
    );
  }
}
