import 'reflect-metadata';
import { benchClaims } from './claims.js';
import { benchCost } from './cost.js';
import { benchMemory } from './memory.js';
import { benchProcesses } from './processes.js';
import { benchReconciler } from './reconciler.js';
import { benchScale } from './scale.js';

const BENCHES = {
  claims: benchClaims,
  cost: benchCost,
  memory: benchMemory,
  processes: benchProcesses,
  reconciler: benchReconciler,
  scale: benchScale,
};

const asked = process.argv.slice(2);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.length === 0 || asked.includes(name)) await bench();
}
