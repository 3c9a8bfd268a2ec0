import { printTable } from '../table.js';
import type { Results, Row, Section } from './results.js';
import { sectionsOf } from './results.js';

export function printResults(results: Results): void {
  for (const section of sectionsOf(results)) {
    printTable(`${titleOf(section)}, µs per call`, headsOf(section), section.rows.map(cellsOf));
  }
}

export function titleOf({ title, atOnce }: Section): string {
  return `${title}, ${atOnce} at once`;
}

export function headsOf({ baseline }: Section): string[] {
  return ['subject', 'CPU', 'least', `× ${baseline}`, 'wall', 'least', 'latency: least', 'median', 'p99'];
}

export function cellsOf({ subject, cpu, wall, latency, ratio }: Row): string[] {
  const times = [wall.median, wall.min, latency.min, latency.median, latency.p99];
  return [subject, whole(cpu.median), whole(cpu.min), ratio === null ? '1' : ratio.toFixed(2), ...times.map(whole)];
}

function whole(micros: number): string {
  return micros.toFixed(0);
}
