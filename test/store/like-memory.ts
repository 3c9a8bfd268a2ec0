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
const RUNS = inWhole(100, 4);
/** Random scripts do not always do what matters most: more of them run until this much of it was done. */
const ENOUGH = inWhole({ leased: 400, purgedWithRefunds: 5 }, { leased: 30, purgedWithRefunds: 1 });
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
  const state = fc.constantFrom('u', 'r', 's', 's');
  const names = fc.constantFrom('', '', 'lock=R', 'lock=- key=- token=-', 'lock=- pin=');
  const due = fc.constantFrom('due=-', 'due=-', 'due=-', 'due=NOW', `due=NOW+${MINUTE_MS}`);
  const change = fc.constantFrom('ack', 'ack', 'renew', 'park', 'retry', 'replay', 'replay');
  const retention = fc.constantFrom('-', '0', '0', `${20 * MINUTE_MS}`);
  return fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(1_000, MINUTE_MS, 5 * MINUTE_MS, 11 * MINUTE_MS) },
    steps(14, [record, state, names, due], (words, now, labels) => {
      const [who, becomes, named, dueAt] = words;
      return writeOf(who, becomes, `${named} ${dueAt}`, now, labels);
    }),
    steps(1, [record], ([who]) => `late ${who[0]}`),
    steps(4, [handler, fc.constantFrom('ursURS', 'ur', 'sS', 'US')], ([to, types]) => `announce ${to} ${types}`),
    steps(8, [], () => 'fan'),
    steps(10, [handler, lease, fc.constantFrom('ursURS', 'ursURS', 'u', 'sS')], ([to, as, of]) => {
      return `lease ${to} as=${as} of=${of}`;
    }),
    steps(16, [change, handler, fc.nat({ max: 9 }), lease, fc.constantFrom(0, 1, 2)], (words, _now, labels) => {
      const [verb, to, which, as, minutes] = words;
      const label = labels.at(-1 - (which % (labels.length || 1))) ?? 'none';
      const options = verb === 'ack' || verb === 'replay' ? '' : ` as=${as} for=${minutes * MINUTE_MS}`;
      return `${verb} ${to} ${label}${options}`;
    }),
    steps(2, [], () => 'due unordered'),
    steps(1, [record, fc.nat({ max: 3 })], ([who, more], now) => `back ${who[0]} ${8 + more} due=${now}`),
    steps(4, [retention, fc.constantFrom(0, 30, 30)], ([payments, minutes]) => {
      return `purge payments=${payments} pairs=${minutes * MINUTE_MS} keys=${30 * MINUTE_MS}`;
    }),
  );
}

/** Steps that are made of such words, as often as the weight says. */
function steps<Words extends readonly unknown[]>(
  weight: number,
  words: { readonly [Index in keyof Words]: fc.Arbitrary<Words[Index]> },
  stepOf: (words: Words, now: number, labels: string[]) => string,
): { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> } {
  const all = fc.tuple(...(words as readonly fc.Arbitrary<unknown>[])) as unknown as fc.Arbitrary<Words>;
  return { weight, arbitrary: all.map((some) => (now, labels) => stepOf(some, now, labels)) };
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
