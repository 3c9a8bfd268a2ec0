import { compareLedgers, lostEvents } from '../rigs/ledger-comparison.js';
import { compareRefunds } from '../rigs/refund-comparison.js';
import { refundOf, type RefundFlow } from './attempt.js';
import { type Crash, CrashTrial } from './crash-trial.js';

// The negative control: were these not found, the other suites would prove nothing.
describe('with flawed stores, the comparison finds', () => {
  const UNWRITTEN = 'acknowledges before it writes';
  const CRASHES: Crash[] = [
    { flow: 'direct', point: 'after the reply' },
    { flow: 'direct', point: 'after the reply', flaw: UNWRITTEN },
    { flow: 'auth3d', point: 'before the reply', flaw: UNWRITTEN },
    { flow: 'direct', point: 'after the opening write', flaw: 'writes the outcome before it is known' },
    { flow: 'direct', point: 'before the handler', flaw: 'forgets an event before its handler is called' },
  ];
  const REFUND_CRASHES: Crash[] = [
    { flow: 'refund', point: 'after the reply' },
    { flow: 'refund', point: 'after the reply', flaw: UNWRITTEN },
    { flow: 'void', point: 'after the opening write', flaw: 'writes the outcome before it is known' },
    { flow: 'refund', point: 'before the handler', flaw: 'forgets an event before its handler is called' },
  ];

  it('what was charged twice, lost and invented, the events that were lost, and nothing else', async () => {
    const trial = await CrashTrial.on('SQLite');
    try {
      const [, opening, claim, early, event] = (await trial.crash(CRASHES)).map(({ sale }) => sale);
      expect((await trial.comeAfter()).code).toBe(0);
      const books = await trial.books();
      const { chargedTwice, lost, invented } = compareLedgers(books);
      expect(chargedTwice).toEqual([
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
      expect(lostEvents(books.payments, books.heard)).toEqual([
        expect.stringMatching(`^${early!.conversationId}:1-`),
        expect.stringMatching(`^${event!.conversationId}:2-`),
      ]);
    } finally {
      await trial.end();
    }
  }, 180_000);

  it('refunds that were lost and invented, the totals that they falsify, and the events that were lost', async () => {
    const trial = await CrashTrial.on('SQLite');
    try {
      const [, unwritten, early, event] = (await trial.crash(REFUND_CRASHES)).map(({ sale, flow }) => {
        return refundOf(sale, flow as RefundFlow);
      });
      expect((await trial.comeAfter()).code).toBe(0);
      const books = await trial.books();
      const { givenTwice, lost, invented } = compareRefunds(books);
      expect(givenTwice).toEqual([]);
      expect(new Set(lost)).toEqual(
        new Set([
          `${unwritten!.refundId}: given back, and not in the store`,
          `${unwritten!.conversationId}: 40.00 known as given back, and 8000 minor units were`,
          `${early!.conversationId}: 149.90 known as given back, and 0 minor units were`,
        ]),
      );
      expect(invented).toEqual([`${early!.refundId}: not given back, and succeeded`]);
      expect(lostEvents(books.refunds, books.heard)).toEqual([
        expect.stringMatching(`^${early!.refundId}:1-`),
        expect.stringMatching(`^${event!.refundId}:2-`),
      ]);
    } finally {
      await trial.end();
    }
  }, 180_000);
});
