/**
 * The base of every error of this module. `code` is stable: branch on it, or on the class. No error has a `cause`, and
 * none holds a card, a secret or a message body.
 */
export abstract class PaymentError extends Error {
  abstract readonly code: string;

  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}
