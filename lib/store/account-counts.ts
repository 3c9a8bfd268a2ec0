import { refundsAccountOf } from '../payment/account.js';
import { gatewayHostOf } from '../payment/gateway-id.js';
import { REFUND_STATES, SALE_STATES, UNSETTLED_STATES, type UnsettledState } from '../payment/payment-state.js';
import type { PaymentStore, StateCount, StoreCounts } from './payment-store.js';

/** The unsettled states of payments. */
export const UNSETTLED_SALE_STATES = UNSETTLED_STATES.filter(isOneOf(SALE_STATES));
/** The unsettled states of refunds. */
export const UNSETTLED_REFUND_STATES = UNSETTLED_STATES.filter(isOneOf(REFUND_STATES));

/** The unsettled refunds of an account, by state. */
export type RefundCounts = Readonly<Record<(typeof UNSETTLED_REFUND_STATES)[number], StateCount>>;

/** The counts of a merchant's account. */
export interface AccountCounts {
  /** `states` are those of its payments; events and deliveries are those of payments and refunds. */
  readonly counts: StoreCounts;
  readonly refunds: RefundCounts;
}

/** The unsettled payments and refunds of other gateways than an account has now. */
export interface OtherGateways {
  readonly count: number;
  /** The hosts of these gateways. */
  readonly hosts: readonly string[];
}

/** Counts an account's payments and its refunds, which a store keeps under two accounts. */
export async function countsOfAccount(store: Pick<PaymentStore, 'counts'>, account: string): Promise<AccountCounts> {
  const [payments, refunds] = await Promise.all([store.counts(account), store.counts(refundsAccountOf(account))]);
  const ofRefunds = UNSETTLED_REFUND_STATES.map((state) => [state, refunds.states[state]]);
  return {
    counts: {
      states: payments.states,
      waitingEvents: payments.waitingEvents + refunds.waitingEvents,
      openDeliveries: payments.openDeliveries + refunds.openDeliveries,
      parkedDeliveries: payments.parkedDeliveries + refunds.parkedDeliveries,
      orphanedDeliveries: payments.orphanedDeliveries + refunds.orphanedDeliveries,
    },
    refunds: Object.fromEntries(ofRefunds) as RefundCounts,
  };
}

/** How many unsettled payments and refunds belong to another gateway than these, by that gateway. */
export async function otherGatewaysOf(
  store: Pick<PaymentStore, 'otherGateways'>,
  account: string,
  own: readonly string[],
): Promise<OtherGateways> {
  const accounts = [account, refundsAccountOf(account)];
  const counted = await Promise.all(accounts.map((one) => store.otherGateways(one, own)));
  const all = counted.flatMap((counts) => Object.entries(counts));
  const hosts = new Set(all.map(([gateway]) => gatewayHostOf(gateway)));
  return { count: all.reduce((sum, [, count]) => sum + count, 0), hosts: [...hosts].sort() };
}

function isOneOf<State extends string>(states: readonly State[]) {
  return (state: UnsettledState): state is UnsettledState & State => (states as readonly string[]).includes(state);
}
