import { Script } from '../script.js';

/**
 * The version of the keys, and the lowest version that a release must know to use them. `ARGV` is what this release
 * writes; it is entered where there is nothing yet, or something older. `KEYS[1]` is `{prefix}:`.
 */
export const SCHEMA = new Script(`
local call, schema, lowest = redis.call, KEYS[1] .. 'schema', KEYS[1] .. 'lowest'
if tonumber(call('GET', schema) or 0) < tonumber(ARGV[1]) then
  call('SET', schema, ARGV[1])
  call('SET', lowest, ARGV[2])
end
return { call('GET', schema), call('GET', lowest) or call('GET', schema) }
`);

/** The same two, 0 where there is nothing yet. It writes nothing. */
export const FOUND_SCHEMA = new Script(`
local call, schema, lowest = redis.call, KEYS[1] .. 'schema', KEYS[1] .. 'lowest'
return { call('GET', schema) or '0', call('GET', lowest) or call('GET', schema) or '0' }
`);
