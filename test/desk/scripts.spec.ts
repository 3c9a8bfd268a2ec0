import { expectScripts, itHasNoOtherScripts, type Script } from '../rigs/played-scripts.js';
import { ScriptedDesk } from './scripted-desk.js';

/** Below each step stands what staff see. What forms may send hangs on the adapter, what becomes of them does not. */
const PLAYED = [
  ['express', 'access.txt'],
  ['fastify', 'access.txt'],
  ['fastify', 'payments.txt'],
] as const;

it.each(PLAYED)('a desk on %s shows and does what is in %s', async (platform, file) => {
  const shared = await ScriptedDesk.start(platform);
  const first = new Map<string, string[]>();
  const played = async (script: Script): Promise<string> => {
    const given = script.steps.find((step) => step.startsWith('given '))?.slice('given '.length);
    if (given === undefined) return shared.play(script, first);
    const desk = await ScriptedDesk.start(platform, given);
    return desk.play(script, first).finally(() => desk.close());
  };
  await expectScripts(import.meta.url, file, played).finally(() => shared.close());
});

itHasNoOtherScripts(import.meta.url, ['access.txt', 'payments.txt']);
