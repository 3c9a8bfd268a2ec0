import { arrow, box, lines, svgFile, widthOf, wrapped } from './svg.js';

/** From one lane to another; `answers` for what comes back. */
interface Message {
  readonly from: string;
  readonly to: string;
  readonly says: string;
  readonly answers?: true;
}

/** What happens in one lane; `state` if a payment is in that state from then on. */
interface Event {
  readonly in: string;
  readonly does: string;
  readonly state?: 'no' | 'yes' | 'perhaps';
}

export type Step = Message | Event;

const WIDTH = 688;
const MARGIN = 10;
const LINE = 16;

/** Who sends what to whom, from top to bottom. */
export function sequence(actors: readonly string[], steps: readonly Step[]): string {
  const lane = (WIDTH - 2 * MARGIN) / actors.length;
  const xOf = (actor: string) => {
    const place = actors.indexOf(actor);
    if (place < 0) throw new Error(`no lane is called ${actor}`);
    return MARGIN + lane * (place + 0.5);
  };
  const heads = actors.map((actor) => wrapped(actor, lane - 28));
  const headHeight = Math.max(...heads.map((rows) => rows.length)) * LINE + 14;
  const parts: string[] = [];
  let y = MARGIN + headHeight + 14;

  for (const step of steps) {
    if ('in' in step) {
      const rows = wrapped(step.does, Math.max(lane + 10, 120));
      const width = Math.max(...rows.map(widthOf)) + 18;
      const height = rows.length * LINE + 8;
      const x = Math.min(Math.max(xOf(step.in) - width / 2, MARGIN), WIDTH - MARGIN - width);
      const kind = step.state ?? 'box';
      const ink = step.state ? `on-${step.state}` : '';
      parts.push(box(x, y, width, height, kind, 6), lines(x + width / 2, y + LINE, rows, ink));
      y += height + 14;
    } else {
      const [from, to] = [xOf(step.from), xOf(step.to)];
      const rows = wrapped(step.says, Math.max(Math.abs(to - from) - 16, 110));
      parts.push(lines((from + to) / 2, y + 12, rows, 'halo'));
      y += rows.length * LINE + 4;
      const end = to + (to > from ? -2 : 2);
      parts.push(
        arrow(
          [
            [from, y],
            [end, y],
          ],
          step.answers ? 'answer' : '',
        ),
      );
      y += 16;
    }
  }

  const bottom = y;
  const lanes = actors.map((actor) => {
    const x = xOf(actor);
    return `<path class="lane" d="M${x} ${MARGIN + headHeight}V${bottom}" />`;
  });
  const tops = actors.map((actor, index) => {
    const rows = heads[index]!;
    const first = MARGIN + headHeight / 2 - (rows.length * LINE) / 2 + 12;
    return [
      box(MARGIN + lane * index + 4, MARGIN, lane - 8, headHeight),
      lines(xOf(actor), first, rows, 'strong'),
    ].join('\n');
  });
  return svgFile(WIDTH, bottom + MARGIN, [...lanes, ...tops, ...parts].join('\n'));
}
