/**
 * The state of a payment. The store, the events, the logs and the docs all use these words.
 *
 * - `charging`: a DoPayment may be under way.
 * - `initiating`: an Init3d may be under way; no money can move.
 * - `awaiting`: the buyer is at the issuer's 3D Secure page; no money can move.
 * - `authorizing`: the one right to call Auth3d has been taken.
 * - `succeeded`: money was taken. Never changes.
 * - `failed`: no money was taken.
 * - `expired`: the buyer did not come back in time; no money was taken.
 * - `unknown`: money may have been taken. Only an answer of the gateway or an operator ends this, never time.
 * - `review`: the gateway's answer contradicts the request. Only an operator ends this.
 */
export type PaymentState =
  'charging' | 'initiating' | 'awaiting' | 'authorizing' | 'succeeded' | 'failed' | 'expired' | 'unknown' | 'review';

/** Who moves a payment from one state to the next. `time` ends a payment only if no money can have moved. */
export type Mover = 'gateway' | 'buyer' | 'merchant' | 'module' | 'operator' | 'time';

/** What is true of every payment in one state. */
export interface StateRow {
  /** The operation that a payment begins with in this state. */
  readonly begunBy?: 'doPayment' | 'init3d';
  /** The states that can follow, and who moves the payment there. Nothing else may set a state. */
  readonly to: Readonly<Partial<Record<PaymentState, readonly Mover[]>>>;
  /** Whether this is an outcome that can be acted upon. */
  readonly settled: boolean;
  /** Whether money has moved. */
  readonly money: 'no' | 'perhaps' | 'yes';
  /** Whether a request to the gateway may be under way. */
  readonly requesting: boolean;
  /** Whether reaching this state is an event. */
  readonly published: boolean;
  /** At most one payment of a reference may be in any of the states that have true here. */
  readonly holdsReference: boolean;
  /** What the background work does with a payment that is due; `nothing` where it never is. */
  readonly whenDue: 'expire' | 'interrupt' | 'inquire' | 'nothing';
}

/** The table of states. Every list of states is read from it. */
export const PAYMENT_STATES = {
  charging: {
    begunBy: 'doPayment',
    to: { succeeded: ['gateway'], failed: ['gateway', 'module'], unknown: ['gateway', 'module'], review: ['gateway'] },
    settled: false,
    money: 'perhaps',
    requesting: true,
    published: false,
    holdsReference: true,
    whenDue: 'interrupt',
  },
  initiating: {
    begunBy: 'init3d',
    to: { awaiting: ['gateway'], failed: ['gateway', 'module'], expired: ['time'] },
    settled: false,
    money: 'no',
    requesting: true,
    published: false,
    holdsReference: false,
    whenDue: 'expire',
  },
  awaiting: {
    // `failed` only if nothing was sent: `vetoed`, `reference_taken`.
    to: { authorizing: ['buyer'], failed: ['merchant', 'module'], expired: ['time'] },
    settled: false,
    money: 'no',
    requesting: false,
    published: false,
    holdsReference: false,
    whenDue: 'expire',
  },
  authorizing: {
    to: { succeeded: ['gateway'], failed: ['gateway', 'module'], unknown: ['gateway', 'module'], review: ['gateway'] },
    settled: false,
    money: 'perhaps',
    requesting: true,
    published: false,
    holdsReference: true,
    whenDue: 'interrupt',
  },
  succeeded: {
    to: {},
    settled: true,
    money: 'yes',
    requesting: false,
    published: true,
    holdsReference: true,
    whenDue: 'nothing',
  },
  failed: {
    // Only when the gateway shows that money moved after all.
    to: { review: ['gateway'] },
    settled: true,
    money: 'no',
    requesting: false,
    published: true,
    holdsReference: false,
    whenDue: 'nothing',
  },
  expired: {
    // Only when the gateway shows that money moved after all.
    to: { review: ['gateway'] },
    settled: true,
    money: 'no',
    requesting: false,
    published: true,
    holdsReference: false,
    whenDue: 'nothing',
  },
  unknown: {
    to: { succeeded: ['gateway', 'operator'], failed: ['gateway', 'operator', 'module'], review: ['gateway'] },
    settled: false,
    money: 'perhaps',
    requesting: false,
    published: true,
    holdsReference: true,
    whenDue: 'inquire',
  },
  review: {
    to: { succeeded: ['operator'], failed: ['operator'] },
    settled: false,
    money: 'perhaps',
    requesting: false,
    published: true,
    holdsReference: true,
    whenDue: 'nothing',
  },
} as const satisfies Record<PaymentState, StateRow>;

/** The states whose row has a value in a column. */
type StatesWith<Column extends keyof StateRow, Value> = {
  [State in PaymentState]: (typeof PAYMENT_STATES)[State][Column & keyof (typeof PAYMENT_STATES)[State]] extends Value
    ? State
    : never;
}[PaymentState];

/** A state that is published as an event when a payment reaches it. */
export type PaymentEventState = StatesWith<'published', true>;
/** A state in which a payment has no outcome yet that can be acted upon. */
export type UnsettledState = StatesWith<'settled', false>;

/** Every state that this release knows. */
export const ALL_STATES = Object.keys(PAYMENT_STATES) as readonly PaymentState[];
/** The states that are published as events. */
export const EVENT_STATES = statesWhere(({ published }) => published) as readonly PaymentEventState[];
/** The states without an outcome that can be acted upon. */
export const UNSETTLED_STATES = statesWhere(({ settled }) => !settled) as readonly UnsettledState[];
/** The states that are published but not settled: a person may have to look. */
export const UNCLEAR_STATES = statesWhere(({ settled, published }) => published && !settled);

export function statesWhere(holds: (row: StateRow) => boolean): readonly PaymentState[] {
  return ALL_STATES.filter((state) => holds(rowOf(state)));
}

/** The row of a state that only a newer release knows. The payment counts as waiting, and is left to that release. */
const ROW_OF_NEWER_RELEASE: StateRow = {
  to: {},
  settled: false,
  money: 'perhaps',
  requesting: false,
  published: false,
  holdsReference: true,
  whenDue: 'nothing',
};

/** The row of a state, even of a state that this release does not know. */
export function rowOf(state: PaymentState): StateRow {
  return isKnownState(state) ? PAYMENT_STATES[state] : ROW_OF_NEWER_RELEASE;
}

/** Whether neither DoPayment nor Auth3d can have been called. */
export function isBeforeMoney(state: PaymentState): boolean {
  const { settled, money } = rowOf(state);
  return !settled && money === 'no';
}

/** Whether the one right to call DoPayment or Auth3d has been taken, and the outcome has not been written yet. */
export function isClaimed(state: PaymentState): boolean {
  return rowOf(state).whenDue === 'interrupt';
}

export function isKnownState(state: string): state is PaymentState {
  return Object.hasOwn(PAYMENT_STATES, state);
}
