import { PAIR_ALIVE_MS } from '../../payment-outbox.js';
import { script } from './library.js';

/** Reads, changes and orders the deliveries of a payment. Purging uses it, too. */
export const DELIVERIES = `
local function pairOf(type, handler) return type .. ':' .. handler end
local function splitPair(pair) return string.match(pair, '^([^:]+):(.*)$') end
local function paymentOf(event) return string.match(event, '^(.*):[^:]+$') end
local function versionOf(event) return tonumber(string.match(event, ':(%d+)[^:]*$')) end

-- Until when the pair counts as alive.
local aliveUntil = {}
local function livesUntil(pair)
  if not aliveUntil[pair] then
    local announcedAt = call('ZSCORE', key('pairs'), pair)
    aliveUntil[pair] = announcedAt and announcedAt + ${PAIR_ALIVE_MS} or 0
  end
  return aliveUntil[pair]
end

-- Until when a delivery that is not parked delays higher versions, unless it is acknowledged before.
local function holdsUntil(handler, delivery)
  local alive = livesUntil(pairOf(delivery.type, handler))
  return delivery.lease and math.max(alive, delivery.dueAt) or alive
end

local function deliveriesOf(handler, id)
  local text = call('HGET', key('deliveries', handler), id)
  return text and cjson.decode(text) or {}
end

local function find(deliveries, event)
  for position, delivery in ipairs(deliveries) do
    if delivery.event == event then return delivery, position end
  end
end

local function enterInSets(handler, deliveries)
  local heldUntil = 0
  for _, delivery in ipairs(deliveries) do
    local pair = pairOf(delivery.type, handler)
    if delivery.parked then
      call('ZREM', key('open', pair), delivery.event)
      call('ZADD', key('parked', pair), delivery.occurredAt, delivery.event)
    else
      call('ZREM', key('parked', pair), delivery.event)
      call('ZADD', key('open', pair), math.max(delivery.dueAt, heldUntil), delivery.event)
      heldUntil = math.max(heldUntil, holdsUntil(handler, delivery))
    end
  end
end

local function save(handler, id, deliveries)
  if #deliveries == 0 then
    call('HDEL', key('deliveries', handler), id)
  else
    call('HSET', key('deliveries', handler), id, cjson.encode(deliveries))
  end
  enterInSets(handler, deliveries)
end

local function remove(handler, event)
  local id = paymentOf(event)
  local deliveries = deliveriesOf(handler, id)
  local delivery, position = find(deliveries, event)
  if not delivery then return end
  table.remove(deliveries, position)
  local pair = pairOf(delivery.type, handler)
  call('ZREM', key('open', pair), event)
  call('ZREM', key('parked', pair), event)
  save(handler, id, deliveries)
end

-- The handlers of each type that any is known for.
local function handlersByType()
  local handlers = {}
  for _, pair in ipairs(call('ZRANGE', key('pairs'), 0, -1)) do
    local type, handler = splitPair(pair)
    handlers[type] = handlers[type] or {}
    table.insert(handlers[type], handler)
  end
  return handlers
end
`;

const READING = `
-- What TypeScript makes a delivery of: the handler, the delivery and its event.
local function read(handler, delivery)
  return { handler, cjson.encode(delivery), call('HGET', key('events', paymentOf(delivery.event)), delivery.event) }
end
`;

const BY_LEASE = `
local id = paymentOf(arg.event)
local deliveries = deliveriesOf(arg.handler, id)
local delivery = find(deliveries, arg.event)
local isLeased = delivery and delivery.lease == arg.lease
`;

export const ANNOUNCE = script(`
for _, pair in ipairs(list('pairs')) do call('ZADD', key('pairs'), now, pair) end
`);

/** How many events were fanned out. */
export const FAN_OUT = script(
  DELIVERIES,
  `
local handlers, backlogs = handlersByType(), {}
for type in pairs(handlers) do backlogs[type] = key('backlog', type) end

local function deliver(handler, id, events)
  local deliveries = deliveriesOf(handler, id)
  for _, event in ipairs(events) do
    table.insert(deliveries, {
      event = event.id, type = event.type, occurredAt = event.occurredAt, dueAt = now, attempts = 0, parked = false
    })
  end
  table.sort(deliveries, function(a, b) return versionOf(a.event) < versionOf(b.event) end)
  save(handler, id, deliveries)
end

-- Fans out all waiting events of a payment, so that none overtakes another. They stop waiting at the end, so that none
-- is lost.
local function fanOut(id)
  local waiting, byHandler, done = call('HGETALL', key('waiting', id)), {}, {}
  for i = 1, #waiting, 2 do
    local occurredAt, type = string.match(waiting[i + 1], '^(-?%d+):(.*)$')
    if handlers[type] then
      local event = { id = waiting[i], type = type, occurredAt = tonumber(occurredAt) }
      for _, handler in ipairs(handlers[type]) do
        byHandler[handler] = byHandler[handler] or {}
        table.insert(byHandler[handler], event)
      end
      done[#done + 1] = event
    end
  end
  for handler, events in pairs(byHandler) do deliver(handler, id, events) end
  for _, event in ipairs(done) do
    call('ZREM', key('backlog', event.type), event.id)
    call('HDEL', key('waiting', id), event.id)
  end
  return #done
end

local limit, payments, events = tonumber(arg.limit), 0, 0
local before
repeat
  before = events
  local found = first(limit - payments, backlogs)
  for _, event in ipairs(found) do
    local count = fanOut(paymentOf(event.member))
    if count > 0 then payments, events = payments + 1, events + count end
  end
until events == before or payments == limit
return events
`,
);

/**
 * The deliveries that were leased, and 1 when there are more that may be due and were not looked at.
 *
 * A delivery that must wait for a lower version is moved to the time when that may end, so that it is looked at only
 * once in ten minutes.
 */
export const LEASE_DELIVERIES = script(
  DELIVERIES,
  READING,
  `
local limit, looks = tonumber(arg.limit), tonumber(arg.limit) + 100
local wanted, sets = {}, {}
for _, type in ipairs(list('types')) do
  wanted[type] = true
  sets[type] = key('open', pairOf(type, arg.handler))
end

-- The one delivery of a payment that may be leased now.
local function due(deliveries)
  for _, delivery in ipairs(deliveries) do
    if not delivery.parked then
      if wanted[delivery.type] and delivery.dueAt <= now then return delivery end
      if holdsUntil(arg.handler, delivery) > now then return nil end
    end
  end
end

local leased = {}
local candidates = first(looks, sets, now)
for _, found in ipairs(candidates) do
  if #leased == limit then return { leased, 0 } end
  local id = paymentOf(found.member)
  local deliveries = deliveriesOf(arg.handler, id)
  local delivery = due(deliveries)
  if delivery then
    delivery.lease, delivery.dueAt = arg.lease, now + arg.leaseMs
    save(arg.handler, id, deliveries)
    leased[#leased + 1] = read(arg.handler, delivery)
  else
    enterInSets(arg.handler, deliveries)
  end
end
return { leased, #candidates == looks and 1 or 0 }
`,
);

/** 1 when the lease was renewed, otherwise 0. */
export const RENEW_LEASE = script(
  DELIVERIES,
  BY_LEASE,
  `
if not isLeased then return 0 end
delivery.dueAt = now + arg.leaseMs
save(arg.handler, id, deliveries)
return 1
`,
);

export const ACKNOWLEDGE = script(DELIVERIES, `remove(arg.handler, arg.event)`);

export const POSTPONE = script(
  DELIVERIES,
  BY_LEASE,
  `
if not isLeased then return end
delivery.attempts, delivery.error, delivery.parked = tonumber(arg.attempts), arg.error, arg.parked == 'true'
delivery.lease, delivery.dueAt = nil, now + arg.retryInMs
save(arg.handler, id, deliveries)
`,
);

export const LIST_PARKED = script(
  DELIVERIES,
  READING,
  `
local sets, parked = {}, {}
for _, pair in ipairs(call('ZRANGE', key('pairs'), 0, -1)) do sets[pair] = key('parked', pair) end
for i, found in ipairs(first(tonumber(arg.limit), sets)) do
  local _, handler = splitPair(found.from)
  parked[i] = read(handler, (find(deliveriesOf(handler, paymentOf(found.member)), found.member)))
end
return parked
`,
);

/** 1 when there was such a parked delivery, otherwise 0. */
export const REPLAY = script(
  DELIVERIES,
  `
local id = paymentOf(arg.event)
local deliveries = deliveriesOf(arg.handler, id)
local delivery = find(deliveries, arg.event)
if not delivery or not delivery.parked then return 0 end
delivery.attempts, delivery.dueAt, delivery.error, delivery.parked = 0, now, nil, false
save(arg.handler, id, deliveries)
return 1
`,
);
