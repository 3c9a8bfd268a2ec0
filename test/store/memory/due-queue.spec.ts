import fc from 'fast-check';
import { DueQueue } from '../../../lib/store/memory/due-queue.js';

const at = (ms: number) => new Date(ms);

/** Takes all that is due. */
function drain(queue: DueQueue, now: Date): string[] {
  const taken: string[] = [];
  for (let key = queue.take(now); key !== undefined; key = queue.take(now)) taken.push(key);
  return taken;
}

test('gives what is due, the longest due first, and nothing sooner', () => {
  const queue = new DueQueue();
  queue.set('b', at(20));
  queue.set('c', at(30));
  queue.set('a', at(10));
  expect([queue.take(at(9)), queue.firstDueAt]).toEqual([undefined, 10]);
  expect(drain(queue, at(20))).toEqual(['a', 'b']);
  expect([queue.size, queue.firstDueAt]).toEqual([1, 30]);
  queue.delete('c');
  queue.delete('none');
  expect([queue.size, queue.firstDueAt, queue.take(at(99))]).toEqual([0, Infinity, undefined]);
});

test('stays in order where what fills a gap belongs further up', () => {
  const queue = new DueQueue();
  // Each below its parent, so that they stand in the heap as they are written. The last takes the place of 13, under 10.
  const times = [0, 10, 1, 11, 12, 30, 2, 13, 14, 15, 16, 40, 41, 42, 5];
  for (const ms of times) queue.set(`${ms}`, at(ms));
  queue.delete('13');
  const left = times.filter((ms) => ms !== 13).sort((one, other) => one - other);
  expect(drain(queue, at(99))).toEqual(left.map(String));
});

test('keys that are due at the same time come in the order in which they were set', () => {
  const queue = new DueQueue();
  for (const key of ['c', 'a', 'b', 'd']) queue.set(key, at(5));
  queue.set('a', at(5));
  expect(drain(queue, at(5))).toEqual(['c', 'b', 'd', 'a']);
});

test('stays in order through whatever is set, moved, deleted and taken', () => {
  const key = fc.integer({ min: 0, max: 30 }).map((number) => `key-${number}`);
  const time = fc.integer({ min: 0, max: 20 });
  const step = fc.oneof(
    fc.tuple(fc.constant('set' as const), key, time),
    fc.tuple(fc.constant('delete' as const), key, time),
    fc.tuple(fc.constant('take' as const), key, time),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new DueQueue();
      let model: (readonly [string, number])[] = [];
      for (const [what, name, ms] of steps) {
        const others = model.filter(([other]) => other !== name);
        const [first] = [...model].sort(([, one], [, other]) => one - other);
        if (what === 'take') {
          const due = first && first[1] <= ms ? first[0] : undefined;
          expect(queue.take(at(ms))).toBe(due);
          model = model.filter(([other]) => other !== due);
        } else if (what === 'set') {
          queue.set(name, at(ms));
          model = [...others, [name, ms]];
        } else {
          queue.delete(name);
          model = others;
        }
        expect(queue.size).toBe(model.length);
      }
      const left = [...model].sort(([, one], [, other]) => one - other).map(([name]) => name);
      expect(drain(queue, at(99))).toEqual(left);
    }),
    { numRuns: 300 },
  );
});
