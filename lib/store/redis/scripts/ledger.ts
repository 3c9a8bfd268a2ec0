import { script } from './library.js';

const READING = `
-- What TypeScript makes a record of: its JSON and its dueAt.
local function read(id)
  local record = call('HGET', key('payment', id), 'record')
  return record and { record, call('ZSCORE', key('due'), id) }
end

local function readAll(ids)
  local records = {}
  for _, id in ipairs(ids) do records[#records + 1] = read(id) end
  return records
end
`;

const WRITING = `
local UNIQUE = { 'idempotencyKey', 'tokenHash', 'referenceLock' }
local FIELDS = { 'reference', 'idempotencyKey', 'keyHash', 'tokenHash', 'referenceLock' }

-- Whether this write was made already: a client may send it again when the connection broke before the answer.
local function isWritten() return call('HGET', key('payment', arg.id), 'write:' .. arg.version) == arg.write end

-- The first key that another payment has, or had.
local function takenKey()
  for _, name in ipairs(UNIQUE) do
    local holder = arg[name] and call('GET', key(name, arg[name]))
    if holder and holder ~= arg.id then return name end
    if name == 'idempotencyKey' and arg.keyHash and call('ZSCORE', key('spentKeys'), arg.keyHash) then return name end
  end
end

local function write(old)
  local id, payment = arg.id, key('payment', arg.id)
  for _, name in ipairs(UNIQUE) do
    if old[name] and old[name] ~= arg[name] and call('GET', key(name, old[name])) == id then
      call('DEL', key(name, old[name]))
    end
    if arg[name] then call('SET', key(name, arg[name]), id) end
  end
  if arg.pinnedReference then call('SET', key('referenceLock', arg.pinnedReference), '') end
  if old.state then call('ZREM', key('state', old.state), id) end
  call('ZADD', key('state', arg.state), arg.updatedAt, id)
  if old.reference and old.reference ~= arg.reference then call('ZREM', key('reference', old.reference), id) end
  if arg.reference then call('ZADD', key('reference', arg.reference), arg.createdAt, id) end
  for set, at in pairs({ due = arg.dueAt or false, finalized = arg.finalizedAt or false }) do
    if at then call('ZADD', key(set), at, id) else call('ZREM', key(set), id) end
  end

  call('HSET', payment, 'record', arg.record, 'version', arg.version, 'state', arg.state)
  call('HSET', payment, 'write:' .. arg.version, arg.write)
  for _, name in ipairs(FIELDS) do
    if arg[name] then call('HSET', payment, name, arg[name]) else call('HDEL', payment, name) end
  end
  call('RPUSH', key('history', id), arg.history)

  if not arg.event then return end
  call('HSET', key('events', id), arg.eventId, arg.event)
  call('HSET', key('waiting', id), arg.eventId, arg.occurredAt .. ':' .. arg.eventType)
  call('ZADD', key('backlog', arg.eventType), now, arg.eventId)
end
`;

/** The key that is taken, or null. */
export const INSERT = script(
  WRITING,
  `
if isWritten() then return nil end
if call('EXISTS', key('payment', arg.id)) == 1 then return 'conversationId' end
if arg.isHostId and call('ZSCORE', key('spentKeys'), idHash(arg.id)) then return 'conversationId' end
local taken = takenKey()
if taken then return taken end
write({})
`,
);

/** The {@link ReplaceOutcome}. */
export const REPLACE = script(
  WRITING,
  `
if isWritten() then return 'replaced' end
if call('HGET', key('payment', arg.id), 'version') ~= arg.expectedVersion then return 'stale' end
local taken = takenKey()
if taken then return taken == 'referenceLock' and 'locked' or redis.error_reply('TAKEN ' .. taken) end
local old = { state = call('HGET', key('payment', arg.id), 'state') }
for _, name in ipairs(FIELDS) do old[name] = call('HGET', key('payment', arg.id), name) end
write(old)
return 'replaced'
`,
);

export const FIND = script(READING, `return read(arg.id)`);

export const FIND_BY_TOKEN_HASH = script(
  READING,
  `
local id = call('GET', key('tokenHash', arg.tokenHash))
return id and read(id)
`,
);

/** The record, `purged`, or null. */
export const FIND_BY_IDEMPOTENCY_KEY = script(
  READING,
  `
if call('ZSCORE', key('spentKeys'), arg.keyHash) then return 'purged' end
local id = call('GET', key('idempotencyKey', arg.idempotencyKey))
return id and read(id)
`,
);

export const FIND_BY_REFERENCE = script(
  READING,
  `return readAll(call('ZRANGE', key('reference', arg.reference), 0, -1))`,
);

export const LIST_BY_STATE = script(
  READING,
  `
local sets, ids = {}, {}
for _, state in ipairs(list('states')) do sets[state] = key('state', state) end
for i, found in ipairs(first(tonumber(arg.limit), sets)) do ids[i] = found.member end
return readAll(ids)
`,
);

/**
 * The place after which the page begins is found by halving, since any number of records may have the same time. Lua
 * would compare the ids by the server's locale, in which a sorted set does not order them.
 */
export const LIST_SETTLED = script(
  READING,
  `
local function isAfter(id, other)
  for i = 1, math.min(#id, #other) do
    local a, b = string.byte(id, i), string.byte(other, i)
    if a ~= b then return a > b end
  end
  return #id > #other
end

local function startAfter(at, id)
  local low, high = call('ZCOUNT', key('finalized'), '-inf', '(' .. at), call('ZCOUNT', key('finalized'), '-inf', at)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if isAfter(call('ZRANGE', key('finalized'), middle, middle)[1], id) then high = middle else low = middle + 1 end
  end
  return low
end

local first = call('ZCOUNT', key('finalized'), '-inf', '(' .. arg.from)
if arg.afterAt then first = math.max(first, startAfter(arg.afterAt, arg.afterId)) end
local settled, ids = call('ZRANGE', key('finalized'), first, first + arg.limit - 1, 'WITHSCORES'), {}
for i = 1, #settled, 2 do
  if tonumber(settled[i + 1]) >= tonumber(arg.to) then break end
  ids[#ids + 1] = settled[i]
end
return readAll(ids)
`,
);

export const HISTORY = script(`return call('LRANGE', key('history', arg.id), 0, -1)`);

export const LEASE_DUE = script(
  READING,
  `
local ids = call('ZRANGEBYSCORE', key('due'), '-inf', now, 'LIMIT', 0, arg.limit)
for _, id in ipairs(ids) do call('ZADD', key('due'), now + arg.leaseMs, id) end
return readAll(ids)
`,
);

export const HAND_BACK = script(`
if call('HGET', key('payment', arg.id), 'version') == arg.version then call('ZADD', key('due'), arg.dueAt, arg.id) end
`);
