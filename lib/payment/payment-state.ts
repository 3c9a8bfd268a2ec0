/**
 * Where a payment stands. The store, the events, the logs and the docs all use these words.
 *
 * - `charging`: a DoPayment may be on its way.
 * - `initiating`: an Init3d may be on its way; no money can move.
 * - `awaiting`: the buyer is at the issuer's 3D Secure page; no money can move.
 * - `authorizing`: the one right to call Auth3d has been taken.
 * - `succeeded`: money was taken. Never changes.
 * - `failed`: no money was taken.
 * - `expired`: the buyer never came back; no money was taken.
 * - `unknown`: money may have been taken. Only the gateway's word or an operator ends this, never time.
 * - `review`: the gateway's word contradicts what was asked. An operator ends this.
 */
export type PaymentState =
  'charging' | 'initiating' | 'awaiting' | 'authorizing' | 'succeeded' | 'failed' | 'expired' | 'unknown' | 'review';

/** Who takes a payment from one state to the next. `time` ends only what can have moved no money. */
export type Mover = 'gateway' | 'buyer' | 'merchant' | 'module' | 'operator' | 'time';

/** What is true of every payment in a state. */
export interface StateRow {
  /** Which call begins a payment in this state. */
  readonly begunBy?: 'doPayment' | 'init3d';
  /** Where it can go from here, and who takes it there. Nothing else may set a state. */
  readonly to: Readonly<Partial<Record<PaymentState, readonly Mover[]>>>;
  /** An outcome that can be acted upon. */
  readonly settled: boolean;
  /** Whether money has moved. */
  readonly money: 'no' | 'perhaps' | 'yes';
  /** A request to the gateway may be under way. */
  readonly requesting: boolean;
  /** Reaching it is an event. */
  readonly published: boolean;
  /** No other payment of the same reference may be in such a state. */
  readonly holdsReference: boolean;
  /** What the background work does with a payment that is due: nothing, where it never is. */
  readonly whenDue: 'expire' | 'interrupt' | 'inquire' | 'nothing';
}

/** The one table of states: every list of states is read from it. */
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
    // `failed` only with nothing sent: `vetoed`, `reference_taken`.
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

/** A state whose payments are published as events. */
export type PaymentEventState = StatesWith<'published', true>;
/** A state that a payment passes through; in the others it ends. */
export type UnsettledState = StatesWith<'settled', false>;

export const ALL_STATES = Object.keys(PAYMENT_STATES) as readonly PaymentState[];
export const EVENT_STATES = statesWhere(({ published }) => published) as readonly PaymentEventState[];
export const UNSETTLED_STATES = statesWhere(({ settled }) => !settled) as readonly UnsettledState[];

/** The states in which an outcome was reached that is not clear: a person may have to look. */
export const UNCLEAR_STATES = statesWhere(({ settled, published }) => published && !settled);

export function statesWhere(holds: (row: StateRow) => boolean): readonly PaymentState[] {
  return ALL_STATES.filter((state) => holds(rowOf(state)));
}

/** Of a state that only a newer release knows: it counts as waiting, and is left to that release. */
const OF_A_NEWER_RELEASE: StateRow = {
  to: {},
  settled: false,
  money: 'perhaps',
  requesting: false,
  published: false,
  holdsReference: true,
  whenDue: 'nothing',
};

/** What is true of the payments in a state. */
export function rowOf(state: PaymentState): StateRow {
  return isKnownState(state) ? PAYMENT_STATES[state] : OF_A_NEWER_RELEASE;
}

/** Neither DoPayment nor Auth3d can have been called. */
export function isBeforeMoney(state: PaymentState): boolean {
  const { settled, money } = rowOf(state);
  return !settled && money === 'no';
}

/** The one right to call DoPayment or Auth3d has been taken, and what came of it is not written yet. */
export function isClaimed(state: PaymentState): boolean {
  return rowOf(state).whenDue === 'interrupt';
}

export function isKnownState(state: string): state is PaymentState {
  return Object.hasOwn(PAYMENT_STATES, state);
}
