import { Script } from './script.js';

/**
 * What every script begins with. `KEYS[1]` is `{prefix}:account:`, with the hash tag of the store, so that all keys are
 * in one slot of a cluster. The arguments are names and values in turn; an absent name is null. Handler ids are
 * URI-encoded, so that they hold no colon.
 *
 *     payment:ID            hash: record (JSON), version, write:VERSION (its mark), and what the keys below hold
 *     history:ID            list of JSON, one for each version
 *     events:ID             hash: event id to event (JSON)
 *     idempotencyKey:VALUE  ID of the payment that has it
 *     tokenHash:VALUE       the same
 *     referenceLock:VALUE   the same; empty, and nobody's for ever, once its payment is purged
 *     reference:VALUE       IDs by createdAt
 *     state:STATE           IDs by updatedAt
 *     due, finalized        IDs by dueAt (stored here alone) and by finalizedAt
 *     handlers              handlers by the time of their last announcement
 *     handles:TYPE          handlers of that type of event
 *     waiting:TYPE          ids of the events that no handler is known for, by occurredAt
 *     deliveries:HANDLER    hash: ID to the open deliveries of that payment (JSON), lowest version first
 *     later:HANDLER         IDs whose first delivery that is not parked will be due, by dueAt
 *     ready:HANDLER         IDs whose first delivery that is not parked was found due, by occurredAt of its event
 *     parked:HANDLER        event ids by occurredAt
 */
const LIBRARY = `
local call = redis.call
local arg = {}
for i = 1, #ARGV, 2 do arg[ARGV[i]] = ARGV[i + 1] end

local UNIQUE = { 'idempotencyKey', 'tokenHash', 'referenceLock' }
local TYPES = { 'payment.succeeded', 'payment.failed', 'payment.expired', 'payment.unknown', 'payment.review' }

local function key(kind, name) return KEYS[1] .. kind .. (name and ':' .. name or '') end

-- A list given as JSON.
local function list(name) return cjson.decode(arg[name]) end

-- IDs of a sorted set with a score up to and including max, lowest first.
local function upTo(set, max, limit) return call('ZRANGEBYSCORE', set, '-inf', max, 'LIMIT', 0, limit) end

-- The first of several sorted sets taken as one: { member =, score =, from = }, lowest score first.
local function first(limit, sets)
  local found = {}
  for from, set in pairs(sets) do
    local range = call('ZRANGE', set, 0, limit - 1, 'WITHSCORES')
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

-- What a record is read from: its JSON and its dueAt.
local function read(id)
  local record = call('HGET', key('payment', id), 'record')
  return record and { record, call('ZSCORE', key('due'), id) }
end

local function readAll(ids)
  local records = {}
  for _, id in ipairs(ids) do records[#records + 1] = read(id) end
  return records
end

local function paymentOf(event) return string.match(event, '^(.*):%d+$') end

local function openDeliveries(handler, id)
  local text = call('HGET', key('deliveries', handler), id)
  return text and cjson.decode(text) or {}
end

local function nextDelivery(open)
  for _, delivery in ipairs(open) do
    if not delivery.parked then return delivery end
  end
end

local function findDelivery(open, event)
  for position, delivery in ipairs(open) do
    if delivery.event == event then return delivery, position end
  end
end

local function saveDeliveries(handler, id, open)
  if #open == 0 then
    call('HDEL', key('deliveries', handler), id)
  else
    call('HSET', key('deliveries', handler), id, cjson.encode(open))
  end
  call('ZREM', key('ready', handler), id)
  local following = nextDelivery(open)
  if following then
    call('ZADD', key('later', handler), following.dueAt, id)
  else
    call('ZREM', key('later', handler), id)
  end
end

local function deliver(handler, event, occurredAt)
  local id, version = paymentOf(event), tonumber(string.match(event, '%d+$'))
  local open = openDeliveries(handler, id)
  open[#open + 1] = {
    event = event, version = version, occurredAt = occurredAt, dueAt = occurredAt, attempts = 0, parked = false
  }
  table.sort(open, function(a, b) return a.version < b.version end)
  saveDeliveries(handler, id, open)
end

-- What a delivery is read from: its handler, itself and its event.
local function readDelivery(handler, delivery)
  return { handler, cjson.encode(delivery), call('HGET', key('events', paymentOf(delivery.event)), delivery.event) }
end

local function write(old)
  local id, payment = arg.id, key('payment', arg.id)
  for _, name in ipairs(UNIQUE) do
    if old[name] and old[name] ~= arg[name] and call('GET', key(name, old[name])) == id then
      call('DEL', key(name, old[name]))
    end
    if arg[name] then call('SET', key(name, arg[name]), id) end
  end
  if old.state then call('ZREM', key('state', old.state), id) end
  call('ZADD', key('state', arg.state), arg.updatedAt, id)
  if old.reference and old.reference ~= arg.reference then call('ZREM', key('reference', old.reference), id) end
  if arg.reference then call('ZADD', key('reference', arg.reference), arg.createdAt, id) end
  for set, at in pairs({ due = arg.dueAt or false, finalized = arg.finalizedAt or false }) do
    if at then call('ZADD', key(set), at, id) else call('ZREM', key(set), id) end
  end

  call('HSET', payment, 'record', arg.record, 'version', arg.version, 'state', arg.state)
  call('HSET', payment, 'write:' .. arg.version, arg.write)
  for _, name in ipairs({ 'reference', 'idempotencyKey', 'tokenHash', 'referenceLock' }) do
    if arg[name] then call('HSET', payment, name, arg[name]) else call('HDEL', payment, name) end
  end
  call('RPUSH', key('history', id), arg.history)

  if not arg.event then return end
  call('HSET', key('events', id), arg.eventId, arg.event)
  local handlers = call('SMEMBERS', key('handles', arg.eventType))
  for _, handler in ipairs(handlers) do deliver(handler, arg.eventId, tonumber(arg.occurredAt)) end
  if #handlers == 0 then call('ZADD', key('waiting', arg.eventType), arg.occurredAt, arg.eventId) end
end

-- Whether this very write was made already: a client may send it again when the connection broke before the answer.
local function isWritten() return call('HGET', key('payment', arg.id), 'write:' .. arg.version) == arg.write end

local function holder(name) return arg[name] and call('GET', key(name, arg[name])) end
`;

const script = (body: string) => new Script(LIBRARY + body);

/** The key that is taken, or null. */
export const INSERT = script(`
if isWritten() then return nil end
if call('EXISTS', key('payment', arg.id)) == 1 then return 'conversationId' end
for _, name in ipairs(UNIQUE) do
  if holder(name) then return name end
end
write({})
`);

/** The {@link ReplaceOutcome}. */
export const REPLACE = script(`
if isWritten() then return 'replaced' end
if call('HGET', key('payment', arg.id), 'version') ~= arg.expectedVersion then return 'stale' end
for _, name in ipairs(UNIQUE) do
  local other = holder(name)
  if other and other ~= arg.id then
    return name == 'referenceLock' and 'locked' or redis.error_reply('TAKEN ' .. name)
  end
end
local old = {}
for _, name in ipairs({ 'state', 'reference', 'idempotencyKey', 'tokenHash', 'referenceLock' }) do
  old[name] = call('HGET', key('payment', arg.id), name)
end
write(old)
return 'replaced'
`);

export const FIND = script(`return read(arg.id)`);

export const FIND_BY_KEY = script(`
local id = call('GET', key(arg.name, arg.value))
return id and read(id)
`);

export const FIND_BY_REFERENCE = script(`return readAll(call('ZRANGE', key('reference', arg.reference), 0, -1))`);

export const LIST_BY_STATE = script(`
local sets = {}
for _, state in ipairs(list('states')) do sets[state] = key('state', state) end
local ids = {}
for i, found in ipairs(first(tonumber(arg.limit), sets)) do ids[i] = found.member end
return readAll(ids)
`);

export const HISTORY = script(`return call('LRANGE', key('history', arg.id), 0, -1)`);

export const LEASE_DUE = script(`
local ids = upTo(key('due'), arg.now, arg.limit)
for _, id in ipairs(ids) do call('ZADD', key('due'), arg.untilTime, id) end
return readAll(ids)
`);

export const HAND_BACK = script(`
if call('HGET', key('payment', arg.id), 'version') == arg.version then call('ZADD', key('due'), arg.dueAt, arg.id) end
`);

export const ANNOUNCE = script(`
local waitedFor = {}
for _, handler in ipairs(list('handlers')) do
  call('ZADD', key('handlers'), arg.at, handler.id)
  for _, type in ipairs(TYPES) do call('SREM', key('handles', type), handler.id) end
  for _, type in ipairs(handler.types) do
    call('SADD', key('handles', type), handler.id)
    waitedFor[type] = true
  end
end
for type in pairs(waitedFor) do
  local waiting = call('ZRANGE', key('waiting', type), 0, -1, 'WITHSCORES')
  for _, handler in ipairs(call('SMEMBERS', key('handles', type))) do
    for i = 1, #waiting, 2 do deliver(handler, waiting[i], tonumber(waiting[i + 1])) end
  end
  call('DEL', key('waiting', type))
end
`);

/** What it costs depends on `limit` alone: what is due is moved to `ready` in bounded steps, the longest due first. */
export const LEASE_DELIVERIES = script(`
local limit, sets = tonumber(arg.limit), {}
for _, handler in ipairs(list('handlers')) do
  for _, id in ipairs(upTo(key('later', handler), arg.now, math.max(limit, 1000))) do
    local delivery = nextDelivery(openDeliveries(handler, id))
    call('ZREM', key('later', handler), id)
    call('ZADD', key('ready', handler), delivery.occurredAt, id)
  end
  sets[handler] = key('ready', handler)
end
local leased = {}
for i, found in ipairs(first(limit, sets)) do
  local open = openDeliveries(found.from, found.member)
  local delivery = nextDelivery(open)
  delivery.dueAt = tonumber(arg.untilTime)
  saveDeliveries(found.from, found.member, open)
  leased[i] = readDelivery(found.from, delivery)
end
return leased
`);

export const ACKNOWLEDGE = script(`
local id = paymentOf(arg.event)
local open = openDeliveries(arg.handler, id)
local delivery, position = findDelivery(open, arg.event)
if not delivery then return end
table.remove(open, position)
call('ZREM', key('parked', arg.handler), arg.event)
saveDeliveries(arg.handler, id, open)
`);

export const POSTPONE = script(`
local id = paymentOf(arg.event)
local open = openDeliveries(arg.handler, id)
local delivery = findDelivery(open, arg.event)
if not delivery then return end
delivery.attempts, delivery.dueAt, delivery.error = tonumber(arg.attempts), tonumber(arg.dueAt), arg.error
delivery.parked = arg.parked == 'true'
if delivery.parked then
  call('ZADD', key('parked', arg.handler), delivery.occurredAt, arg.event)
else
  call('ZREM', key('parked', arg.handler), arg.event)
end
saveDeliveries(arg.handler, id, open)
`);

export const LIST_PARKED = script(`
local sets, parked = {}, {}
for _, handler in ipairs(call('ZRANGE', key('handlers'), 0, -1)) do sets[handler] = key('parked', handler) end
for i, found in ipairs(first(tonumber(arg.limit), sets)) do
  local open = openDeliveries(found.from, paymentOf(found.member))
  parked[i] = readDelivery(found.from, (findDelivery(open, found.member)))
end
return parked
`);

/** 1 when there was such a parked delivery, otherwise 0. */
export const REPLAY = script(`
local id = paymentOf(arg.event)
local open = openDeliveries(arg.handler, id)
local delivery = findDelivery(open, arg.event)
if not delivery or not delivery.parked then return 0 end
delivery.attempts, delivery.dueAt, delivery.error, delivery.parked = 0, tonumber(arg.now), nil, false
call('ZREM', key('parked', arg.handler), arg.event)
saveDeliveries(arg.handler, id, open)
return 1
`);

export const DROP_HANDLERS = script(`
for _, handler in ipairs(call('ZRANGEBYSCORE', key('handlers'), '-inf', '(' .. arg.before)) do
  for _, kind in ipairs({ 'deliveries', 'later', 'ready', 'parked' }) do call('UNLINK', key(kind, handler)) end
  for _, type in ipairs(TYPES) do call('SREM', key('handles', type), handler) end
  call('ZREM', key('handlers'), handler)
end
`);

/** One step of a purge: how many payments it looked at, payments and events deleted. The next step skips what stays. */
export const PURGE = script(`
local handlers = call('ZRANGE', key('handlers'), 0, -1)
local function hasOpenDelivery(id)
  for _, handler in ipairs(handlers) do
    if call('HEXISTS', key('deliveries', handler), id) == 1 then return true end
  end
  return false
end
local ids = call('ZRANGEBYSCORE', key('finalized'), '-inf', '(' .. arg.before, 'LIMIT', arg.skip, arg.limit)
local payments, events = 0, 0
for _, id in ipairs(ids) do
  if not hasOpenDelivery(id) then
    local payment = key('payment', id)
    for _, name in ipairs({ 'idempotencyKey', 'tokenHash' }) do
      local value = call('HGET', payment, name)
      if value then call('DEL', key(name, value)) end
    end
    local lock = call('HGET', payment, 'referenceLock')
    if lock then call('SET', key('referenceLock', lock), '') end
    call('ZREM', key('state', call('HGET', payment, 'state')), id)
    local reference = call('HGET', payment, 'reference')
    if reference then call('ZREM', key('reference', reference), id) end
    call('ZREM', key('due'), id)
    call('ZREM', key('finalized'), id)
    for _, event in ipairs(call('HKEYS', key('events', id))) do
      for _, type in ipairs(TYPES) do call('ZREM', key('waiting', type), event) end
      events = events + 1
    end
    call('UNLINK', payment, key('history', id), key('events', id))
    payments = payments + 1
  end
end
return { #ids, payments, events }
`);

/** The version of the schema in which this store's keys are; sets it where there are none yet. */
export const SCHEMA = new Script(`
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
`);
