import { pooledBytes } from '../../lib/runtime/randomness.js';

describe('random bytes', () => {
  it('are as many as were asked for, given out once, and stay what they are', () => {
    const lots = Array.from({ length: 2_000 }, (_, index) => pooledBytes(index === 999 ? 5_000 : 1 + (index % 32)));
    lots.forEach((lot, index) => expect(lot).toHaveLength(index === 999 ? 5_000 : 1 + (index % 32)));
    const long = lots.filter(({ length }) => length >= 16).map((lot) => lot.toString('hex'));
    expect(new Set(long).size).toBe(long.length);
  });

  it('are spread over all values', () => {
    const counts = new Array<number>(256).fill(0);
    for (let lot = 0; lot < 1_000; lot += 1) for (const byte of pooledBytes(100)) counts[byte]! += 1;
    // 100,000 bytes: about 391 each, with a standard deviation of 20.
    expect(Math.min(...counts)).toBeGreaterThan(230);
    expect(Math.max(...counts)).toBeLessThan(560);
  });
});
