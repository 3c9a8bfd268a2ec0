import type { Section } from './results.js';

/** A ratio of CPU that was set as a goal, at 64 at once. */
export interface Goal {
  readonly what: string;
  readonly subject: string;
  readonly atMost: number;
  readonly wanted: number | null;
}

export const GOALS: readonly Goal[] = [
  { what: '`doPayment` in memory beside stripe-node', subject: 'memory', atMost: 2.3, wanted: 1.5 },
  { what: '`doPayment` on SQLite beside stripe-node', subject: 'sqlite', atMost: 3.9, wanted: 2.2 },
  { what: 'a callback in memory beside the bare route', subject: 'callback-memory', atMost: 2.5, wanted: 1.8 },
  { what: 'a callback on SQLite beside the bare route', subject: 'callback-sqlite', atMost: 2.5, wanted: 1.8 },
  { what: '`doPayment` in a host with 2,000 DTO classes beside 20', subject: 'host-2000', atMost: 1.05, wanted: null },
  { what: '`init3d` with a page of 64 KiB beside `doPayment`', subject: 'init3d-64k', atMost: 1.5, wanted: null },
];

export const GOAL_AT_ONCE = 64;

/** The ratio as measured; null where it was not. */
export function measuredRatio({ subject }: Goal, sections: readonly Section[]): number | null {
  const rows = sections.filter(({ atOnce }) => atOnce === GOAL_AT_ONCE).flatMap((section) => section.rows);
  return rows.find((row) => row.subject === subject)?.ratio ?? null;
}
