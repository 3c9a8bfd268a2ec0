import { Script } from '../script-calls.js';

/**
 * The beginning of every script of an account. `KEYS[1]` is `{prefix}:account:`, with the hash tag of the store, so
 * that a cluster keeps all keys in one slot. The arguments are names and values in turn; an absent name is null.
 * Handler ids are URI-encoded, so that they contain no colon. The ledger has the keys down to `due, finalized`, the
 * outbox the others.
 *
 *     payment:ID            hash: record (JSON), version, write:VERSION (its mark), and what the keys below hold
 *     history:ID            list of JSON, one for each version
 *     idempotencyKey:VALUE  ID of the payment that has it
 *     tokenHash:VALUE       the same
 *     referenceLock:VALUE   the same; empty, and never released, once its payment is purged or another was charged, too
 *     spentKeys             SHA-256 of the idempotency keys of purged payments, and id:SHA-1 of the conversationIds that
 *                           the module did not make, by when those were purged
 *     reference:VALUE       IDs by createdAt
 *     state:STATE           IDs by updatedAt
 *     due, finalized        IDs by dueAt (stored here alone) and by finalizedAt
 *     events:ID             hash: event id to event (JSON)
 *     backlog:TYPE          ids of the events that are not fanned out yet, by when they were written
 *     waiting:ID            hash, the same of one payment: event id to occurredAt:TYPE
 *     pairs                 TYPE:HANDLER by the time of their last announcement
 *     deliveries:HANDLER    hash: ID to the open and parked deliveries of that payment (JSON), lowest version first
 *     open:TYPE:HANDLER     event ids of the open deliveries by dueAt, or by when those before them may be gone
 *     parked:TYPE:HANDLER   event ids of the parked deliveries by occurredAt
 *
 * No key expires by itself. The work of a script depends on its `limit`, on the versions and refunds of a payment and on
 * the pairs of an account, which are few. It does not grow with the number of payments, waiting events or deliveries.
 */
const LIBRARY = `
local call = redis.call
local arg = {}
for i = 1, #ARGV, 2 do arg[ARGV[i]] = ARGV[i + 1] end

-- What the keys of the account begin with.
local account = KEYS[1]
local function key(kind, name) return account .. kind .. (name and ':' .. name or '') end

-- The store's time: this server's, unless the store was given a clock.
local function timeNow()
  if arg.now then return tonumber(arg.now) end
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local now = timeNow()

-- What is remembered of a conversationId once its payment is purged. SHA-1 is the only hash that Lua has in Redis.
local function idHash(id) return 'id:' .. redis.sha1hex(id) end

-- A list given as JSON.
local function list(name) return cjson.decode(arg[name]) end

-- The first of several sorted sets taken as one: { member =, score =, from = }, lowest score first, none above max.
local function first(limit, sets, max)
  local found = {}
  for from, set in pairs(sets) do
    local range = call('ZRANGEBYSCORE', set, '-inf', max or '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
    for i = 1, #range, 2 do
      found[#found + 1] = { member = range[i], score = tonumber(range[i + 1]), from = from }
    end
  end
  table.sort(found, function(a, b)
    if a.score ~= b.score then return a.score < b.score end
    if a.member ~= b.member then return a.member < b.member end
    return a.from < b.from
  end)
  for i = #found, limit + 1, -1 do found[i] = nil end
  return found
end
`;

/** A script of an account, with the library in front of it. */
export function script(...parts: readonly string[]): Script {
  return new Script([LIBRARY, ...parts].join('\n'));
}

/** The time, in milliseconds since 1970 UTC. */
export const NOW = script(`return now`);
