import type { JsonObject } from '../exact-json.js';
import type { SimulatorOperation } from '../ledger.js';

/** A request's fields as they are signed: the body without `sign`, its amount the text that was sent. */
export interface SignedRequestFields {
  readonly [field: string]: string | number | boolean | null | SignedRequestFields;
}

/** Whether the `sign` of a request is good. */
export type SignCheck = (
  fields: SignedRequestFields,
  sign: string,
  context: { readonly operation: SimulatorOperation },
) => boolean;

/** How one gateway differs from others, seen from the gateway's side. */
export interface SimulatedDialect {
  readonly operations: readonly SimulatorOperation[];
  /** What a conversationId looks like. */
  readonly conversationId: RegExp;
  /** The language of an approval's message, where that is not the buyer's. */
  readonly approvalLanguage: string | null;
  /** When `x-Timestamp` says that the request was made, in milliseconds; NaN where it is not in the right form. */
  readTimestamp(text: string): number;
  /** The `x-ClientSecret` of a request. */
  clientSecret(secret: string, timestamp: string): string;
  /** @param checkSign the host's own check, for a dialect that does not know how requests are signed */
  isSignGood(
    body: JsonObject,
    context: { readonly operation: SimulatorOperation; readonly apiKey: string; readonly checkSign: SignCheck },
  ): boolean;
  /** The `sign` of a reply. */
  replySign(reply: JsonObject, apiKey: string): string;
}
