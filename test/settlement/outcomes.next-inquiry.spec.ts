import fc from 'fast-check';
import { nextInquiry } from '../../lib/settlement/outcomes.js';
import { SystemRandomness } from '../../lib/runtime/randomness.js';

const NOW = new Date('2026-03-01T09:00:00Z');

function delaySeconds(inquiries: number, random: number): number {
  return (
    (nextInquiry(NOW, inquiries, { bytes: () => Buffer.alloc(0), fraction: () => random }).getTime() - NOW.getTime()) /
    1_000
  );
}

describe('the next inquiry', () => {
  it('is made after 15 seconds, then after twice as long each time, up to four hours', () => {
    expect([0, 1, 2, 3, 9, 10, 20, 1_000].map((inquiries) => delaySeconds(inquiries, 0.5))).toEqual([
      15, 30, 60, 120, 7_680, 14_400, 14_400, 14_400,
    ]);
  });

  it('is made up to a fifth earlier or later at random', () => {
    expect(delaySeconds(0, 0)).toBe(12);
    expect(delaySeconds(0, 1)).toBe(18);
  });

  it('is always in the future, and never by more than five hours', () => {
    fc.assert(
      fc.property(fc.nat(), (inquiries) => {
        const delayMs = nextInquiry(NOW, inquiries, new SystemRandomness()).getTime() - NOW.getTime();
        return delayMs >= 12_000 && delayMs <= 5 * 3_600_000;
      }),
    );
  });
});
