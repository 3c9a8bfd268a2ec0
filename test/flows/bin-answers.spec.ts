import { inspect } from 'node:util';
import { BinAnswers } from '../../lib/flows/bin-answers.js';
import { noAnswerAboutCard } from '../../lib/gateway/readings/bin-outcome.js';
import { SystemRandomness } from '../../lib/payment/randomness.js';
import { TestClock } from '../../lib/testing/test-clock.js';

const OUTCOME = noAnswerAboutCard('refused');

it('keeps a thousand answers, the newest ones', () => {
  const answers = new BinAnswers(new TestClock(), new SystemRandomness());
  for (let bin = 0; bin < 1_001; bin += 1) answers.keep(answers.keyOf(bin), OUTCOME);
  // Kept anew, it is not the oldest any more.
  answers.keep(answers.keyOf(1), OUTCOME);
  answers.keep(answers.keyOf('another'), OUTCOME);
  const kept = [0, 1, 2, 3, 1_000].filter((bin) => answers.find(answers.keyOf(bin)) !== null);
  expect(kept).toEqual([1, 3, 1_000]);
});

it('keeps no digits, and shows no answers', () => {
  const answers = new BinAnswers(new TestClock(), new SystemRandomness());
  const key = answers.keyOf('45080345', '100.00', 949);
  answers.keep(key, { ...OUTCOME, bank: 'Örnek Bankası' });
  expect(key).not.toContain('450803');
  expect(answers.keyOf('45080345', '100.00', 949)).toBe(key);
  expect(answers.keyOf('450803', '45100.00', 949)).not.toBe(key);
  expect(new BinAnswers(new TestClock(), new SystemRandomness()).keyOf('45080345', '100.00', 949)).not.toBe(key);
  expect(inspect(answers, { depth: 9, showHidden: true })).not.toMatch(/45080345|Örnek/);
});
