/**
 * What the host's code returned, where a promise is a mistake: an async function in place of another one. Its rejection
 * must not end the process.
 *
 * @throws TypeError for a promise
 */
export function notAPromise<Value>(value: Value, what: string): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (typeof (value as { readonly then?: unknown }).then !== 'function') return value;
  Promise.resolve(value).catch(() => undefined);
  throw new TypeError(`${what} is a promise`);
}
