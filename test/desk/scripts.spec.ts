import { PLATFORMS } from '../e2e/merchant.js';
import { expectScripts, itHasNoOtherScripts, type Script } from '../rigs/played-scripts.js';
import { ScriptedDesk } from './scripted-desk.js';

/** Below each step stands what staff see. */
const FILES = ['payments.txt', 'access.txt'];

describe.each(PLATFORMS)('a desk on %s', (platform) => {
  let shared: ScriptedDesk;
  beforeAll(async () => {
    shared = await ScriptedDesk.start(platform);
  });
  afterAll(() => shared.close());

  async function played(script: Script, first: Map<string, string[]>): Promise<string> {
    const given = script.steps.find((step) => step.startsWith('given '))?.slice('given '.length);
    if (given === undefined) return shared.play(script, first);
    const desk = await ScriptedDesk.start(platform, given);
    return desk.play(script, first).finally(() => desk.close());
  }

  it.each(FILES)('shows and does what is in %s', async (file) => {
    const first = new Map<string, string[]>();
    await expectScripts(import.meta.url, file, (script) => played(script, first));
  });
});

itHasNoOtherScripts(import.meta.url, FILES);
