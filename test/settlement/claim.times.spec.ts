import fc from 'fast-check';
import { auth3dRetryingMs, claimEnd, fitsClaim } from '../../lib/settlement/claim.js';

const NOW = new Date('2026-03-01T09:00:00Z');

describe('the end of a claim', () => {
  it('is half a minute after the deadline, whatever the deadline', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_147_483_647 }), (timeoutMs) => {
        return claimEnd(NOW, timeoutMs).getTime() - NOW.getTime() === timeoutMs + 30_000;
      }),
    );
  });
});

describe('an Auth3d that could not be sent', () => {
  it.each([
    [60_000, 10_000],
    [20_000, 10_000],
    [19_000, 9_500],
    [1_000, 500],
  ])('with a deadline of %d ms is retried for %d ms', (timeoutMs, retryingMs) => {
    expect(auth3dRetryingMs(timeoutMs)).toBe(retryingMs);
  });
});

describe('a request under a claim', () => {
  const [limit, end] = [60_000, claimEnd(NOW, 60_000)];
  const left = end.getTime() - NOW.getTime();
  const at = (ms: number): Date => new Date(NOW.getTime() + ms);

  it('fits if its answer comes by the end of the claim, and not a millisecond later', () => {
    expect(fitsClaim(end, NOW, limit)).toBe(true);
    expect(fitsClaim(end, at(left - limit), limit)).toBe(true);
    expect(fitsClaim(end, at(left - limit + 1), limit)).toBe(false);
  });

  it('never fits without a claim', () => {
    expect(fitsClaim(null, NOW, limit)).toBe(false);
  });
});
