import { inspect, type InspectOptionsStylized } from 'node:util';

/** A value that is not printed, however deeply what holds it is: not by `inspect`, not as JSON. */
export class Hidden<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  /** The value itself. */
  reveal(): T {
    return this.#value;
  }
}

/** An object with further properties that are read like any others, but neither listed, copied nor printed. */
export function withHidden<Shown extends object, Secret extends object>(shown: Shown, hidden: Secret): Shown & Secret {
  const result = { ...shown };
  for (const name of Object.keys(hidden)) {
    Object.defineProperty(result, name, { get: () => hidden[name as keyof Secret], enumerable: false });
  }
  // Told to call getters, `inspect` would show them.
  Object.defineProperty(result, inspect.custom, {
    value: (_depth: number, options: InspectOptionsStylized) => inspect({ ...result }, options),
  });
  return result as Shown & Secret;
}
