import { createHash } from 'node:crypto';
import { isJsonObject, JsonNumber, type JsonObject } from '../exact-json.js';
import type { SignedRequestFields, SimulatedDialect } from './simulated-dialect.js';

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

/**
 * The contract alone. How it signs is not shown there: requests are checked by the host's own function, replies carry
 * any text.
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

/** Numbers as numbers, but the amount as its text: `60.00` must not be signed as 60. */
function fieldsToSign(object: JsonObject): SignedRequestFields {
  const entries = Object.entries(object).map(([name, value]) => {
    if (value instanceof JsonNumber) return [name, name === 'amount' ? value.text : Number(value.text)];
    return [name, isJsonObject(value) ? fieldsToSign(value) : value];
  });
  return Object.fromEntries(entries) as SignedRequestFields;
}
