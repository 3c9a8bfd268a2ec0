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

/** What the answer to a CheckPayment says, in the words of the table of inquiries. */
export type InquiryOutcome =
  /** `isBound`: it shows our id or our amount. If not, it cannot confirm an approval that names no payment. */
  | { readonly outcome: 'paid'; readonly isBound: boolean; readonly charge: ChargeOutcome }
  | { readonly outcome: 'declined' | 'mismatch' | 'approval'; readonly charge: ChargeOutcome }
  | { readonly outcome: 'not_found' | 'unpaid' | 'unclear' | 'unanswered' };

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
    case 'paid': {
      const isBound = facts.names !== 'neither';
      return { outcome: word, isBound, charge: { state: 'succeeded', reason: null, result } };
    }
    case 'mismatch':
      return { outcome: word, charge: { state: 'review', reason, result } };
    case 'approval':
      return { outcome: word, charge: { state: 'review', reason: 'moved_after_all', result } };
    case 'declined':
      return { outcome: word, charge: { state: 'failed', reason: word, result, isPlain: true } };
    default:
      return { outcome: word };
  }
}
