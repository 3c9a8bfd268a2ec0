import { Logger } from '@nestjs/common';
import { type Run, World } from './world.js';

const ONE = process.env.SEED;
const SEEDS = Number(process.env.SEEDS ?? 1_000);

beforeAll(() => {
  Logger.overrideLogger(false);
});

it('x', async () => {
  const t0 = Date.now();
  const counts = new Map<string, number[]>();
  let lines = 0;
  for (let seed = ONE ? Number(ONE) : 1; seed <= (ONE ? Number(ONE) : SEEDS); seed += 1) {
    const run: Run = await new World(seed).run();
    lines += run.trace.length;
    if (ONE) process.stdout.write(run.trace.join('\n') + '\n');
    for (const b of run.broken) {
      const k = b.replace(/PAY\d+|order-\d|key-\d+|[A-Z]\d+\/v\d|\d+/g, '#');
      counts.set(k, [...(counts.get(k) ?? []), seed]);
    }
  }
  process.stdout.write(`${Date.now() - t0} ms, ${lines} lines\n`);
  for (const [k, s] of counts) process.stdout.write(`${s.length} ${k} ${s.slice(0, 6)}\n`);
}, 3_000_000);
