import { compare } from './comparison.js';
import { type Crash, CrashTrial } from './crash-trial.js';
import { sqliteStore } from './sqlite-store.js';

// The negative control: were these not found, the zeros of the other suites would prove nothing.
describe('of processes that are killed, the comparison finds', () => {
  const UNWRITTEN = 'acknowledges before it writes';
  const CRASHES: Crash[] = [
    { flow: 'direct', point: 'after the reply' },
    { flow: 'direct', point: 'after the reply', fault: UNWRITTEN },
    { flow: 'auth3d', point: 'before the reply', fault: UNWRITTEN },
    { flow: 'direct', point: 'after the opening write', fault: 'writes the outcome before it is known' },
    { flow: 'direct', point: 'before the handler', fault: 'forgets an event before its handler is called' },
  ];

  it('what was charged twice, lost and invented, which events were lost, and nothing else', async () => {
    const trial = await CrashTrial.on(sqliteStore());
    try {
      const [, opening, claim, early, event] = (await trial.crash(CRASHES)).map(({ sale }) => sale);
      expect((await trial.comeAfter()).code).toBe(0);
      const { chargedTwice, lost, invented, lostEvents } = compare(await trial.books());
      expect(chargedTwice).toEqual([opening!.reference, `repeated-call Auth3d ${claim!.conversationId}`]);
      expect(new Set(lost)).toEqual(new Set([opening!.conversationId, claim!.conversationId]));
      expect(invented).toEqual([early!.conversationId]);
      expect(lostEvents).toEqual([
        expect.stringMatching(`^${early!.conversationId}:1-`),
        expect.stringMatching(`^${event!.conversationId}:2-`),
      ]);
    } finally {
      await trial.end();
    }
  });
});
