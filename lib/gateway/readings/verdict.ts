import type { PaymentReason } from '../../payment/payment-reason.js';
import type { GatewayResult } from '../gateway-dialect.js';

/** What a DoPayment or Auth3d came to, once it may have left. */
export interface Verdict {
  readonly state: 'succeeded' | 'failed' | 'unknown' | 'review';
  readonly reason: PaymentReason | null;
  /** What the answer told; null where there was none to read. */
  readonly result: GatewayResult | null;
}

/** What a CheckPayment came to. `nothing`: no clear word; ask again later. */
export type InquiryVerdict =
  | { readonly outcome: 'paid' | 'declined' | 'mismatch'; readonly verdict: Verdict }
  | { readonly outcome: 'not_found' }
  | { readonly outcome: 'nothing' };
