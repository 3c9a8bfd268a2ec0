/** A number that is sent digit for digit: `60.00` stays `60.00`, which no JavaScript number can promise. */
export class WireDecimal {
  constructor(readonly text: string) {}
}

/** A JSON value as a dialect builds it. Undefined members are left out. */
export type WireValue = string | number | boolean | null | WireDecimal | WireObject | readonly WireValue[];
export interface WireObject {
  readonly [field: string]: WireValue | undefined;
}

/** The JSON text of a body. Written here, since `JSON.stringify` cannot write a decimal digit for digit. */
export function wireText(body: WireObject): string {
  const members: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    const text = valueText(value);
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

/** Undefined for what JSON leaves out. */
function valueText(value: WireValue | undefined): string | undefined {
  if (value instanceof WireDecimal) return value.text;
  if (isList(value)) return `[${Array.from(value, (item) => valueText(item) ?? 'null').join(',')}]`;
  if (!isWireObject(value)) return JSON.stringify(value);
  const written = asWritten(value);
  return isWireObject(written) ? wireText(written) : valueText(written);
}

/** What writes itself, such as a Date from a dialect in plain JavaScript, says what is written in its place. */
function asWritten(value: WireObject): WireValue | undefined {
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? (toJSON.call(value) as WireValue | undefined) : value;
}

export function isWireObject(value: WireValue | undefined): value is WireObject {
  return typeof value === 'object' && value !== null && !isList(value) && !(value instanceof WireDecimal);
}

function isList(value: WireValue | undefined): value is readonly WireValue[] {
  return Array.isArray(value);
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
