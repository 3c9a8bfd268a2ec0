import { createHash } from 'node:crypto';
import type { DoPaymentDto } from '../dto/sale.dto.js';
import { IsText } from '../dto/rules.js';
import type { GatewayDialect } from '../gateway/gateway-dialect.js';
import { notAPromise } from '../runtime/not-a-promise.js';
import type { Randomness } from '../runtime/randomness.js';

/** Stands in place of the token in the URLs of a direct payment: no buyer returns to them. */
export const NO_TOKEN = 'direct';

/**
 * 256 random bits, base64url. The token lets its holder deliver the bank's answer for one payment, and do nothing else.
 */
export function newCallbackToken(random: Randomness): string {
  return random.bytes(32).toString('base64url');
}

/** SHA-256 of the token, lowercase hex. Only this is stored. */
export function hashCallbackToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

/**
 * 48 random bits, lowercase hex, for a payment whose conversationId the host chose: see `PaymentRecord.hostIdNonce`.
 * @returns null if the module makes the conversationId
 */
export function newHostIdNonce(random: Randomness, { conversationId }: Pick<DoPaymentDto, 'conversationId'>) {
  if (conversationId === undefined) return null;
  return random.bytes(6).toString('hex');
}

/** 128 random bits that identify the attempt which opened or claimed a payment. */
export function newAttemptId(random: Randomness): string {
  return random.bytes(16).toString('base64url');
}

/**
 * A new id of the dialect's, checked like one that is given with an input, before anything is recorded or sent.
 *
 * @throws TypeError for anything else than such a text; a host's own dialect may give anything
 */
export function newConversationIdOf(dialect: Pick<GatewayDialect, 'name' | 'newConversationId'>): string {
  const what = `newConversationId() of the dialect "${dialect.name}"`;
  const id: unknown = notAPromise(dialect.newConversationId(), `what ${what} returned`);
  if (typeof id === 'string' && IsText.isGood(id)) return id;
  throw new TypeError(`${what} returned no text that can be an id: nothing was recorded or sent`);
}
