/**
 * Something that is taken once, and not kept: functions that wait until a payment has ended hold this, and no card, when
 * an error passes through them.
 */
export class Handover<T> {
  #value: T | undefined;

  constructor(value: T) {
    this.#value = value;
  }

  /** The value, the first time. */
  take(): T | undefined {
    const value = this.#value;
    this.#value = undefined;
    return value;
  }
}
