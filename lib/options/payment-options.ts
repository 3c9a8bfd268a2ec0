import { trimSlashes } from '../runtime/network.js';
import type { GivenTo } from './option-kinds.js';
import type { OPTIONS } from './option-table.js';

/**
 * The options, which are set in code or, unless marked "code only", by a variable. An option that is given in code
 * wins; the others are read from the environment when the module starts. The variables of an account with a `name`
 * begin with `PAYMENT_<NAME>_`.
 */
export type PaymentOptions = { [Name in keyof typeof OPTIONS]?: GivenTo<(typeof OPTIONS)[Name]> };

/** The built-in callback controller. */
export interface CallbackStructure {
  /** Its path below the global prefix. Default `payments`, for a named account `payments/<name>`. */
  path?: string;
  /**
   * Decorators for the controller, for example one that makes it public for your guards. If this is not given and there
   * are global guards, the module warns at start-up; an empty list says that they let the bank's callback pass.
   */
  decorators?: ClassDecorator[];
  /** How long the buyer waits for Auth3d before the pending page is shown, in ms, 0 to 24 days. Default 25000. */
  waitMs?: number;
}

/**
 * The options that shape the module itself. They are given in code only, at the top level of `forRoot` or
 * `forRootAsync`.
 */
export interface PaymentStructure {
  /** Whether `PaymentService` can be injected everywhere without importing the module again. Default true. */
  isGlobal?: boolean;
  /** False leaves the callback to a controller of your own. */
  callback?: false | CallbackStructure;
  /** A further merchant account: it reads only `PAYMENT_<NAME>_*` and is injected by `@InjectPayment(name)`. */
  name?: string;
}

/** A class that makes the options, for `forRootAsync({ useClass | useExisting })`. */
export interface PaymentOptionsFactory {
  createPaymentOptions(): PaymentOptions | Promise<PaymentOptions>;
}

const DEFAULT_WAIT_MS = 25_000;

/** The route of the built-in controller. This is a class so that it can be its own injection token. */
export abstract class CallbackRoute {
  /** The path below the global prefix; null if there is no built-in controller. */
  abstract readonly path: string | null;
  /** How long the buyer waits for Auth3d. */
  abstract readonly waitMs: number;
  /** Whether the host has given `callback.decorators`, even if the list is empty. */
  readonly isDecorated?: boolean;
}

export function routeOf({ callback = {}, name }: PaymentStructure): CallbackRoute {
  if (callback === false) return { path: null, waitMs: DEFAULT_WAIT_MS };
  const path = trimSlashes(callback.path ?? (name === undefined ? 'payments' : `payments/${name}`));
  const decorated = callback.decorators && { isDecorated: true };
  return { path, waitMs: callback.waitMs ?? DEFAULT_WAIT_MS, ...decorated };
}
