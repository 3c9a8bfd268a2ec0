import type { PaymentReason } from '../../payment/payment.js';
import type { DialectOperation, GatewayResult } from '../gateway-dialect.js';
import type { Answer } from '../transport/transmission.js';
import { type Question, readAnswer } from './facts.js';
import { CHARGE, type ChargeFacts, judge } from './verdicts.js';

/** The outcome of a DoPayment, an Auth3d, a refund or a void that may have been sent. */
export interface ChargeOutcome {
  readonly state: 'succeeded' | 'failed' | 'unknown' | 'review';
  readonly reason: PaymentReason | null;
  /** What the answer says; null if no answer could be read. */
  readonly result: GatewayResult | null;
}

/** Decides the outcome of a request that may have been sent and that moves money. */
export function chargeOutcome(
  answer: Answer,
  operation: DialectOperation<never, GatewayResult>,
  question: Question,
  { mustName, canAsk }: Pick<ChargeFacts, 'mustName' | 'canAsk'>,
): ChargeOutcome {
  const { facts, result } = readAnswer(answer, operation, question);
  const [state, reason] = judge(CHARGE, { ...facts, mustName, canAsk });
  return { state, reason, result };
}
