import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { runSoak } from './soak.js';
import { STORE_NAMES, type StoreName } from './shared-store.js';

const USAGE = `Usage: npm run soak -- [MINUTES] [--store ${STORE_NAMES.join('|')}] [--seed NUMBER]\n`;
const DEFAULT_MINUTES = 10;
/** Start, healing, end and comparison on top. */
const MAX_EXTRA_MS = 15 * 60_000;

const began = performance.now();

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function log(line: string): void {
  print(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { store: { type: 'string', default: 'postgres' }, seed: { type: 'string' } },
});
const minutes = Number(positionals[0] ?? DEFAULT_MINUTES);
const store = STORE_NAMES.find((name) => name === values.store);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
if (positionals.length > 1 || !(minutes > 0) || !store || !Number.isSafeInteger(seed)) {
  process.stderr.write(USAGE);
  process.exit(2);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
process.on('disconnect', () => process.exit(1));
process.channel?.unref();
setTimeout(
  () => {
    process.stderr.write('The soak did not end in time.\n');
    process.exit(1);
  },
  minutes * 60_000 + MAX_EXTRA_MS,
).unref();

print(`${minutes} minutes on ${store satisfies StoreName}, seed ${seed}`);
const { summary, differences } = await runSoak({ minutes, store, seed, log });
print([...summary, `differences ${differences.length}`, ...differences.map((line) => `  ${line}`)].join('\n'));
process.exitCode = differences.length === 0 ? 0 : 1;
