import { FILE_STYLES } from './palette.js';

/** About as wide as the text is in most fonts. */
const CHARACTER_WIDTH = 6.9;

export function svgFile(width: number, height: number, content: string): string {
  const size = `width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="diagram" ${size}>
<style>
${FILE_STYLES}
</style>
<rect class="paper" width="100%" height="100%" rx="8" />
${content}
</svg>
`;
}

export function text(x: number, y: number, words: string, kind = '', anchor: 'start' | 'middle' | 'end' = 'middle') {
  const kinds = kind && ` class="${kind}"`;
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}"${kinds}>${escaped(words)}</text>`;
}

/** Lines of text, the first at `y`. */
export function lines(
  x: number,
  y: number,
  rows: readonly string[],
  kind = '',
  anchor: 'start' | 'middle' | 'end' = 'middle',
): string {
  return rows.map((row, index) => text(x, y + index * 16, row, kind, anchor)).join('\n');
}

export function box(x: number, y: number, width: number, height: number, kind = 'box', radius = 8): string {
  const [left, top, w, h] = [x, y, width, height].map(round);
  return `<rect x="${left}" y="${top}" width="${w}" height="${h}" rx="${radius}" class="${kind}" />`;
}

/** An arrow along straight pieces; its head is at the last point. */
export function arrow(points: readonly (readonly [number, number])[], kind = ''): string {
  const [[fromX, fromY], [x, y]] = points.slice(-2) as [readonly [number, number], readonly [number, number]];
  const angle = (Math.atan2(y - fromY, x - fromX) * 180) / Math.PI;
  const path = points.map(([px, py]) => `${round(px)} ${round(py)}`).join(' L');
  return `<path class="arrow ${kind}" d="M${path}" /><path class="head" d="M0 0-9-4.5v9z" transform="translate(${round(x)} ${round(y)}) rotate(${round(angle)})" />`;
}

/** Words in lines of at most so many pixels. */
export function wrapped(words: string, width: number): string[] {
  const rows: string[] = [];
  for (const word of words.split(' ')) {
    const longer = rows.length > 0 ? `${rows.at(-1)} ${word}` : word;
    if (rows.length > 0 && widthOf(longer) <= width) rows[rows.length - 1] = longer;
    else rows.push(word);
  }
  return rows;
}

export function widthOf(words: string): number {
  return words.length * CHARACTER_WIDTH;
}

export function escaped(words: string): string {
  return words.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
