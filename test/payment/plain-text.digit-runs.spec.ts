import { digitRuns } from '../../lib/payment/plain-text.js';

/** The digits of each run, followed by an asterisk if the run is masked. */
const runs = (text: string): string[] => digitRuns(text).map(({ digits, isMasked }) => digits + (isMasked ? '*' : ''));

describe('the digits of a text', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['no digits here, x or *', []],
    ['17', ['17']],
    ['17 and 18', ['17', '18']],
    ['4508 0345-0803.4509', ['4508034508034509']],
    ['4\n5\t0', ['450']],
    ['12a34', ['1234']],
    ['1a2b3c4', ['1234']],
    ['1 a 2', ['12']],
    ['12ab34', ['12', '34']],
    ['12 a b 34', ['12', '34']],
    ['ab12', ['12']],
    ['12ş34ğü56', ['1234', '56']],
    ['１２٣٤', ['１２٣٤']],
    ['𝟓𝟐', ['𝟓𝟐']],
  ])('belong together across all but words: %p', (text, expected) => expect(runs(text)).toEqual(expected));

  it.each<[string, string[]]>([
    ['4508***4509', ['45084509*']],
    ['4508**4509', ['45084509']],
    ['45*08*45*09', ['45084509']],
    ['4508 * * * 4509', ['45084509*']],
    ['4508xXx4509', ['45084509*']],
    ['4508•●#4509', ['45084509*']],
    ['4508xx4509', ['45084509']],
    ['***4509', ['4509']],
    ['4508***', ['4508']],
    ['4508***45 09', ['45084509*']],
    ['4508***4509ab12', ['45084509*', '12']],
    ['4508***ab12', ['4508', '12']],
    ['12ab4508***4509', ['12', '45084509*']],
  ])('are masked where three signs or more stand between them: %p', (text, expected) =>
    expect(runs(text)).toEqual(expected),
  );

  it('are told with their places, and what stands between', () => {
    expect(digitRuns('No 4 5a0, and 1𝟓2!')).toEqual([
      { digits: '450', places: [3, 5, 7], text: '4 5a0', isMasked: false, isOpen: false },
      { digits: '1𝟓2', places: [14, 15, 17], text: '1𝟓2', isMasked: false, isOpen: true },
    ]);
  });

  it('may go on behind the text, unless a word ends them', () => {
    const isOpen = (text: string): boolean[] => digitRuns(text).map((run) => run.isOpen);
    expect(isOpen('12')).toEqual([true]);
    expect(isOpen('12 - ')).toEqual([true]);
    expect(isOpen('12 a')).toEqual([true]);
    expect(isOpen('12 ab')).toEqual([false]);
    expect(isOpen('12 ab 34')).toEqual([false, true]);
  });
});
