import 'reflect-metadata';
import { benchClaims } from './claims.js';
import { benchColdStart } from './cold-start.js';
import { benchInFlight } from './in-flight.js';
import { benchMemory } from './memory.js';
import { benchReconciler } from './reconciler.js';

const BENCHES = {
  claims: benchClaims,
  'cold-start': benchColdStart,
  'in-flight': benchInFlight,
  memory: benchMemory,
  reconciler: benchReconciler,
};

const asked = process.argv.slice(2);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.length === 0 || asked.includes(name)) await bench();
}
