import { inspect } from 'node:util';
import { IntrinsicException } from '@nestjs/common';
import type { Payment, PaymentReason } from '../payment/payment.js';
import type { Refund, RefundTotals } from '../payment/refund.js';
import type { TextLanguage, Translations } from '../runtime/text-language.js';

/** The HTTP status with which `PaymentExceptionFilter` answers; 500 for a code that is not listed. */
const HTTP_STATUS: Readonly<Record<string, number>> = {
  PAYMENT_VALIDATION: 400,
  PAYMENT_CALLBACK: 400,
  PAYMENT_NOT_FOUND: 404,
  PAYMENT_DUPLICATE: 409,
  PAYMENT_STATE: 409,
  PAYMENT_REFUND: 409,
  PAYMENT_UNSUPPORTED: 501,
  PAYMENT_INIT3D: 502,
  PAYMENT_HOSTED: 502,
  PAYMENT_NOT_SENT: 503,
  PAYMENT_STORE: 503,
  PAYMENT_OVERLOAD: 503,
  PAYMENT_SHUTDOWN: 503,
};

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

  /** The status with which `PaymentExceptionFilter` answers. */
  get httpStatus(): number {
    return HTTP_STATUS[this.code] ?? 500;
  }

  /** 4xx if the caller caused the error; undefined otherwise, which becomes a 500. */
  get statusCode(): number | undefined {
    return this.httpStatus < 500 ? this.httpStatus : undefined;
  }

  /** The same as {@link statusCode}: NestJS 12 believes only errors that have both, and `expose`. */
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

  override get httpStatus(): number {
    return this.payment.reason === 'declined' ? 402 : super.httpStatus;
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

  override get httpStatus(): number {
    return this.reason === 'page_open' ? 409 : super.httpStatus;
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
}

/** There is no such payment, or no such refund, in this account's store. */
export class PaymentNotFoundError extends PaymentError {
  readonly code = 'PAYMENT_NOT_FOUND';

  constructor(what: 'payment' | 'refund' = 'payment') {
    super(`There is no such ${what}.`);
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

/** One mistake in the input. The value is never shown. */
export interface ValidationIssue {
  /** The field: `cardDetails.expDate`. */
  readonly path: string;
  /** Its label for the buyer: `Expiry date`. The field's own name if no buyer fills it in. */
  readonly field: string;
  /** The rule that it breaks: a stable name such as `isNotEmpty` or `luhn`. */
  readonly rule: string;
  /** What to do about it, in English. For a buyer: `issuesIn(language)`. */
  readonly message: string;
}

/** A {@link ValidationIssue} before its language is chosen: its message may be in both. */
export interface ValidationProblem {
  readonly path: string;
  readonly rule: string;
  /** `$property` stands for the field's label. */
  readonly message: Translations | string;
}

/** The input was refused; nothing was sent or stored. */
export class PaymentValidationError extends PaymentError {
  readonly code = 'PAYMENT_VALIDATION';
  readonly issues: readonly ValidationIssue[];

  /** A `#` field, so that `JSON.stringify` and `console.log` show the issues only once. */
  readonly #problems: readonly ValidationProblem[];

  /** @param language of the issues alone, where they are for a buyer: the message is for programmers */
  constructor(problems: readonly ValidationProblem[], language: TextLanguage = 'en') {
    const lines = worded(problems, 'en').map(({ path, message }) => `${path}: ${message}`);
    super(`The payment was refused before sending: ${lines.join('; ')}`);
    this.issues = worded(problems, language);
    this.#problems = problems;
  }

  /** The same issues in the reader's language. */
  issuesIn(language: TextLanguage): readonly ValidationIssue[] {
    return worded(this.#problems, language);
  }
}

function worded(problems: readonly ValidationProblem[], language: TextLanguage): readonly ValidationIssue[] {
  return problems.map(({ path, rule, message }) => {
    const field = fieldNameOf(path, language);
    const text = typeof message === 'string' ? message : message[language];
    return { path, field, rule, message: text.replaceAll('$property', () => field) };
  });
}

/** The labels of the fields that buyers fill in, by the field's name. */
const FIELD_NAMES: Readonly<Record<string, Translations>> = {
  cardNo: { en: 'Card number', tr: 'Kart numarası' },
  expDate: { en: 'Expiry date', tr: 'Son kullanma tarihi' },
  cvv: { en: 'Security code', tr: 'Güvenlik kodu' },
  cardHolderName: { en: 'Name on the card', tr: 'Kart üzerindeki ad' },
  buyerGsm: { en: 'Phone number', tr: 'Telefon numarası' },
  installmentCount: { en: 'Number of instalments', tr: 'Taksit sayısı' },
  cardDetails: { en: 'Card', tr: 'Kart' },
  cardHolderInfo: { en: 'Cardholder', tr: 'Kart sahibi' },
};

/** The label of the field at a path; the field's own name if no buyer fills it in. */
function fieldNameOf(path: string, language: TextLanguage): string {
  const name = path.slice(path.lastIndexOf('.') + 1);
  return Object.hasOwn(FIELD_NAMES, name) ? (FIELD_NAMES[name]?.[language] ?? name) : name;
}
