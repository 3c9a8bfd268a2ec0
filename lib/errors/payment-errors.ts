import { inspect } from 'node:util';
import { IntrinsicException } from '@nestjs/common';
import type { Payment, PaymentReason } from '../payment/payment.js';
import type { Refund, RefundTotals } from '../payment/refund.js';

/**
 * The base of every error of this module. `code` is stable: branch on it, or on the class. No error has a `cause`, and
 * none holds a card, a secret or a message body.
 *
 * An error that the caller's input or timing caused has an HTTP status (4xx), with which Nest and Express answer by
 * themselves, without a stack in the log. `PaymentExceptionFilter` answers all of them, and says more in the body.
 */
export abstract class PaymentError extends IntrinsicException {
  abstract readonly code: string;

  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }

  /** 4xx if the caller caused the error; undefined otherwise, which becomes a 500. */
  get statusCode(): number | undefined {
    return undefined;
  }

  /** The same as {@link statusCode}, under the name that http-errors uses. */
  get status(): number | undefined {
    return this.statusCode;
  }

  /** Whether the message may be shown to the client; undefined if there is no status. */
  get expose(): boolean | undefined {
    return this.statusCode === undefined ? undefined : true;
  }
}

/** One wrong or missing setting. Its value is never shown. */
export interface ConfigurationProblem {
  /** Its name in `PaymentModule.forRoot({ … })`. */
  readonly option: string;
  /** The variable that sets it; null if it can be set in code only. */
  readonly variable: string | null;
  readonly message: string;
}

/**
 * Thrown at start-up; it names every setting that is wrong or missing. The application does not start half configured.
 */
export class PaymentConfigurationError extends PaymentError {
  readonly code = 'PAYMENT_CONFIGURATION';

  /** @param hints the likely causes of the problems, each a sentence */
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

  /** Nest prints this at start-up: the list alone, since no place in the code is to blame. */
  [inspect.custom](): string {
    return `${this.name}: ${this.message}`;
  }
}

/** It is proven that no connection began to send the request. Safe to try again, as a new payment or refund. */
export class PaymentNotSentError extends PaymentError {
  readonly code = 'PAYMENT_NOT_SENT';

  /** @param refund the refund that was not sent, of this payment; null if it was the payment itself */
  constructor(
    readonly payment: Payment,
    why: string,
    readonly refund: Refund | null = null,
  ) {
    super(
      refund
        ? `The ${refund.kind} was not sent: ${why}. Nothing was given back; it is safe to try again.`
        : `The payment was not sent: ${why}. Nothing was charged; it is safe to try again.`,
    );
  }
}

/**
 * Why a refund was refused.
 *
 * - `exceeds`: it is more than is left of what was taken.
 * - `voided`: the payment was called off, so nothing is left.
 * - `refunded`: a void is of a whole sale, and a part of this one has been given back.
 * - `in_progress`: another refund of the payment has no outcome yet.
 * - `no_ids`: the gateway's ids of the payment, without which it cannot be refunded, are not known.
 */
export type RefundRefusal = 'exceeds' | 'voided' | 'refunded' | 'in_progress' | 'no_ids';

const REFUND_REFUSALS: Readonly<Record<RefundRefusal, string>> = {
  exceeds: 'it is more than is left',
  voided: 'the payment was voided',
  refunded: 'a void is of the whole payment, and a part of this one has been given back',
  in_progress: 'another refund of the payment has no outcome yet',
  no_ids: "the gateway's orderId and paymentId of the payment are not known",
};

/**
 * The refund was refused, and nothing was sent. Nothing was recorded either, except where the payment changed at the
 * very moment at which the refund was recorded: that refund is `failed`, with the reason `not_sent`.
 */
export class PaymentRefundError extends PaymentError {
  readonly code = 'PAYMENT_REFUND';
  /** What is left to give back, in major units as decimal text. */
  readonly refundable: string;

  constructor(
    readonly reason: RefundRefusal,
    readonly payment: Payment,
    { refundable }: Pick<RefundTotals, 'refundable'>,
  ) {
    super(
      `The payment cannot be refunded: ${REFUND_REFUSALS[reason]}. ${refundable} is left to give back; nothing was sent.`,
    );
    this.refundable = refundable;
  }

  override get statusCode(): 409 {
    return 409;
  }
}

/**
 * The 3D payment could not be started. No money can move. `payment.reason` and `payment.code` say why; the message does
 * not, since it may be shown to the buyer, who must not learn that a card was reported stolen.
 */
export class PaymentInit3dError extends PaymentError {
  readonly code = 'PAYMENT_INIT3D';

  constructor(readonly payment: Payment) {
    // It says no more than the HTTP status does.
    super(`The 3D payment could not be started${payment.reason === 'declined' ? ': it was declined' : ''}.`);
  }

  override get statusCode(): 402 | undefined {
    return this.payment.reason === 'declined' ? 402 : undefined;
  }
}

/**
 * The gateway's own page could not be opened. No money can move by this call, since nobody has seen a page.
 *
 * `reason` is `page_open` if a page of the same sale is open that cannot be shown again: an embedded form, a page in
 * the other form, one whose time is over but whose outcome is not known yet, or one that is being opened at this
 * moment. Then `payment` is that payment. Otherwise `payment` is the new one, which is `failed`, and `reason` is its
 * own.
 *
 * @experimental
 */
export class PaymentHostedError extends PaymentError {
  readonly code = 'PAYMENT_HOSTED';

  constructor(
    readonly payment: Payment,
    readonly reason: PaymentReason | 'page_open' | null = payment.reason,
  ) {
    const why = reason === 'page_open' ? ': one of the same sale is open already' : '';
    super(`The gateway's own page could not be opened${why}.`);
  }

  override get statusCode(): 409 | undefined {
    return this.reason === 'page_open' ? 409 : undefined;
  }
}

/**
 * Nothing was recorded or sent, and no event raised, since another payment has the value of `key`.
 *
 * `reference`: the order is paid or being paid, by `payment`. It is null if there is none to name: two payments of the
 * order moved money, or the one that paid it was deleted (`retentionMs`).
 *
 * `conversationId`, `idempotencyKey`: `payment` has it. If `doPayment` throws this, `payment` is of another sale or was
 * made with another card; if `init3d` does, it may be of the same sale. Never take it for the result: compare its kind,
 * reference, amount, currency, instalments and masked card with your sale, and look at its state. It is null if that
 * payment was deleted and only its key is still known (`idempotencyTtlMs`).
 *
 * If a refund has the id or key, `refund` is that refund and `payment` the payment that it gives back.
 */
export class PaymentDuplicateError extends PaymentError {
  readonly code = 'PAYMENT_DUPLICATE';

  /** @param key the field whose value is taken */
  constructor(
    readonly payment: Payment | null,
    readonly key: 'conversationId' | 'idempotencyKey' | 'refundId' | 'reference',
    readonly refund: Refund | null = null,
  ) {
    const found = refund ? `a ${refund.kind} that is ${refund.state}` : payment && `a payment that is ${payment.state}`;
    const gone =
      key === 'reference' ? 'an earlier one, which may have paid it' : 'an earlier one, which has been deleted since';
    super(`This ${key} is already taken by ${found ?? gone}; nothing was sent.`);
  }

  override get statusCode(): 409 {
    return 409;
  }
}

/** There is no such payment, or no such refund, in this account's store. */
export class PaymentNotFoundError extends PaymentError {
  readonly code = 'PAYMENT_NOT_FOUND';

  constructor(what: 'payment' | 'refund' = 'payment') {
    super(`There is no such ${what}.`);
  }

  override get statusCode(): 404 {
    return 404;
  }
}

/** The state of the payment or refund does not allow the call; nothing was sent. */
export class PaymentStateError extends PaymentError {
  readonly code = 'PAYMENT_STATE';

  /** @param refund the refund whose state does not allow it, of this payment; null if it is the payment's own */
  constructor(
    readonly payment: Payment,
    action: string,
    readonly refund: Refund | null = null,
  ) {
    const what = refund ? `${refund.kind} that is ${refund.state}` : `${payment.kind} payment that is ${payment.state}`;
    super(`A ${what} cannot ${action}.`);
  }

  override get statusCode(): 409 {
    return 409;
  }
}

/** The dialect does not have the operation; nothing was sent. */
export class PaymentUnsupportedError extends PaymentError {
  readonly code = 'PAYMENT_UNSUPPORTED';

  constructor(operation: string, dialect: string) {
    super(`The dialect "${dialect}" has no ${operation}.`);
  }
}

/** Why a callback was refused. */
export type CallbackRefusal =
  | 'unknown_token'
  | 'not_a_callback'
  | 'repeated_field'
  | 'nested_field'
  | 'too_large'
  | 'missing_field'
  | 'foreign_payment';

/** The callback was refused and the payment was not changed. The error shows nothing that was received. */
export class PaymentCallbackError extends PaymentError {
  readonly code = 'PAYMENT_CALLBACK';

  constructor(readonly refusal: CallbackRefusal) {
    super(`The callback was refused: ${refusal.replaceAll('_', ' ')}.`);
  }

  override get statusCode(): 400 {
    return 400;
  }
}

/** The store failed before anything was sent, or while it was read. This call charged nothing. */
export class PaymentStoreError extends PaymentError {
  readonly code = 'PAYMENT_STORE';

  constructor(doing: string) {
    super(`The payment store failed while ${doing}. No money was moved by this call.`);
  }
}

/**
 * `maxInFlight` payments are already running in this process, so the call was refused before its input was read:
 * nothing was recorded and nothing was sent. Safe to try again with the same input, even with the same
 * `idempotencyKey`. Of `checkBin`: `maxBinChecks` BINs are being asked about, and this one was not.
 */
export class PaymentOverloadError extends PaymentError {
  readonly code = 'PAYMENT_OVERLOAD';

  /**
   * @param maxInFlight the limit that was reached
   * @param limit the option that sets it
   */
  constructor(
    readonly maxInFlight: number,
    limit: 'maxInFlight' | 'maxBinChecks' = 'maxInFlight',
  ) {
    const what = limit === 'maxInFlight' ? 'The payment' : 'The question about a card';
    super(
      `${what} was refused because ${maxInFlight} are running already (${limit}). Nothing was recorded or sent; ` +
        'it is safe to try again.',
    );
  }
}

/**
 * This process is shutting down, so the call was refused before its input was read: nothing was recorded and nothing
 * was sent. Safe to try again at another instance, with the same input and even with the same `idempotencyKey`.
 */
export class PaymentShutdownError extends PaymentError {
  readonly code = 'PAYMENT_SHUTDOWN';

  constructor() {
    super(
      'The call was refused because this process is shutting down. Nothing was recorded or sent; it is safe to try ' +
        'again, at another instance or once this one is back.',
    );
  }
}
