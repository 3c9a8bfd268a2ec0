import { IntrinsicException } from '@nestjs/common';

/**
 * The base of every error of this module. `code` is stable: branch on it, or on the class. No error has a `cause`, and
 * none holds a card, a secret or a message body.
 *
 * One that the caller's input or timing brought about has an HTTP status (4xx), which Nest and Express answer by
 * themselves, without a stack in the log. `PaymentExceptionFilter` answers all of them, and with more in the body.
 */
export abstract class PaymentError extends IntrinsicException {
  abstract readonly code: string;

  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }

  /** 4xx where this was the caller's doing; undefined otherwise, which is a 500. */
  get statusCode(): number | undefined {
    return undefined;
  }

  /** The same as {@link statusCode}, by the name that http-errors gives it. */
  get status(): number | undefined {
    return this.statusCode;
  }

  /** Whether the message may be shown to whoever made the request; undefined where no status is. */
  get expose(): boolean | undefined {
    return this.statusCode === undefined ? undefined : true;
  }
}
