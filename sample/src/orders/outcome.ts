import { type Payment, PAYMENT_STATES, type PaymentState } from 'nestjs-card-payment';
import { isGivenBack, type MoneyBack } from './money-back.js';

/** What the buyer sees of an order's payment. */
export type Outcome =
  | { readonly kind: 'unpaid' }
  | AtPage
  | {
      readonly kind: 'paid' | 'refunded' | 'pending' | 'checking' | 'atBank' | 'failed' | 'expired';
      readonly payment: Payment;
    };

/** The gateway's own payment page is open. Until it is given up, the order cannot be paid in another way. */
export interface AtPage {
  readonly kind: 'atPage' | 'declinedAtPage';
  readonly payment: Payment;
}

const KIND_OF: Readonly<Record<PaymentState, Exclude<Outcome['kind'], 'unpaid'>>> = {
  succeeded: 'paid',
  charging: 'pending',
  authorizing: 'pending',
  unknown: 'pending',
  review: 'checking',
  initiating: 'atBank',
  awaiting: 'atBank',
  pending: 'atPage',
  failed: 'failed',
  expired: 'expired',
};

/**
 * An order has a payment for each attempt. The outcome is the state of the one that succeeded; otherwise of the one that
 * may have taken money; otherwise of the latest. A second payment in review does not make a paid order unpaid: staff see
 * it, and give its money back. A payment page that the buyer gave up counts as if it had not been opened.
 */
export function outcomeOf(payments: readonly Payment[]): Outcome {
  const payment =
    payments.find(({ state }) => state === 'succeeded') ??
    payments.find((each) => PAYMENT_STATES[each.state].holdsReference || kindOf(each) === 'atPage') ??
    payments.filter(({ reason }) => reason !== 'abandoned').at(-1);
  return payment ? { kind: kindOf(payment), payment } : { kind: 'unpaid' };
}

function kindOf({ state, kind, reason }: Payment): Exclude<Outcome['kind'], 'unpaid'> {
  // The page stays open after a decline.
  if (state === 'pending' && reason === 'declined') return 'declinedAtPage';
  if (state === 'initiating' && kind === 'hosted') return 'atPage';
  return KIND_OF[state];
}

/** The same, and `refunded` if all that was paid was given back. The order cannot be paid again. */
export function outcomeWithRefunds(moneyBack: readonly MoneyBack[]): Outcome {
  const outcome = outcomeOf(moneyBack.map(({ payment }) => payment));
  const isRefunded =
    outcome.kind === 'paid' && moneyBack.some((each) => each.payment === outcome.payment && isGivenBack(each));
  return isRefunded ? { kind: 'refunded', payment: outcome.payment } : outcome;
}

/** Whether the buyer may be asked for a card. */
export function isPayable({ kind }: Outcome): boolean {
  return kind === 'unpaid' || kind === 'atBank' || kind === 'failed' || kind === 'expired';
}

/** Whether the gateway's own payment page is open. */
export function isAtPage(outcome: Outcome): outcome is AtPage {
  return outcome.kind === 'atPage' || outcome.kind === 'declinedAtPage';
}
