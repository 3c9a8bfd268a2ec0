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
