import { MORPOS } from './morpos.dialect.js';
import type { SimulatedDialect } from './simulated-dialect.js';
import { STANDARD } from './standard.dialect.js';

/** Every dialect that the simulator speaks: the contract alone, or with what public sources add for MorPOS. */
export const SIMULATED_DIALECTS = {
  morpos: MORPOS,
  standard: STANDARD,
} satisfies Readonly<Record<string, SimulatedDialect>>;

/** How the gateway speaks: the contract alone, or with what public sources add for MorPOS. */
export type SimulatorDialect = keyof typeof SIMULATED_DIALECTS;

export function isSimulatorDialect(name: string): name is SimulatorDialect {
  return Object.hasOwn(SIMULATED_DIALECTS, name);
}
