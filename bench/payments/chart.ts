import { type Results, type Row, type Section, sectionsOf } from './results.js';
import { subjectNamed } from './subjects.js';

const WIDTH = 820;
const LABELS = 170;
const FIGURES = 200;
const ROW = 26;
const BAR = 16;
const HEAD = 44;

/** Horizontal bars of the CPU per call, at the greatest number at once; readable on light and dark pages. */
export function chartOf(results: Results): string {
  const most = Math.max(...results.loads.map(({ atOnce }) => atOnce));
  const sections = sectionsOf(results).filter(({ atOnce }) => atOnce === most);
  const longest = Math.max(...sections.flatMap(({ rows }) => rows.map(({ cpu }) => cpu.median)));
  const parts: string[] = [];
  let top = 0;
  for (const section of sections) {
    parts.push(...sectionBars(section, top, (WIDTH - LABELS - FIGURES) / longest));
    top += HEAD + section.rows.length * ROW;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top + 12}" role="img" aria-labelledby="title">
<title id="title">CPU a call in microseconds, ${most} at once: shorter is cheaper</title>
<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .head { font-weight: 600 }
  .other { fill: #8c959f }
  .own { fill: #0969da }
  @media (prefers-color-scheme: dark) { text { fill: #d1d7e0 } .other { fill: #768390 } .own { fill: #539bf5 } }
</style>
${parts.join('\n')}
</svg>
`;
}

function sectionBars({ title, atOnce, baseline, rows }: Section, top: number, scale: number): string[] {
  const head = `<text class="head" x="0" y="${top + 26}">${title}, ${atOnce} at once: CPU µs a call</text>`;
  return [head, ...rows.flatMap((row, index) => bar(row, baseline, top + HEAD + index * ROW, scale))];
}

function bar({ subject, cpu, ratio }: Row, baseline: string, top: number, scale: number): string[] {
  const [length, middle] = [Math.max(1, Math.round(cpu.median * scale)), top + 13];
  const kind = subjectNamed(subject).store ? 'own' : 'other';
  const beside = ratio === null ? '' : ` (${ratio.toFixed(2)} × ${baseline})`;
  return [
    `<text x="${LABELS - 8}" y="${middle}" text-anchor="end">${subject}</text>`,
    `<rect class="${kind}" x="${LABELS}" y="${top}" width="${length}" height="${BAR}" rx="2"/>`,
    `<text x="${LABELS + length + 8}" y="${middle}">${cpu.median.toFixed(0)}${beside}</text>`,
  ];
}
