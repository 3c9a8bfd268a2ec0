import { arrow, box, lines, svgFile, text } from './svg.js';

const WIDTH = 688;
const PLACES = [
  { name: 'Buyer’s browser', holds: ['types the card'] },
  { name: 'Your application', holds: ['in memory, while', 'the request runs'] },
  { name: 'This module', holds: ['in memory; buffers', 'are then zeroed'] },
  { name: 'Gateway', holds: ['by TLS 1.2 or 1.3,', 'sent once'] },
] as const;
const KEPT = ['store', 'log', 'events', 'errors', 'traces', 'metrics'] as const;

/** Where the whole card is, where its masked number is, and where it never is. */
export function cardsWay(): string {
  const step = WIDTH / PLACES.length;
  const [top, height] = [52, 112];
  const places = PLACES.map(({ name, holds }, index) => {
    const x = index * step + 12;
    const middle = x + (step - 24) / 2;
    return [
      box(x, top, step - 24, height),
      text(middle, top + 24, name, 'strong'),
      card(middle - 26, top + 36, 'perhaps', false),
      lines(middle, top + 90, holds, 'small'),
    ].join('\n');
  });
  const ways = PLACES.slice(1).map((_, index) => {
    const x = (index + 1) * step;
    return arrow([
      [x - 12, top + 52],
      [x + 10, top + 52],
    ]);
  });
  const below = top + height;
  const masked = below + 62;
  const width = (WIDTH - 24) / KEPT.length;
  const kept = KEPT.map((name, index) => {
    const x = 12 + index * width;
    return `${box(x + 4, masked, width - 8, 34)}\n${text(x + width / 2, masked + 22, name)}`;
  });
  const own = masked + 96;
  return svgFile(
    WIDTH,
    own + 128,
    [
      text(16, 30, 'Direct and 3D Secure', 'strong', 'start'),
      ...places,
      ...ways,
      arrow([
        [2.5 * step, below],
        [2.5 * step, masked - 4],
      ]),
      card(2.5 * step + 16, below + 18, 'yes', true),
      text(2.5 * step + 76, below + 38, 'at most 450803 … 4509', 'small', 'start'),
      text(2.5 * step - 14, below + 38, 'never the expiry, never the code', 'small', 'end'),
      ...kept,
      `<path class="lane" d="M12 ${own - 26}H${WIDTH - 12}" />`,
      text(16, own + 4, 'The gateway’s own page', 'strong', 'start'),
      box(12, own + 24, step - 24, 84),
      text(step / 2, own + 48, 'Buyer’s browser', 'strong'),
      card(step / 2 - 26, own + 60, 'perhaps', false),
      arrow([
        [step - 12, own + 76],
        [3 * step + 10, own + 76],
      ]),
      text(2 * step, own + 64, 'the card', 'halo'),
      lines(2 * step, own + 98, ['Your application and this module never have it.'], 'halo small'),
      box(3 * step + 12, own + 24, step - 24, 84),
      text(3.5 * step, own + 48, 'Gateway', 'strong'),
      card(3.5 * step - 26, own + 60, 'perhaps', false),
    ].join('\n'),
  );
}

/** A small card: with its number, or with most of it hidden. */
function card(x: number, y: number, kind: 'perhaps' | 'yes', isMasked: boolean): string {
  const ink = `on-${kind} code`;
  return [box(x, y, 52, 32, kind, 5), text(x + 26, y + 21, isMasked ? '6 … 4' : '•••• ••', ink)].join('\n');
}
