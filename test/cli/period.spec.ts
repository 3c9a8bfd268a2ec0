import { periodOf } from '../../lib/cli/period.js';

describe('a period', () => {
  it.each([
    ['2026-11-01', '2026-11-30', undefined, '2026-10-31T21:00:00.000Z', '2026-11-30T21:00:00.000Z'],
    ['2026-11-30', '2026-11-30', 'UTC', '2026-11-30T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
    // The clock goes forward and back in Berlin: a day of 23 hours, and one of 25.
    ['2026-03-29', '2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25', '2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    // It goes forward at midnight in Cairo: the day begins at one o'clock.
    ['2026-04-24', '2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z', '2026-04-24T21:00:00.000Z'],
    // West of Greenwich, too; and in Nuuk it goes forward from 23:00 of the day before to midnight.
    ['2026-03-08', '2026-03-08', 'America/Havana', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
    ['2026-03-29', '2026-03-29', 'America/Nuuk', '2026-03-29T01:00:00.000Z', '2026-03-30T01:00:00.000Z'],
    ['2026-11-01T00:00:00+03:00', '2026-11-01T06:30Z', 'UTC', '2026-10-31T21:00:00.000Z', '2026-11-01T06:30:00.000Z'],
    ['2028-02-29', '2028-02-29', 'UTC', '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ])('from %s to %s in %s is the time from %s until %s', (from, to, zone, first, end) => {
    const period = periodOf({ from, to, ...(zone !== undefined && { zone }) });
    expect([period.from.toISOString(), period.to.toISOString()]).toEqual([first, end]);
  });

  it('shows times in its zone, with their offset', () => {
    const { zone } = periodOf({ from: '2026-11-01', to: '2026-11-30', zone: 'Asia/Kolkata' });
    expect(zone.text(new Date('2026-10-31T21:00:00.123Z'))).toBe('2026-11-01T02:30:00.123+05:30');
    const { zone: newYork } = periodOf({ from: '2026-11-01', to: '2026-11-30', zone: 'America/New_York' });
    // An hour before and after the clock goes back.
    expect(newYork.text(new Date('2026-11-01T05:30:00Z'))).toBe('2026-11-01T01:30:00.000-04:00');
    expect(newYork.text(new Date('2026-11-01T06:30:00Z'))).toBe('2026-11-01T01:30:00.000-05:00');
  });
});
