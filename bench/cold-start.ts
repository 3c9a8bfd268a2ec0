import { fork } from 'node:child_process';
import { once } from 'node:events';
import { median, printTable } from './table.js';

const ROUNDS = 11;
const SYSTEMS = ['esm', 'cjs'] as const;
/** The peers alone; with undici, which is a dependency of the package; with the package, its store in memory. */
const KINDS = ['empty', 'undici', 'module'] as const;
const APP = new URL('cold-start/app.cjs', import.meta.url);

interface Start {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** What the module adds to the start of an application with the same peers; each start is in a new process. */
export async function benchColdStart(): Promise<void> {
  const starts = new Map<string, Start[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const system of SYSTEMS) {
      for (const kind of KINDS) {
        const app = fork(APP, [kind, system], { execArgv: [] });
        const [start] = (await once(app, 'message')) as [Start];
        await once(app, 'exit');
        const key = `${system} ${kind}`;
        starts.set(key, [...(starts.get(key) ?? []), start]);
      }
    }
  }
  const rows = SYSTEMS.flatMap((system) => {
    const of = (kind: string, what: keyof Start) => starts.get(`${system} ${kind}`)!.map((start) => start[what]);
    return KINDS.map((kind) => [
      system,
      kind,
      ...(['cpuMs', 'wallMs'] as const).flatMap((what) => {
        const [values, base] = [of(kind, what), of('empty', what)];
        const over = median(values) - median(base);
        return [Math.min(...values).toFixed(0), median(values).toFixed(0), over.toFixed(0)];
      }),
    ]);
  });
  printTable(
    'Cold start of a Nest application on Express, ms',
    ['', '', 'CPU, least', 'median', 'over empty', 'wall, least', 'median', 'over empty'],
    rows,
  );
}
