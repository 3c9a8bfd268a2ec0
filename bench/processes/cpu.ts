import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of a clock tick in /proc. */
const TICK_MS = 10;

interface ProcessTimes {
  readonly parent: number;
  readonly ownMs: number;
  /** Of children that have ended. */
  readonly childrenMs: number;
}

/** The CPU time of a process so far, in milliseconds. */
export function cpuOf(pid: number): number {
  return timesOf(pid)!.ownMs;
}

/** The same for a process with its children, running or ended, as a PostgreSQL server has them. */
export function cpuOfFamily(pid: number): number {
  const { ownMs, childrenMs } = timesOf(pid)!;
  const living = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => timesOf(Number(name)))
    .filter((times) => times?.parent === pid);
  return living.reduce((sum, times) => sum + times!.ownMs, ownMs + childrenMs);
}

export function parentOf(pid: number): number {
  return timesOf(pid)!.parent;
}

/** The CPU time that the whole machine has used, and the time that was available, in milliseconds. */
export function cpuOfMachine(): { readonly busyMs: number; readonly allMs: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const all = ticks.reduce((sum, one) => sum + one, 0);
  const [, , , idle = 0, waiting = 0] = ticks;
  return { busyMs: (all - idle - waiting) * TICK_MS, allMs: all * TICK_MS };
}

/** @returns undefined when it has ended */
function timesOf(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold spaces.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
    return { parent: fields[1]!, ownMs: (utime + stime) * TICK_MS, childrenMs: (cutime + cstime) * TICK_MS };
  } catch {
    return undefined;
  }
}
