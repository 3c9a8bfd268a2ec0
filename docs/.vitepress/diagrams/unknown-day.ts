import { nextInquiry } from '../../../lib/settlement/outcomes.js';
import type { Randomness } from '../../../lib/runtime/randomness.js';
import { arrow, box, lines, round, svgFile, text } from './svg.js';

const WIDTH = 688;
const [LEFT, RIGHT, AXIS] = [74, WIDTH - 40, 132];
const DAY_S = 86_400;
/** The first moment that has a place on the axis. */
const FIRST_S = 6;
const MARKS = { '15 s': 15, '1 min': 60, '10 min': 600, '1 h': 3600, '4 h': 4 * 3600, '1 day': DAY_S } as const;

/** What the module does in the day after a payment has become `unknown`, with the times that the code computes. */
export function unknownDay(): string {
  const asked = inquiries();
  const marks = Object.entries(MARKS).map(([name, seconds]) => {
    const x = xOf(seconds);
    return `<path class="lane" d="M${x} ${AXIS + 9}v6" />\n${text(x, AXIS + 31, name, 'small')}`;
  });
  const dots = asked.map((seconds) => `<circle class="brand" cx="${xOf(seconds)}" cy="${AXIS}" r="6.5" />`);
  const hour = xOf(3600);
  const foot = AXIS + 62;
  const half = (WIDTH - 40) / 2;
  return svgFile(
    WIDTH,
    foot + 148,
    [
      box(12, AXIS - 92, 118, 58, 'perhaps'),
      lines(71, AXIS - 68, ['the answer is', 'lost: unknown'], 'on-perhaps'),
      `<path class="brand-line" d="M${LEFT} ${AXIS - 34}V${AXIS}H${RIGHT}" />`,
      ...dots,
      ...marks,
      lines(
        150,
        AXIS - 74,
        [
          `It asks the gateway: ${asked.length} times in the first day,`,
          'each wait twice as long as the one before, at most four hours.',
        ],
        '',
        'start',
      ),
      arrow([
        [hour, AXIS - 26],
        [hour, AXIS - 10],
      ]),
      text(hour, AXIS - 32, 'an alert, after an hour', 'small'),
      text(LEFT - 22, AXIS + 4, '0', 'small'),
      arrow([
        [half / 2 + 14, AXIS + 44],
        [half / 2 + 14, foot],
      ]),
      arrow([
        [half * 1.5 + 26, AXIS + 44],
        [half * 1.5 + 26, foot],
      ]),
      box(14, foot + 4, half, 84, 'yes'),
      text(half / 2 + 14, foot + 28, 'The gateway knows', 'strong on-yes'),
      lines(
        half / 2 + 14,
        foot + 50,
        ['succeeded, failed or review, stored with', 'its event; @OnPayment is called'],
        'on-yes',
      ),
      box(half + 26, foot + 4, half, 84, 'no'),
      text(half * 1.5 + 26, foot + 28, 'A person knows', 'strong on-no'),
      lines(half * 1.5 + 26, foot + 50, ['resolve, with a note, after a look', 'at the gateway’s panel'], 'on-no'),
      lines(
        WIDTH / 2,
        foot + 114,
        ['Time alone ends nothing: it stays unknown, its order stays taken, and nothing is charged again.'],
        'small',
      ),
    ].join('\n'),
  );
}

/** Seconds from the beginning, without the fifth by which each wait varies. */
function inquiries(): number[] {
  const onAverage = { fraction: () => 0.5 } as Randomness;
  const times: number[] = [];
  for (let at = nextInquiry(new Date(0), 0, onAverage); at.getTime() <= DAY_S * 1000;) {
    times.push(at.getTime() / 1000);
    at = nextInquiry(at, times.length, onAverage);
  }
  return times;
}

/** The axis is logarithmic, since the first minute matters as much as the last hours. */
function xOf(seconds: number): number {
  const share = Math.log(seconds / FIRST_S) / Math.log(DAY_S / FIRST_S);
  return round(LEFT + share * (RIGHT - LEFT));
}
