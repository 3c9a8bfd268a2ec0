import { inspect } from 'node:util';
import { BinAnswers } from '../../lib/operations/bin.js';
import { unknownCard } from '../../lib/gateway/readings/card-answer.js';
import { TestClock } from '../../lib/testing/test-clock.js';

const OUTCOME = unknownCard('refused');

it('keeps a thousand answers, the newest ones', () => {
  const answers = new BinAnswers(new TestClock());
  for (let bin = 0; bin < 1_001; bin += 1) answers.keep(String(bin), OUTCOME, 1_000);
  // Kept anew, it is not the oldest any more.
  answers.keep('1', OUTCOME, 1_000);
  answers.keep('another', OUTCOME, 1_000);
  const kept = ['0', '1', '2', '3', '1000'].filter((bin) => answers.find(bin) !== null);
  expect(kept).toEqual(['1', '3', '1000']);
});

it('shows neither questions nor answers when it is printed', () => {
  const answers = new BinAnswers(new TestClock());
  answers.keep('45080345', { ...OUTCOME, bank: 'Örnek Bankası' }, 1_000);
  expect(inspect(answers, { depth: 9, showHidden: true })).not.toMatch(/45080345|Örnek/);
});
