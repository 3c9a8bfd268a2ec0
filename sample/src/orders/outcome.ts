import { type Payment, PAYMENT_STATES, type PaymentState } from 'nestjs-card-payment';

/** What the buyer sees of an order's payment. */
export type Outcome =
  | { readonly kind: 'unpaid' }
  | { readonly kind: 'paid' | 'pending' | 'checking' | 'atBank' | 'failed' | 'expired'; readonly payment: Payment };

const KIND_OF: Readonly<Record<PaymentState, Exclude<Outcome['kind'], 'unpaid'>>> = {
  succeeded: 'paid',
  charging: 'pending',
  authorizing: 'pending',
  unknown: 'pending',
  review: 'checking',
  initiating: 'atBank',
  awaiting: 'atBank',
  failed: 'failed',
  expired: 'expired',
};

/**
 * An order has a payment for each attempt. At most one of them may have taken money: its state is the outcome. Without
 * one, it is the state of the latest.
 */
export function outcomeOf(payments: readonly Payment[]): Outcome {
  const payment = payments.find(({ state }) => PAYMENT_STATES[state].holdsReference) ?? payments.at(-1);
  return payment ? { kind: KIND_OF[payment.state], payment } : { kind: 'unpaid' };
}

/** Whether the buyer may be asked for a card. */
export function isPayable({ kind }: Outcome): boolean {
  return kind === 'unpaid' || kind === 'atBank' || kind === 'failed' || kind === 'expired';
}
