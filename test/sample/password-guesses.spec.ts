import { jest } from '@jest/globals';
import { PasswordGuesses } from '../../sample/src/staff/password-guesses.js';

const AN_HOUR_MS = 3_600_000;
const OWNER = '192.0.2.1';

describe('PasswordGuesses', () => {
  let guesses: PasswordGuesses;
  let now: number;

  beforeEach(() => {
    guesses = new PasswordGuesses();
    now = 5000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });

  /** How many guesses were compared. */
  function guess(count: number, addressOf: (index: number) => string): number {
    let compared = 0;
    for (let index = 0; index < count; index += 1) {
      if (guesses.waitOf(addressOf(index)) > 0) continue;
      guesses.countWrong(addressOf(index));
      compared += 1;
    }
    return compared;
  }

  const eachFromElsewhere = (index: number): string => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;

  it('lets an address guess 20 times an hour; tries during the wait neither help nor prolong it', () => {
    expect(guess(1000, () => OWNER)).toBe(20);
    expect(guesses.waitOf(OWNER)).toBe(AN_HOUR_MS);
    expect(guesses.waitOf('192.0.2.2')).toBe(0);
    now += AN_HOUR_MS - 1;
    expect(guess(1000, () => OWNER)).toBe(0);
    expect(guesses.waitOf(OWNER)).toBe(1);
    now += 1;
    expect(guess(1000, () => OWNER)).toBe(20);
  });

  it('lets all addresses together guess 200 times an hour', () => {
    expect(guess(5000, eachFromElsewhere)).toBe(200);
    expect(guesses.waitOf(OWNER)).toBe(AN_HOUR_MS);
    now += AN_HOUR_MS;
    expect(guesses.waitOf(OWNER)).toBe(0);
    expect(guess(5000, eachFromElsewhere)).toBe(200);
  });

  it('lets an address that has given the right password in during an attack', () => {
    guesses.remember(OWNER);
    for (let hour = 0; hour < 48; hour += 1, now += AN_HOUR_MS) {
      guess(1000, eachFromElsewhere);
      expect(guesses.waitOf(OWNER)).toBe(0);
    }
    expect(guess(1000, () => OWNER)).toBe(20);
  });

  it('gives an address no further guesses for a right password', () => {
    expect(guess(19, () => OWNER)).toBe(19);
    guesses.remember(OWNER);
    expect(guess(1000, () => OWNER)).toBe(1);
  });

  it.each([
    ['2001:db8::1', '2001:db8:0:0:ffff::2', true],
    ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['1:2:3:4:5:6::', '1:2:3:4::', true],
    ['::ffff:192.0.2.7', '192.0.2.7', true],
    ['::ffff:192.0.2.7', '::ffff:192.0.2.8', false],
  ])('counts %s and %s together: %s', (one, other, together) => {
    expect(guess(20, () => one)).toBe(20);
    expect(guesses.waitOf(other) > 0).toBe(together);
  });
});
