import { randomUUID } from 'node:crypto';
import { refusePromises } from '../runtime/not-a-promise.js';

/** A number that is sent digit for digit: `60.00` stays `60.00`, where a JavaScript number would become `60`. */
export class WireDecimal {
  constructor(readonly text: string) {
    refusePromises([text], 'a decimal');
    if (typeof text !== 'string') throw new TypeError('a decimal is no text');
  }
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
  return written(body, ({ text }) => MARK + text).replace(MARKED, '$1');
}

/** The body for a signer: the same names and nesting, each decimal as the text that is sent. */
export function signedFields(body: WireObject): SignedFields {
  return JSON.parse(written(body, ({ text }) => text)) as SignedFields;
}

/** @throws TypeError for a promise in the body, as of an async function of a host's own dialect */
function written(body: WireObject, decimal: (value: WireDecimal) => string): string {
  const values: unknown[] = [];
  const text = JSON.stringify(body, (_name, value: unknown) => {
    values.push(value);
    return value instanceof WireDecimal ? decimal(value) : value;
  });
  refusePromises(values, 'a part of the body');
  return text;
}
