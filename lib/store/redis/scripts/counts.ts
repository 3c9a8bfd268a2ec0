import { EVENT_STATES, UNSETTLED_STATES } from '../../../payment/payment-state.js';
import { DELIVERIES } from './deliveries.js';
import { script } from './library.js';

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
