import type { GivenTo } from './option-kinds.js';
import type { OPTIONS } from './option-table.js';

/**
 * What can be set in code or, unless marked "code only", by a variable. An option that is given wins; one that is
 * absent is read from the environment when the module starts. The variables of a `name`d account begin with
 * `PAYMENT_<NAME>_`.
 */
export type PaymentOptions = { [Name in keyof typeof OPTIONS]?: GivenTo<(typeof OPTIONS)[Name]> };

/** The built-in callback controller. */
export interface CallbackStructure {
  /** Its path below the global prefix. Default `payments`, for a named account `payments/<name>`. */
  path?: string;
  /**
   * Put on the controller, for example to mark it public for a host's guards. Without it, global guards are warned of at
   * start-up; an empty list says that they let the bank's callback pass.
   */
  decorators?: ClassDecorator[];
  /** How long a buyer waits for Auth3d before going to the pending page, in ms, 0 to 24 days. Default 25000. */
  waitMs?: number;
}

/**
 * What shapes the module itself and so can be given in code only, at the top level of both `forRoot` and
 * `forRootAsync`.
 */
export interface PaymentStructure {
  /** Whether `PaymentService` can be injected everywhere without importing the module again. Default true. */
  isGlobal?: boolean;
  /** False leaves the callback to a controller of your own. */
  callback?: false | CallbackStructure;
  /** A further merchant account: reads `PAYMENT_<NAME>_*` alone, injected by `@InjectPayment(name)`. */
  name?: string;
}

/** A class that makes the options, for `forRootAsync({ useClass | useExisting })`. */
export interface PaymentOptionsFactory {
  createPaymentOptions(): PaymentOptions | Promise<PaymentOptions>;
}
