import fc from 'fast-check';
import { AUTH3D_RETRY_MS, AUTH3D_TRIES, claimEnd, fitsClaim, nextInquiry } from '../../lib/flows/schedule.js';
import { SystemRandomness } from '../../lib/payment/randomness.js';

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

describe('the end of a claim', () => {
  it('is later than all tries made under it can take, whatever the deadline', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_147_483_647 }), (timeoutMs) => {
        const longest = AUTH3D_TRIES * timeoutMs + (AUTH3D_TRIES - 1) * AUTH3D_RETRY_MS;
        return claimEnd(NOW, timeoutMs).getTime() - NOW.getTime() >= longest + 30_000;
      }),
    );
  });

  it('is three and a half minutes ahead where the deadline is a minute', () => {
    expect(claimEnd(NOW, 60_000)).toEqual(new Date('2026-03-01T09:03:36Z'));
  });
});

describe('a request under a claim', () => {
  const [limit, end] = [60_000, claimEnd(NOW, 60_000)];
  const left = end.getTime() - NOW.getTime();
  const at = (ms: number): Date => new Date(NOW.getTime() + ms);

  it('fits when its answer comes before the claim ends, and not a millisecond later', () => {
    expect(fitsClaim(end, NOW, limit)).toBe(true);
    expect(fitsClaim(end, at(left - limit), limit)).toBe(true);
    expect(fitsClaim(end, at(left - limit + 1), limit)).toBe(false);
  });

  it('never fits where there is no claim', () => {
    expect(fitsClaim(null, NOW, limit)).toBe(false);
  });
});
