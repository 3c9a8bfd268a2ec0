import { notAPromise } from '../runtime/not-a-promise.js';

/** A number that is sent digit for digit: `60.00` stays `60.00`, where a JavaScript number would become `60`. */
export class WireDecimal {
  constructor(readonly text: string) {}
}

/** A JSON value as a dialect builds it. Members that are undefined are left out, as by `JSON.stringify`. */
export type WireValue = string | number | boolean | null | WireDecimal | WireObject | readonly WireValue[];
export interface WireObject {
  readonly [field: string]: WireValue | undefined;
}

/** The fields of a request without its `sign`, nested as in docs/interface.md; the amount is its canonical text. */
export interface SignedFields {
  readonly [field: string]: string | number | boolean | null | SignedFields;
}

/** Every object in a body, in whatever depth. Most values are texts, and a decimal has nothing below it. */
export function objectsIn(body: WireObject): WireValue[] {
  const found: WireValue[] = [];
  for (const name in body) {
    const value = body[name];
    if (typeof value !== 'object' || value === null || value instanceof WireDecimal) continue;
    found.push(value, ...objectsIn(value as WireObject));
  }
  return found;
}

/** The JSON text of a body. `JSON.stringify` cannot write a {@link WireDecimal} digit for digit. */
export function wireText(body: WireObject): string {
  const members: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    const text = valueText(value);
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

/** Undefined for a value that JSON leaves out. */
function valueText(value: WireValue | undefined): string | undefined {
  if (value instanceof WireDecimal) return value.text;
  if (Array.isArray(value)) return `[${Array.from(value, (item) => valueText(item as WireValue) ?? 'null').join(',')}]`;
  if (!isWireObject(value)) return JSON.stringify(value);
  // A dialect in plain JavaScript may use what writes itself, such as a Date.
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON !== 'function') return wireText(value);
  const written = notAPromise(toJSON.call(value) as WireValue, 'a part of the body');
  return isWireObject(written) ? wireText(written) : valueText(written);
}

export function isWireObject(value: WireValue | undefined): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof WireDecimal);
}

/** The body for a signer: the same names and nesting, each decimal as the text that is sent. */
export function signedFields(body: WireObject): SignedFields {
  const signed = (_name: string, value: unknown): unknown =>
    value instanceof WireDecimal ? value.text : notAPromise(value, 'a part of the body');
  return JSON.parse(JSON.stringify(body, signed)) as SignedFields;
}
