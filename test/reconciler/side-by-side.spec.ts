import { sideBySide } from '../../lib/reconciler/due-payments.js';
import { isOver, quiet } from '../operations/test-shop.js';

describe('sideBySide', () => {
  let ends: Map<number, (error?: Error) => void>;
  let begun: number[];

  beforeEach(() => {
    ends = new Map();
    begun = [];
  });

  function work(item: number): Promise<void> {
    begun.push(item);
    return new Promise((resolve, reject) => ends.set(item, (error) => (error ? reject(error) : resolve())));
  }

  async function end(item: number, error?: Error): Promise<void> {
    ends.get(item)!(error);
    await quiet();
  }

  it('processes items in order, up to the given number at a time, and resolves when all have ended', async () => {
    const items = [1, 2, 3, 4];
    const working = sideBySide(items, 2, work);
    await quiet();
    expect(begun).toEqual([1, 2]);
    await end(2);
    expect(begun).toEqual([1, 2, 3]);
    await end(3);
    await end(4);
    expect(begun).toEqual([1, 2, 3, 4]);
    expect(await isOver(working)).toBe(false);
    await end(1);
    expect(await isOver(working)).toBe(true);
    await working;
    expect(items).toEqual([1, 2, 3, 4]);
  });

  it('rejects with a failure only when every item has ended', async () => {
    const failure = new Error('the store is down');
    const failed = sideBySide([1, 2, 3], 2, work).catch((error: unknown) => error);
    await quiet();
    await end(2, failure);
    expect(await isOver(failed)).toBe(false);
    await end(1);
    await end(3);
    expect(await failed).toBe(failure);
  });

  it('resolves at once without items', async () => {
    const working = sideBySide([], 4, work);
    expect(await isOver(working)).toBe(true);
    await working;
    expect(begun).toEqual([]);
  });
});
