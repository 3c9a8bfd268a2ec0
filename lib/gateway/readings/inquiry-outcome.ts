import type { DialectOperation, InquiryResult } from '../gateway-dialect.js';
import type { GatewayReply } from '../transport/transmission.js';
import type { ChargeOutcome } from './charge-outcome.js';
import { type Question, readAnswer } from './facts.js';
import { INQUIRY, type InquiryFacts, judge } from './verdicts.js';

/** What the answer to a CheckPayment shows. `nothing`: nothing that settles the payment; ask again later. */
export type InquiryOutcome =
  | {
      readonly outcome: 'paid';
      /** Whether the answer shows our id or our amount. If not, it cannot confirm an approval that names no payment. */
      readonly isBound: boolean;
      readonly charge: ChargeOutcome;
    }
  | { readonly outcome: 'declined' | 'mismatch'; readonly charge: ChargeOutcome }
  /** It approves, but may mean only that the inquiry itself succeeded. */
  | { readonly outcome: 'bare_approval'; readonly charge: ChargeOutcome }
  | { readonly outcome: 'not_found' }
  /** The gateway gave no answer but an error of its own. */
  | { readonly outcome: 'unanswered' }
  | {
      readonly outcome: 'nothing';
      /** The answer says that it has not been paid so far. */
      readonly isUnpaid?: boolean;
    };

/** Reads the answer to a CheckPayment. */
export function inquiryOutcome(
  reply: GatewayReply,
  operation: DialectOperation<never, InquiryResult>,
  question: Question & { readonly about: InquiryFacts['about'] },
): InquiryOutcome {
  const { facts, result } = readAnswer({ sent: true, reply }, operation, question);
  const [word, reason] = judge(INQUIRY, { ...facts, about: question.about });
  switch (word) {
    case 'paid':
      return {
        outcome: 'paid',
        isBound: facts.names !== 'neither',
        charge: { state: 'succeeded', reason: null, result },
      };
    case 'mismatch':
      return { outcome: 'mismatch', charge: { state: 'review', reason: reason ?? null, result } };
    case 'declined':
      return { outcome: 'declined', charge: { state: 'failed', reason: 'declined', result } };
    case 'approval':
      return { outcome: 'bare_approval', charge: { state: 'review', reason: 'moved_after_all', result } };
    case 'not_found':
      return { outcome: 'not_found' };
    case 'unpaid':
      return { outcome: 'nothing', isUnpaid: true };
    case 'unclear':
      return { outcome: 'nothing' };
    case 'unanswered':
      return { outcome: 'unanswered' };
  }
}
