import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { printTable } from '../table.js';
import { type Results, type Row, type Section, sectionsOf } from './results.js';
import { GOAL_AT_ONCE } from './subjects.js';

const PAGE = 'docs/internals/performance.md';
/** What stands between these in the page is written by `--write`. */
const FIGURES = /(<!-- figures -->)[^]*(<!-- end of the figures -->)/;

export function printResults(results: Results): void {
  for (const section of sectionsOf(results)) {
    printTable(`${titleOf(section)}, µs per call`, headsOf(section), rowsOf(section));
  }
}

export async function writePage(results: Results): Promise<void> {
  writeFileSync(PAGE, await pageWith(results, readFileSync(PAGE, 'utf8')));
}

/** The page with the tables of these results, as prettier formats it. */
export async function pageWith(results: Results, page: string): Promise<string> {
  const { at, commit, machine, rounds } = results;
  const tables = sectionsOf(results).map((section) => `### ${titleOf(section)}\n\n${markdownTable(section)}`);
  const origin = `Measured on ${at.slice(0, 10)}${commit === null ? '' : ` at ${commit}`}, ${rounds} rounds, Node
    ${machine.node}, ${machine.platform}, ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB.`;
  const figures = [...tables, origin.replace(/\s+/g, ' ')].join('\n\n');
  const text = page.replace(FIGURES, (_all, begin, end) => `${begin}\n\n${figures}\n\n${end}`);
  return format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' });
}

function titleOf({ title, atOnce }: Section): string {
  return `${title}, ${atOnce} at once`;
}

function headsOf({ baseline }: Section): string[] {
  return ['subject', 'CPU', 'least', `× ${baseline}`, 'least', 'goal', 'wall', 'latency', 'p99'];
}

function rowsOf({ atOnce, rows }: Section): string[][] {
  return rows.map(({ subject, cpu, ratio, goal, wall, latency, p99 }: Row) => [
    subject,
    ...[cpu.median, cpu.min].map(whole),
    ...(ratio === null ? ['1', '1'] : [ratio.median.toFixed(2), ratio.min.toFixed(2)]),
    atOnce === GOAL_AT_ONCE && goal !== undefined ? String(goal) : '',
    ...[wall, latency, p99].map(whole),
  ]);
}

/** The page has the columns that depend least on the machine, and the slowest hundredth of the calls. */
function markdownTable(section: Section): string {
  const isOnPage = headsOf(section).map((head, column) => column < 2 || head.startsWith('×') || head === 'p99');
  const heads = headsOf(section).filter((_head, column) => isOnPage[column]);
  const rule = heads.map((_head, column) => (column === 0 ? '---' : '--:'));
  const rows = rowsOf(section).map((cells) => cells.filter((_cell, column) => isOnPage[column]));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function whole(micros: number): string {
  return micros.toFixed(0);
}
