import { createHash } from 'node:crypto';
import type { JsonObject } from '../exact-json.js';
import type { SimulatorOperation } from '../ledger.js';

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
  isSignGood(body: JsonObject, context: { readonly operation: SimulatorOperation; readonly apiKey: string }): boolean;
  /** The `sign` of a reply. */
  replySign(reply: JsonObject, apiKey: string): string;
}

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

/**
 * The interface alone (docs/interface.md). It does not show how to sign: any sign that is not empty is good, and
 * replies carry a hash that the simulator defines.
 */
export const STANDARD: SimulatedDialect = {
  operations: ['DoPayment', 'Init3d', 'Auth3d'],
  conversationId: /\S/,
  approvalLanguage: 'en',
  readTimestamp: (text) => (ISO_UTC.test(text) ? Date.parse(text) : NaN),
  clientSecret: (secret) => secret,
  isSignGood: () => true,
  replySign: (reply) => createHash('sha256').update(JSON.stringify(reply)).digest('base64'),
};
