import type { PaymentReason } from '../payment/reasons.js';
import type { GatewayResult } from './gateway-dialect.js';

/** What a DoPayment or Auth3d came to, once it may have left. */
export interface Verdict {
  readonly state: 'succeeded' | 'failed' | 'unknown' | 'review';
  readonly reason: PaymentReason | null;
  /** What the answer told; null where there was none to read. */
  readonly result: GatewayResult | null;
}

/** What a CheckPayment came to. `nothing`: no clear word; ask again later. */
export type InquiryVerdict =
  | { readonly word: 'paid' | 'declined' | 'mismatch'; readonly verdict: Verdict }
  | { readonly word: 'not_found' }
  | { readonly word: 'nothing' };
