import { command } from '../command.js';
import { STORE_OPTIONS } from '../common-options.js';
import type { StateCount } from '../../store/payment-store.js';
import { withAccountStore } from './account-store.js';

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
];

export const paymentStatsCommand = command({
  name: 'payments stats',
  summary: 'Counts the payments that have not ended, and the deliveries that wait.',
  words: [],
  options: STORE_OPTIONS,
  run: (call) =>
    withAccountStore(call, async ({ store, account }) => {
      const counts = await store.counts(account);
      const at = await store.now();
      const { states, waitingEvents, openDeliveries, parkedDeliveries, orphanedDeliveries } = counts;
      const text = [
        `Account ${account}`,
        ...Object.entries(states).map(([state, count]) => stateLine(state, count, at)),
        `Deliveries: ${openDeliveries} waiting (${orphanedDeliveries} of handlers that are gone), ` +
          `${parkedDeliveries} parked`,
        `Events that no handler takes yet: ${waitingEvents}`,
      ].join('\n');
      const json = { account, at, states, waitingEvents, openDeliveries, parkedDeliveries, orphanedDeliveries };
      return { text, json };
    }),
});

function stateLine(state: string, { count, oldest }: StateCount, now: Date): string {
  const since = oldest ? `  the oldest since ${oldest.toISOString()} (${ageOf(now.getTime() - oldest.getTime())})` : '';
  return `  ${state.padEnd(12)}${String(count).padStart(8)}${since}`;
}

/** `3 hours`; whole units of the largest that fits. */
function ageOf(ms: number): string {
  const [name, unit] = UNITS.find(([, size]) => ms >= 2 * size) ?? ['seconds', 1_000];
  return `${Math.max(0, Math.floor(ms / unit))} ${name}`;
}
