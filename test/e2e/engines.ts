import { ENGINES } from '../net/engines.js';
import { inWhole } from '../rigs/extent.js';

/** In the short tests one of them: that they are alike is shown by the contract of stores, and by the scripts of the net. */
export const ENGINES_IN_TURN = Object.entries(ENGINES).filter(([name]) => inWhole(true, name === 'SQLite'));
