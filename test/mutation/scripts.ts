import { readdirSync } from 'node:fs';
import { ENGINES } from '../e2e/engines.js';
import { playedText, scriptsIn } from '../rigs/played-scripts.js';
import { ScriptedShop } from '../scripts/scripted-shop.js';

const SUITE = new URL('../scripts/scripts.spec.ts', import.meta.url);

/**
 * As in `test/scripts`, in memory, but each script is a test, so that a change is tried by those alone that run it. Last
 * come faults and background work, which a change rather hangs than fails.
 */
describe.each(readdirSync(new URL('expected', SUITE)).reverse())('%s', (file) => {
  it.each(scriptsIn(playedText(SUITE.href, file)))('$title', async (script) => {
    const engine = await ENGINES['memory']!();
    expect(await ScriptedShop.play(script, engine, 'shop')).toBe(script.text.trimEnd());
  });
});
