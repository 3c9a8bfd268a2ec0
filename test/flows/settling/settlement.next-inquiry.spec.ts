import fc from 'fast-check';
import { nextInquiry } from '../../../lib/flows/settling/settlement.js';
import { SystemRandomness } from '../../../lib/payment/randomness.js';

const NOW = new Date('2026-03-01T09:00:00Z');

function waits(inquiries: number, random: number): number {
  return (
    (nextInquiry(NOW, inquiries, { bytes: () => Buffer.alloc(0), fraction: () => random }).getTime() - NOW.getTime()) /
    1_000
  );
}

describe('the next inquiry', () => {
  it('comes after 15 seconds, then twice as late each time, up to four hours', () => {
    expect([0, 1, 2, 3, 9, 10, 20, 1_000].map((inquiries) => waits(inquiries, 0.5))).toEqual([
      15, 30, 60, 120, 7_680, 14_400, 14_400, 14_400,
    ]);
  });

  it('comes a fifth sooner or later by chance', () => {
    expect(waits(0, 0)).toBe(12);
    expect(waits(0, 1)).toBe(18);
  });

  it('is always ahead, and never further than five hours', () => {
    fc.assert(
      fc.property(fc.nat(), (inquiries) => {
        const wait = nextInquiry(NOW, inquiries, new SystemRandomness()).getTime() - NOW.getTime();
        return wait >= 12_000 && wait <= 5 * 3_600_000;
      }),
    );
  });
});
