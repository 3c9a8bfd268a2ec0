import { DEFAULT_CODE_SETS } from '../../../lib/gateway/result-codes.js';
import { Masker } from '../../../lib/payment/kept-text.js';
import type { Question } from '../../../lib/gateway/readings/facts.js';

/** What is asked about a sale of 60.00 lira. */
export const QUESTION: Question = {
  expected: { conversationId: 'ABC1', amount: '60.00', currencyCode: 949, installmentCount: 1 },
  codes: DEFAULT_CODE_SETS,
  verifyAmount: 'notLess',
  isSignGood: null,
  masker: new Masker([]),
};
