import { type Engine, ENGINES } from '../e2e/engines.js';
import { inWhole } from '../rigs/extent.js';
import { expectScripts, itHasNoOtherScripts } from '../rigs/played-scripts.js';
import { ScriptedShop } from './scripted-shop.js';

/** Below each step stands what a user of the package sees, which is the same on every engine. */
const FILES = ['direct.txt', 'three-d.txt', 'hosted.txt', 'refunds.txt', 'handlers.txt'];
/** In memory alone: timers run while the store fails, or there are hundreds of passes. */
const IN_MEMORY = ['faults.txt', 'background.txt'];

/** In the short tests two engines: that all are alike is shown by the contract of stores. */
const STARTS = Object.entries(ENGINES).filter(([name]) => inWhole(true, name === 'memory' || name === 'SQLite'));

describe.each(STARTS)('on %s', (name, start) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await start();
  });
  afterAll(() => engine.stop());

  it.each([...FILES, ...(name === 'memory' ? IN_MEMORY : [])])(
    'scripted payments and refunds come out as in %s',
    (file) => expectScripts(import.meta.url, file, (script, account) => ScriptedShop.play(script, engine, account)),
    120_000,
  );
});

itHasNoOtherScripts(import.meta.url, [...FILES, ...IN_MEMORY]);
