import { rowOf, SALE_STATES } from '../../payment/payment-state.js';

/** The states of payments that have an outcome. Those of refunds are among them. */
export const SETTLED_STATES = SALE_STATES.filter((state) => rowOf(state).settled);
