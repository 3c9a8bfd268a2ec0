import { randomUUID } from 'node:crypto';

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

/** Marks a decimal until its quotes are taken away. Nobody can guess it, so no text of a buyer can pass for one. */
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** The JSON text of a body. `JSON.stringify` cannot write a {@link WireDecimal} digit for digit. */
export function wireText(body: WireObject): string {
  const marked = (_name: string, value: unknown): unknown => (value instanceof WireDecimal ? MARK + value.text : value);
  return JSON.stringify(body, marked).replace(MARKED, '$1');
}

/** The body for a signer: the same names and nesting, each decimal as the text that is sent. */
export function signedFields(body: WireObject): SignedFields {
  const signed = (_name: string, value: unknown): unknown => (value instanceof WireDecimal ? value.text : value);
  return JSON.parse(JSON.stringify(body, signed)) as SignedFields;
}
