import type { PaymentReason } from '../../payment/payment.js';
import type { GatewayResult } from '../gateway-dialect.js';
import type { ReadAnswer } from './facts.js';
import { CHARGE, type ChargeFacts, INQUIRY, type InquiryFacts, judge } from './verdicts.js';

/** The outcome of a DoPayment, an Auth3d, a refund or a void that may have been sent. */
export interface ChargeOutcome {
  readonly state: 'succeeded' | 'failed' | 'unknown' | 'review';
  readonly reason: PaymentReason | null;
  /** What is kept of the answer; null if no answer could be read. */
  readonly result: GatewayResult | null;
  /** True for a decline that leaves no doubt: the card's own, by a code for that. */
  readonly isPlain?: true;
}

/** What the answer to a CheckPayment shows. `nothing`: nothing that settles the payment; ask again later. */
export type InquiryOutcome =
  /** `isBound`: it shows our id or our amount. If not, it cannot confirm an approval that names no payment. */
  | { readonly outcome: 'paid'; readonly isBound: boolean; readonly charge: ChargeOutcome }
  | { readonly outcome: 'declined' | 'mismatch'; readonly charge: ChargeOutcome }
  /** It approves, but may mean only that the inquiry itself succeeded. */
  | { readonly outcome: 'bare_approval'; readonly charge: ChargeOutcome }
  | { readonly outcome: 'not_found' }
  /** The gateway gave no answer but an error of its own. */
  | { readonly outcome: 'unanswered' }
  /** `isUnpaid`: the answer says that it has not been paid so far. */
  | { readonly outcome: 'nothing'; readonly isUnpaid?: boolean };

/** Decides the outcome of a request that may have been sent and that moves money. */
export function chargeOutcome(
  { facts, result }: ReadAnswer<unknown>,
  request: Pick<ChargeFacts, 'mustName' | 'canAsk'>,
): ChargeOutcome {
  const [state, reason] = judge(CHARGE, { ...facts, ...request });
  const isPlain = state === 'failed' && facts.http === '2xx' && facts.code === 'card';
  return { state, reason, result, ...(isPlain && { isPlain }) };
}

/** Decides what the answer to a CheckPayment says. */
export function inquiryOutcome({ facts, result }: ReadAnswer<unknown>, about: InquiryFacts['about']): InquiryOutcome {
  const [word, reason = null] = judge(INQUIRY, { ...facts, about });
  switch (word) {
    case 'paid':
      return {
        outcome: word,
        isBound: facts.names !== 'neither',
        charge: { state: 'succeeded', reason: null, result },
      };
    case 'mismatch':
      return { outcome: word, charge: { state: 'review', reason, result } };
    case 'declined':
      return { outcome: word, charge: { state: 'failed', reason: 'declined', result, isPlain: true } };
    case 'approval':
      return { outcome: 'bare_approval', charge: { state: 'review', reason: 'moved_after_all', result } };
    case 'not_found':
    case 'unanswered':
      return { outcome: word };
    case 'unpaid':
      return { outcome: 'nothing', isUnpaid: true };
    case 'unclear':
      return { outcome: 'nothing' };
  }
}
