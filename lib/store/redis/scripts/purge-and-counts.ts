import { EVENT_STATES, UNSETTLED_STATES } from '../../../payment/payment-state.js';
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
 * Deletes payments in one step: how many it looked at, and how many payments and events it deleted. The next step skips
 * those that stay.
 */
export const DELETE_PAYMENTS = script(
  DELIVERIES,
  `
local handlers, everyone = handlersByType(), {}
for _, of in pairs(handlers) do
  for _, handler in ipairs(of) do everyone[handler] = true end
end

local function isBusy(id)
  for handler in pairs(everyone) do
    if call('HEXISTS', key('deliveries', handler), id) == 1 then return true end
  end
  for _, waiting in ipairs(call('HVALS', key('waiting', id))) do
    if handlers[string.match(waiting, '^-?%d+:(.*)$')] then return true end
  end
  return false
end

-- Deletes a payment, and says how many events it had.
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

local before = now - arg.paymentsMs
local looked, payments, events = 0, 0, 0
local settled = call('ZRANGE', key('finalized'), arg.skip, arg.skip + arg.limit - 1, 'WITHSCORES')
for i = 1, #settled, 2 do
  if tonumber(settled[i + 1]) >= before then break end
  looked = looked + 1
  if not isBusy(settled[i]) then
    payments, events = payments + 1, events + delete(settled[i])
  end
end
return { looked, payments, events }
`,
);

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
for _, type in ipairs(${luaList(EVENT_STATES.map((state) => `payment.${state}`))}) do
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
