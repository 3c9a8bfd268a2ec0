import { CoalescedWork } from '../../lib/runtime/coalesced-work.js';

describe('CoalescedWork', () => {
  const ends: (() => void)[] = [];
  let work: CoalescedWork;

  beforeEach(() => {
    ends.length = 0;
    work = new CoalescedWork(() => new Promise((end) => ends.push(end)));
  });

  /** Says when they resolve, in order. */
  function noted(calls: Record<string, Promise<void>>): string[] {
    const seen: string[] = [];
    for (const [name, call] of Object.entries(calls)) void call.then(() => seen.push(name));
    return seen;
  }
  const turn = () => new Promise((go) => setImmediate(go));

  it('gives those who ask before a run has begun the same run, and the others the next one', async () => {
    const early = { one: work.run(), two: work.run() };
    await turn();
    const seen = noted({ ...early, three: work.run(), four: work.run(), ended: work.ended() });
    await turn();
    expect([ends.length, seen]).toEqual([1, []]);
    ends[0]!();
    await turn();
    expect([ends.length, seen]).toEqual([2, ['one', 'two']]);
    ends[1]!();
    await turn();
    expect([ends.length, seen]).toEqual([2, ['one', 'two', 'three', 'four', 'ended']]);
  });

  it('runs again for who asks after it has ended, and has ended while nobody asks', async () => {
    const seen = noted({ idle: work.ended(), one: work.run() });
    await turn();
    ends[0]!();
    await turn();
    expect([ends.length, seen]).toEqual([1, ['idle', 'one']]);
    void work.run();
    await turn();
    expect(ends).toHaveLength(2);
  });
});
