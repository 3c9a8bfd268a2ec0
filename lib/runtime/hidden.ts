import { inspect, type InspectOptionsStylized } from 'node:util';

/** Holds a value that `inspect` and JSON do not show, at whatever depth they look. */
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

/** Adds properties to an object that can be read like any others, but are not listed, copied or printed. */
export function withHidden<Shown extends object, Secret extends object>(shown: Shown, hidden: Secret): Shown & Secret {
  const result = { ...shown };
  for (const name of Object.keys(hidden)) {
    Object.defineProperty(result, name, { get: () => hidden[name as keyof Secret], enumerable: false });
  }
  // With its option `getters`, `inspect` would show them.
  Object.defineProperty(result, inspect.custom, {
    value: (_depth: number, options: InspectOptionsStylized) => inspect({ ...result }, options),
  });
  return result as Shown & Secret;
}
