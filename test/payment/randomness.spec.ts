import { randomBytes } from '../../lib/payment/randomness.js';

describe('random bytes', () => {
  it('are as many as were asked for, each lot of its own', () => {
    const lots = Array.from({ length: 2_000 }, (_, index) => randomBytes(1 + (index % 32)));
    lots.forEach((lot, index) => expect(lot).toHaveLength(1 + (index % 32)));
    const long = lots.filter(({ length }) => length >= 16).map((lot) => lot.toString('hex'));
    expect(new Set(long).size).toBe(long.length);
  });

  it('are spread over all values', () => {
    const counts = new Array<number>(256).fill(0);
    for (let lot = 0; lot < 1_000; lot += 1) for (const byte of randomBytes(100)) counts[byte]! += 1;
    // 100,000 bytes: about 391 each, with a standard deviation of 20.
    expect(Math.min(...counts)).toBeGreaterThan(230);
    expect(Math.max(...counts)).toBeLessThan(560);
  });

  it('stay what they are when more are drawn', () => {
    const [first] = [randomBytes(16)];
    const before = first.toString('hex');
    for (let lot = 0; lot < 1_000; lot += 1) randomBytes(16);
    expect(first.toString('hex')).toBe(before);
  });

  it('are refused in lots that no pool holds', () => {
    expect(() => randomBytes(5_000)).toThrow('at most');
  });
});
