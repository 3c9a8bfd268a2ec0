import { compareLedgers, lostEvents } from '../rigs/ledger-comparison.js';
import { type Crash, refundOf, type RefundFlow, type Sale } from './attempt.js';
import { CrashTrial } from './crash-trial.js';
import type { Flaw } from './flawed-store.js';

const UNWRITTEN = 'acknowledges before it writes';
const EARLY = 'writes the outcome before it is known';
const FORGOTTEN = 'forgets an event before its handler is called';

// The negative control: were these not found, the other suites would prove nothing.
describe('with flawed stores, the comparison finds', () => {
  let trial: CrashTrial;
  beforeEach(async () => {
    trial = await CrashTrial.on('SQLite');
  });
  afterEach(() => trial.end());

  it('what was charged twice, lost and invented, the events that were lost, and nothing else', async () => {
    const crash = async (flaw: Flaw | undefined, ...crashes: Crash[]): Promise<readonly Sale[]> =>
      (await trial.crash(crashes, flaw)).map(({ sale }) => sale);
    await crash(undefined, { flow: 'direct', point: 'after the reply' });
    const [opening, claim] = await crash(
      UNWRITTEN,
      { flow: 'direct', point: 'after the reply' },
      { flow: 'auth3d', point: 'before the reply' },
    );
    const [early] = await crash(EARLY, { flow: 'direct', point: 'after the opening write' });
    const [event] = await crash(FORGOTTEN, { flow: 'direct', point: 'before the handler' });
    expect((await trial.recover()).code).toBe(0);
    const final = await trial.finalState();
    const { movedTwice, lost, invented } = compareLedgers(final);
    expect(movedTwice).toEqual([
      `${claim!.conversationId}: repeated-call Auth3d`,
      expect.stringMatching(`: charged for ${opening!.reference}, as was ${opening!.conversationId}$`),
    ]);
    expect(new Set(lost)).toEqual(
      new Set([
        `${opening!.conversationId}: charged, and not in the store`,
        expect.stringMatching(`^${claim!.conversationId}: charged, and `),
      ]),
    );
    expect(invented).toEqual([`${early!.conversationId}: not charged, and succeeded`]);
    expect(lostEvents(final.payments, final.heard)).toEqual([
      // Refused as a repeated call, and in review before anyone could be told: its order is held.
      expect.stringMatching(`^${claim!.conversationId}:4-`),
      expect.stringMatching(`^${early!.conversationId}:1-`),
      expect.stringMatching(`^${event!.conversationId}:2-`),
    ]);
  }, 180_000);

  it('refunds that were lost and invented, the totals that they falsify, and the events that were lost', async () => {
    const crash = async (flaw: Flaw | undefined, flow: RefundFlow, point: Crash['point']) =>
      refundOf((await trial.crash([{ flow, point }], flaw))[0]!.sale, flow);
    await crash(undefined, 'refund', 'after the reply');
    const unwritten = await crash(UNWRITTEN, 'refund', 'after the reply');
    const early = await crash(EARLY, 'void', 'after the opening write');
    const event = await crash(FORGOTTEN, 'refund', 'before the handler');
    expect((await trial.recover()).code).toBe(0);
    const final = await trial.finalState();
    const { movedTwice, lost, invented } = compareLedgers(final);
    expect(movedTwice).toEqual([]);
    expect(new Set(lost)).toEqual(
      new Set([
        `${unwritten.refundId}: given back, and not in the store`,
        `${unwritten.conversationId}: 40.00 known as given back, and 8000 minor units were`,
        `${early.conversationId}: 149.90 known as given back, and 0 minor units were`,
      ]),
    );
    expect(invented).toEqual([`${early.refundId}: not given back, and succeeded`]);
    expect(lostEvents(final.refunds, final.heard)).toEqual([
      expect.stringMatching(`^${early.refundId}:1-`),
      expect.stringMatching(`^${event.refundId}:2-`),
    ]);
  }, 180_000);
});
