import { createHash } from 'node:crypto';
import { isJsonObject, JsonNumber, type JsonObject } from '../exact-json.js';
import type { SimulatorOperation } from '../ledger.js';

/** The signed part of a request: the fields of its body except `sign`, with the amount as the text that was sent. */
export interface SignedRequestFields {
  readonly [field: string]: string | number | boolean | null | SignedRequestFields;
}

/** Whether the `sign` of a request is good. */
export type SignCheck = (
  fields: SignedRequestFields,
  sign: string,
  context: { readonly operation: SimulatorOperation },
) => boolean;

/** How one gateway differs from others, from the gateway's side. */
export interface SimulatedDialect {
  readonly operations: readonly SimulatorOperation[];
  /** The form of a conversationId. */
  readonly conversationId: RegExp;
  /** The language of an approval's message; null if it is the buyer's. */
  readonly approvalLanguage: string | null;
  /** The time of an `x-Timestamp` in milliseconds; NaN if it has the wrong form. */
  readTimestamp(text: string): number;
  /** The `x-ClientSecret` of a request. */
  clientSecret(secret: string, timestamp: string): string;
  /** @param checkSign the option, for a dialect that does not know how requests are signed */
  isSignGood(
    body: JsonObject,
    context: { readonly operation: SimulatorOperation; readonly apiKey: string; readonly checkSign: SignCheck },
  ): boolean;
  /** The `sign` of a reply. */
  replySign(reply: JsonObject, apiKey: string): string;
}

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

/**
 * The interface alone (docs/interface.md). It does not show how to sign: requests are checked by the option
 * `checkSign`, and replies carry a hash that the simulator defines.
 */
export const STANDARD: SimulatedDialect = {
  operations: ['DoPayment', 'Init3d', 'Auth3d'],
  conversationId: /\S/,
  approvalLanguage: 'en',
  readTimestamp: (text) => (ISO_UTC.test(text) ? Date.parse(text) : NaN),
  clientSecret: (secret) => secret,
  isSignGood: ({ sign, ...fields }, { operation, checkSign }) =>
    checkSign(fieldsToSign(fields), sign as string, { operation }),
  replySign: (reply) => createHash('sha256').update(JSON.stringify(reply)).digest('base64'),
};

/** Keeps the amount as text: `60.00` must not be signed as 60. */
function fieldsToSign(object: JsonObject): SignedRequestFields {
  const entries = Object.entries(object).map(([name, value]) => {
    if (value instanceof JsonNumber) return [name, name === 'amount' ? value.text : Number(value.text)];
    return [name, isJsonObject(value) ? fieldsToSign(value) : value];
  });
  return Object.fromEntries(entries) as SignedRequestFields;
}
