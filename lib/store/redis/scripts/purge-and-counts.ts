import { EVENT_STATES, REFUND_EVENT_STATES, UNSETTLED_STATES } from '../../../payment/payment-state.js';
import { script } from './library.js';
import { DELIVERIES } from './outbox.js';

/* A purge takes steps of at most `limit`, so that no script blocks Redis for long. */

/**
 * Forgets old pairs with their deliveries, in one step: 1 when there are more. A pair is deleted after its deliveries,
 * so that none of them is left.
 */
export const FORGET_PAIRS = script(
  DELIVERIES,
  `
local left = tonumber(arg.limit)
for _, pair in ipairs(call('ZRANGEBYSCORE', key('pairs'), '-inf', '(' .. now - arg.pairsMs)) do
  local _, handler = splitPair(pair)
  for _, set in ipairs({ key('open', pair), key('parked', pair) }) do
    for _, event in ipairs(call('ZRANGEBYSCORE', set, '-inf', '+inf', 'LIMIT', 0, left)) do
      remove(handler, event)
      left = left - 1
    end
  end
  if left == 0 then return 1 end
  call('ZREM', key('pairs'), pair)
end
return 0
`,
);

/** Forgets the hashes of old keys, in one step: 1 when there may be more. */
export const FORGET_KEYS = script(`
local old = call('ZRANGEBYSCORE', key('spentKeys'), '-inf', '(' .. now - arg.keysMs, 'LIMIT', 0, arg.limit)
if #old == 0 then return 0 end
call('ZREMRANGEBYRANK', key('spentKeys'), 0, #old - 1)
return #old == tonumber(arg.limit) and 1 or 0
`);

/**
 * Deletes payments with their refunds in one step: how many payments it looked at, how many payments and events it
 * deleted, and 1 when there may be more. The next step skips those that stay. Refunds count towards its limit, but the
 * refunds of one payment are never divided.
 */
export const DELETE_PAYMENTS = script(
  DELIVERIES,
  `
-- Runs work with the keys of the refunds' account.
local function amongRefunds(work, of)
  account = arg.refunds
  local result = work(of)
  account = KEYS[1]
  return result
end

local function knownPairs()
  local known = { types = handlersByType(), handlers = {} }
  for _, of in pairs(known.types) do
    for _, handler in ipairs(of) do known.handlers[handler] = true end
  end
  return known
end
local known, knownOfRefunds = knownPairs(), amongRefunds(knownPairs)

local function isBusy(id, known)
  for handler in pairs(known.handlers) do
    if call('HEXISTS', key('deliveries', handler), id) == 1 then return true end
  end
  for _, waiting in ipairs(call('HVALS', key('waiting', id))) do
    if known.types[string.match(waiting, '^-?%d+:(.*)$')] then return true end
  end
  return false
end

local function refundsOf(id) return call('ZRANGE', key('reference', id), 0, -1) end

local function isAnyNeeded(refunds)
  for _, id in ipairs(refunds) do
    if not call('ZSCORE', key('finalized'), id) or isBusy(id, knownOfRefunds) then return true end
  end
  return false
end

-- Deletes a payment or a refund, and says how many events it had.
local function delete(id)
  local payment = key('payment', id)
  local function field(name) return call('HGET', payment, name) end
  for _, name in ipairs({ 'idempotencyKey', 'tokenHash' }) do
    local value = field(name)
    if value and call('GET', key(name, value)) == id then call('DEL', key(name, value)) end
  end
  if not string.find(field('record'), '"hostIdNonce":null', 1, true) then
    call('ZADD', key('spentKeys'), now, idHash(id))
  end
  if field('keyHash') then call('ZADD', key('spentKeys'), now, field('keyHash')) end
  if field('referenceLock') then call('SET', key('referenceLock', field('referenceLock')), '') end
  if field('reference') then call('ZREM', key('reference', field('reference')), id) end
  call('ZREM', key('state', field('state')), id)
  call('ZREM', key('due'), id)
  call('ZREM', key('finalized'), id)
  local waiting = call('HGETALL', key('waiting', id))
  for i = 1, #waiting, 2 do
    call('ZREM', key('backlog', string.match(waiting[i + 1], '^-?%d+:(.*)$')), waiting[i])
  end
  local events = call('HLEN', key('events', id))
  call('UNLINK', payment, key('history', id), key('events', id), key('waiting', id))
  return events
end

local before, limit = now - arg.paymentsMs, tonumber(arg.limit)
local looked, payments, refunds, events = 0, 0, 0, 0
local settled = call('ZRANGE', key('finalized'), arg.skip, arg.skip + limit - 1, 'WITHSCORES')
for i = 1, #settled, 2 do
  local id = settled[i]
  if tonumber(settled[i + 1]) >= before then return { looked, payments, events, 0 } end
  if looked + refunds >= limit then return { looked, payments, events, 1 } end
  local ofIt = amongRefunds(refundsOf, id)
  looked, refunds = looked + 1, refunds + #ofIt
  local isDue = call('ZSCORE', key('due'), id)
  if not isDue and not isBusy(id, known) and not amongRefunds(isAnyNeeded, ofIt) then
    payments, events = payments + 1, events + delete(id)
    for _, refund in ipairs(ofIt) do events = events + amongRefunds(delete, refund) end
  end
end
return { looked, payments, events, looked == limit and 1 or 0 }
`,
);

const EVENT_TYPES = [
  ...EVENT_STATES.map((state) => `payment.${state}`),
  ...REFUND_EVENT_STATES.map((state) => `refund.${state}`),
];

const luaList = (texts: readonly string[]) => `{ ${texts.map((text) => `'${text}'`).join(', ')} }`;

/** The {@link StoreCounts} as JSON, dates as milliseconds. */
export const COUNTS = script(
  DELIVERIES,
  `
local counts = { states = {}, waitingEvents = 0, openDeliveries = 0, parkedDeliveries = 0, orphanedDeliveries = 0 }
local function add(name, set) counts[name] = counts[name] + call('ZCARD', set) end

for _, state in ipairs(${luaList(UNSETTLED_STATES)}) do
  local oldest = call('ZRANGE', key('state', state), 0, 0, 'WITHSCORES')
  counts.states[state] = { count = call('ZCARD', key('state', state)), oldest = tonumber(oldest[2]) }
end
for _, type in ipairs(${luaList(EVENT_TYPES)}) do
  add('waitingEvents', key('backlog', type))
end
for _, pair in ipairs(call('ZRANGE', key('pairs'), 0, -1)) do
  add('openDeliveries', key('open', pair))
  add('parkedDeliveries', key('parked', pair))
  if livesUntil(pair) <= now then add('orphanedDeliveries', key('open', pair)) end
end
return cjson.encode(counts)
`,
);
