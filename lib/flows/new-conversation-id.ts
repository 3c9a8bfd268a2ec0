import { isText } from '../dto/rules/value.rules.js';
import type { GatewayDialect } from '../gateway/gateway-dialect.js';
import { notAPromise } from '../payment/not-a-promise.js';

/**
 * A new id of the dialect's, checked like one that is given with an input, before anything is recorded or sent.
 *
 * @throws TypeError for anything else than such a text; a host's own dialect may give anything
 */
export function newConversationIdOf(dialect: Pick<GatewayDialect, 'name' | 'newConversationId'>): string {
  const what = `newConversationId() of the dialect "${dialect.name}"`;
  const id: unknown = notAPromise(dialect.newConversationId(), `what ${what} returned`);
  if (isText(id)) return id;
  throw new TypeError(`${what} returned no text that can be an id: nothing was recorded or sent`);
}
