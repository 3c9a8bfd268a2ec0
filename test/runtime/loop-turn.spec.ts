import { jest } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { loopTurn } from '../../lib/runtime/clock.js';

describe('loopTurn', () => {
  beforeEach(() => nextTurn());

  it('resumes payments in the order in which they arrived', async () => {
    const numbers = Array.from({ length: 100 }, (_, number) => number);
    const order: number[] = [];
    await Promise.all(numbers.map(async (number) => [await loopTurn.take(), order.push(number)]));
    expect(order).toEqual(numbers);
  });

  it('returns no promise while a turn has places left', async () => {
    const taken = Array.from({ length: 17 }, () => loopTurn.take());
    expect(taken.slice(0, 16)).toEqual(Array(16).fill(null));
    await taken[16];
    await nextTurn();
    expect(loopTurn.take()).toBeNull();
  });

  it('counts the payments that waited towards the limit of the turn in which they resume', async () => {
    const burst = Array.from({ length: 20 }, () => loopTurn.take());
    await nextTurn();
    const later = Array.from({ length: 13 }, () => loopTurn.take());
    expect(later.map((wait) => wait === null)).toEqual([...Array<boolean>(12).fill(true), false]);
    for (const wait of [...burst, ...later]) await wait;
  });

  it('resumes payments under fake timers in the tests of a host, and after them', async () => {
    let resumed = 0;
    const takeSome = async (): Promise<void> => {
      for (let taken = 0; taken < 20; taken += 1) void Promise.resolve(loopTurn.take()).then(() => (resumed += 1));
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    };
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    try {
      await takeSome();
    } finally {
      jest.useRealTimers();
    }
    expect(resumed).toBe(20);
    await takeSome();
    expect(resumed).toBe(40);
  });
});
