import { randomUUID } from 'node:crypto';

/** A number that is sent digit for digit: `60.00` stays `60.00`, which no JavaScript number can promise. */
export class WireDecimal {
  constructor(readonly text: string) {}
}

/** A JSON value as a dialect builds it. Undefined members are left out. */
export type WireValue = string | number | boolean | null | WireDecimal | WireObject | readonly WireValue[];
export interface WireObject {
  readonly [field: string]: WireValue | undefined;
}

/** The JSON text of a body. */
export function wireText(body: WireObject): string {
  const mark = randomUUID();
  const decimals: string[] = [];
  const text = JSON.stringify(body, (_key, value: unknown) => {
    if (!(value instanceof WireDecimal)) return value;
    decimals.push(value.text);
    return `${mark}${decimals.length - 1}`;
  });
  return text.replace(new RegExp(`"${mark}(\\d+)"`, 'g'), (_match, index: string) => decimals[Number(index)] ?? '');
}

/** The body as a signer sees it: the same names and nesting, every decimal as the text that is sent. */
export function signedFields(body: WireObject): SignedFields {
  return JSON.parse(
    JSON.stringify(body, (_key, value: unknown) => (value instanceof WireDecimal ? value.text : value)),
  ) as SignedFields;
}

/** The fields of a request without its `sign`, nested as in docs/interface.md; the amount is its canonical text. */
export interface SignedFields {
  readonly [field: string]: string | number | boolean | null | SignedFields;
}
