import type { Figures, Load } from './figures.js';
import { forkScript, runSubject } from './run-subject.js';
import { Stores } from './stores.js';
import type { Subject } from './subjects.js';

/** A subject, and the folder of the built package where it is this package. */
export interface Contender {
  readonly subject: Subject;
  readonly packageFolder: string;
  /** The name of the build, where several are measured. */
  readonly build?: string;
}

/** What one process measured. */
export interface Run extends Figures {
  readonly subject: string;
  readonly build?: string;
  readonly round: number;
  readonly atOnce: number;
}

export interface Plan {
  readonly contenders: readonly Contender[];
  readonly loads: readonly Load[];
  readonly rounds: number;
}

/**
 * Runs every contender once in each round. Each round begins with another contender and runs in the opposite direction, so
 * that other load on the machine affects all of them.
 */
export async function runRounds({ contenders, loads, rounds }: Plan, onRun: (run: Run) => void): Promise<Run[]> {
  const stores = new Stores();
  const gateway = await forkScript('gateway-process.ts');
  const runs: Run[] = [];
  try {
    const gatewayUrl = await gateway.ask<string>('url');
    for (const load of loads) {
      for (let round = 1; round <= rounds; round += 1) {
        for (const { subject, packageFolder, build } of inTurn(contenders, round)) {
          const store = await stores.empty(subject.store);
          const setup = { gatewayUrl, storeUrl: store.url, packageFolder };
          const figures = await runSubject(subject, setup, load);
          await store.remove();
          const run = { subject: subject.name, build, round, atOnce: load.atOnce, ...figures };
          runs.push(run);
          onRun(run);
        }
      }
    }
  } finally {
    await gateway.end();
    await stores.close();
  }
  return runs;
}

function inTurn<T>(items: readonly T[], round: number): T[] {
  const first = round % items.length;
  const turned = [...items.slice(first), ...items.slice(0, first)];
  return round % 2 === 0 ? turned.reverse() : turned;
}
