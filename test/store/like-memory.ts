import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryPaymentStore } from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import type { PaymentClock } from '../../lib/runtime/clock.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { inWhole } from '../rigs/extent.js';
import { StoreScript } from './contract/store-script.js';
import { StoreTrial } from './contract/store-trial.js';

const MINUTE_MS = 60_000;
const RUNS = inWhole(100, 8);
/** Random scripts do not always do what matters most: more of them run until this much of it was done. */
const ENOUGH = inWhole({ leased: 400, purgedWithRefunds: 5 }, { leased: 60, purgedWithRefunds: 1 });
/** After how many steps the stores are looked at as a whole. */
const LOOK_EVERY = inWhole(4, 12);
/** Shrinking a failure can take long. */
const LIMIT = { interruptAfterTimeLimit: 200_000, markInterruptAsFailure: true };

/** A step at this time, the events of whose script have these labels. */
type Step = (now: number, labels: string[]) => string;

/**
 * Compares a store with the one in memory, whose rules the contract's cases state: both run the same random scripts,
 * whose steps must answer alike and leave the same behind.
 */
export function describeLikeMemory(name: string, open: (clock: PaymentClock) => Promise<PaymentStore>): void {
  describe(`${name}, like memory`, () => {
    const clock = new TestClock();
    let memory: PaymentStore;
    let store: PaymentStore;
    let accounts = 0;

    beforeAll(async () => {
      memory = new MemoryPaymentStore({ clock });
      store = await open(clock);
    });
    afterAll(() => store.close());

    test('does whatever the store in memory does, for any sequence of calls', async () => {
      const done = { leased: 0, purgedWithRefunds: 0 };
      const scripts = fc.asyncProperty(
        fc.noBias(fc.array(stepOrPause(), { maxLength: 200, size: 'max' })).map(scriptOf),
        async (script) => {
          const account = `like-memory-${(accounts += 1)}`;
          const runs = [memory, store].map((of) => ({ of, answers: [] as string[], refunds: [] as number[] }));
          for (const { of, answers, refunds } of runs) {
            const run = new StoreScript(new StoreTrial(of, of, clock, account), 'payment', null);
            for (const step of script) {
              answers.push(await run.answered(step));
              if (of === memory) refunds.push(await settledRefunds(account));
            }
          }
          const [expected, actual] = runs;
          expect(actual!.answers).toEqual(expected!.answers);
          done.leased += expected!.answers.filter((answer) => /^lease .*-> \S/.test(answer)).length;
          done.purgedWithRefunds += expected!.refunds.filter(
            (count, index, counts) => count < counts[index - 1]!,
          ).length;
        },
      );
      await fc.assert(scripts, { numRuns: RUNS, ...LIMIT });
      while (done.leased < ENOUGH.leased || done.purgedWithRefunds < ENOUGH.purgedWithRefunds) {
        await fc.assert(scripts, { numRuns: 1, ...LIMIT });
      }
    }, 240_000);

    async function settledRefunds(account: string): Promise<number> {
      return (await memory.list({ account, type: 'refund', states: ['succeeded'], after: null, limit: 9 })).length;
    }
  });
}

/** Nothing happens at the same millisecond, as the order would be open. */
function scriptOf(steps: readonly (Step | number)[]): string[] {
  const labels: string[] = [];
  let now = 0;
  const script = steps.flatMap((step, index) => {
    now += typeof step === 'number' ? step : 1;
    if (typeof step === 'number') return [];
    return [`at ${now}`, step(now, labels), ...(index % LOOK_EVERY === 0 ? ['look'] : [])];
  });
  return [...script, 'look'];
}

function stepOrPause(): fc.Arbitrary<Step | number> {
  const handler = fc.constantFrom('g', 'h');
  const record = fc.constantFrom('p', 'q', 'o', 'r of=p', 's of=q', 't of=o');
  const lease = fc.constantFrom('one', 'two');
  const arbitraries: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<Step | number>])[] = [
    [2, fc.constantFrom(1_000, MINUTE_MS, 5 * MINUTE_MS, 11 * MINUTE_MS)],
    [
      14,
      fc
        .tuple(
          record,
          fc.constantFrom('u', 'r', 's', 's'),
          fc.constantFrom('', '', 'lock=R', 'lock=- key=- token=-', 'lock=- pin='),
          fc.constantFrom('due=-', 'due=-', 'due=-', 'due=NOW', `due=NOW+${MINUTE_MS}`),
        )
        .map(
          ([who, state, names, due]) =>
            (now, labels) =>
              writeOf(who, state, `${names} ${due}`, now, labels),
        ),
    ],
    [1, record.map((who) => () => `late ${who[0]}`)],
    [
      4,
      fc
        .tuple(handler, fc.constantFrom('ursURS', 'ur', 'sS', 'US'))
        .map((words) => () => `announce ${words.join(' ')}`),
    ],
    [8, fc.constant(() => 'fan')],
    [
      10,
      fc.tuple(handler, lease, fc.constantFrom('ursURS', 'ursURS', 'u', 'sS')).map(
        ([to, as, of]) =>
          () =>
            `lease ${to} as=${as} of=${of}`,
      ),
    ],
    [
      16,
      fc
        .tuple(
          fc.constantFrom('ack', 'ack', 'renew', 'park', 'retry', 'replay', 'replay'),
          handler,
          fc.nat({ max: 9 }),
          lease,
          fc.constantFrom(0, MINUTE_MS, 2 * MINUTE_MS),
        )
        .map(([verb, to, which, as, ms]) => (_now, labels) => {
          const label = labels.at(-1 - (which % (labels.length || 1))) ?? 'none';
          return `${verb} ${to} ${label}${verb === 'ack' || verb === 'replay' ? '' : ` as=${as} for=${ms}`}`;
        }),
    ],
    [2, fc.constant(() => 'due unordered')],
    [
      1,
      fc.tuple(record, fc.nat({ max: 3 })).map(
        ([who, more]) =>
          (now) =>
            `back ${who[0]} ${8 + more} due=${now}`,
      ),
    ],
    [
      4,
      fc
        .tuple(fc.constantFrom('-', '0', '0', `${20 * MINUTE_MS}`), fc.constantFrom(0, 30 * MINUTE_MS, 30 * MINUTE_MS))
        .map(
          ([payments, pairs]) =>
            () =>
              `purge payments=${payments} pairs=${pairs} keys=${30 * MINUTE_MS}`,
        ),
    ],
  ];
  return fc.oneof(...arbitraries.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

/** Inserts a record with a key, or with the lock, as several names may be taken; or replaces it where it is stored. */
function writeOf(who: string, state: string, changes: string, now: number, labels: string[]): string {
  const [letter = '', of = ''] = who.split(' ');
  const label = `${letter}${state}${labels.length}`;
  labels.push(label);
  const number = 'pqorst'.indexOf(letter) % 3;
  const names = changes.includes('lock=R') ? '' : `key=${number + 1} ${of ? '' : `token=${number + 1}`}`;
  const opened = [of, `created=${now}`, names].join(' ');
  const end = state === 's' ? now : '-';
  return `insert ${label} ${opened} ref=R on=${now} final=${end} ${changes.replace('NOW', `${now}`)}`
    .replace(/ +/g, ' ')
    .trim();
}
