import { nearest } from '../../options/near-misses.js';
import { UsageError } from '../command.js';

export const STATE_OPTION = {
  type: 'string',
  multiple: true,
  value: 'STATES',
  about: 'Only those in these states (separated by commas), or "all".',
} as const;

/**
 * Reads `--state`.
 *
 * @returns null if none is given
 * @throws UsageError
 */
export function statesIn<State extends string>(
  given: readonly string[] = [],
  states: readonly State[],
): readonly State[] | null {
  const names = given.flatMap((text) => text.split(',')).map((text) => text.trim());
  if (names.length === 0) return null;
  if (names.includes('all')) return states;
  return names.map((name) => {
    const state = states.find((one) => one === name);
    if (state !== undefined) return state;
    const near = nearest(name, states);
    const meant = near === null ? `there are ${states.join(', ')}` : `did you mean ${near}?`;
    throw new UsageError(`--state: there is no state "${name}"; ${meant}`);
  });
}
