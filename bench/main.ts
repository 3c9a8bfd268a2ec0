import 'reflect-metadata';
import { benchClaims } from './claims.js';
import { benchMemory } from './memory.js';
import { benchReconciler } from './reconciler.js';
import { benchScale } from './scale.js';

const BENCHES = { claims: benchClaims, memory: benchMemory, reconciler: benchReconciler, scale: benchScale };

const asked = process.argv.slice(2);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.length === 0 || asked.includes(name)) await bench();
}
