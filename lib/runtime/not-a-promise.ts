/**
 * What the host's code returned, where a promise is a mistake: an async function in place of another one. Its rejection
 * must not end the process.
 *
 * @throws TypeError for a promise
 */
export function notAPromise<Value>(value: Value, what: string): Value {
  refusePromises([value], what);
  return value;
}

/** The same for many values: each rejection is handled, not only the first. */
export function refusePromises(values: readonly unknown[], what: string): void {
  const promises = values.filter(isPromise);
  for (const promise of promises) Promise.resolve(promise).catch(() => undefined);
  if (promises.length > 0) throw new TypeError(`${what} is a promise`);
}

function isPromise(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as { readonly then?: unknown }).then === 'function';
}
