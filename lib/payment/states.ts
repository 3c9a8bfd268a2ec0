/**
 * The state of a payment. The store, the events, the logs and the docs all use these words.
 *
 * - `charging`: a DoPayment may be under way.
 * - `initiating`: an Init3d, or a request for the gateway's own page, may be under way; no money can move.
 * - `awaiting`: the buyer is at the issuer's 3D Secure page; no money can move.
 * - `authorizing`: the one right to call Auth3d has been taken.
 * - `pending`: the buyer can pay at the gateway's own page, which is open. Money can move without us; the gateway is
 *   asked.
 * - `succeeded`: money was taken. Never changes.
 * - `failed`: no money was taken.
 * - `expired`: the buyer did not come back or did not pay in time; no money was taken.
 * - `unknown`: money may have been taken. Only an answer of the gateway or an operator ends this, never time.
 * - `review`: the gateway's answer contradicts the request. Only an operator ends this.
 */
export type PaymentState =
  | 'charging'
  | 'initiating'
  | 'awaiting'
  | 'authorizing'
  | 'pending'
  | 'succeeded'
  | 'failed'
  | 'expired'
  | 'unknown'
  | 'review';

/**
 * The state of a refund or void. Except for `refunding` (the request may be under way), the words mean the same as for
 * a payment: `succeeded` means that money was given back, `failed` that none was.
 */
export type RefundState = 'refunding' | 'succeeded' | 'failed' | 'unknown' | 'review';

/** The state of a record in the ledger: of a payment, or of a refund. */
export type LedgerState = PaymentState | RefundState;

/** Who moves a payment from one state to the next. `time` ends a payment only if no money can have moved. */
export type Mover = 'gateway' | 'buyer' | 'merchant' | 'module' | 'operator' | 'time';

/** What is true of every payment in one state. */
export interface StateRow {
  /** The operation that a payment begins with in this state. */
  readonly begunBy?: 'doPayment' | 'init3d, startHosted' | 'refund';
  /** The states that can follow, and who moves the payment there. Nothing else may set a state. */
  readonly to: Readonly<Partial<Record<LedgerState, readonly Mover[]>>>;
  /** Whether this is an outcome that can be acted upon. */
  readonly settled: boolean;
  /** Whether no refund can be in this state, whatever arrow leads here. */
  readonly neverRefund?: true;
  /** Whether money has moved. */
  readonly money: 'no' | 'perhaps' | 'yes';
  /** Whether a request to the gateway may be under way. */
  readonly requesting: boolean;
  /** Whether reaching this state is an event. */
  readonly published: boolean;
  /** At most one payment of a reference may be in any of the states that have true here. */
  readonly holdsReference: boolean;
  /** The same, but only payments of this kind count: two starts at the gateway's own page would open two pages. */
  readonly holdsReferenceIf?: 'hosted';
  /** At most one refund of a payment may be in any of the states that have true here. */
  readonly holdsPayment: boolean;
  /** What the background work does with a payment that is due; `nothing` where it never is. */
  readonly whenDue: 'expire' | 'interrupt' | 'inquire' | 'nothing';
}

/** What holds of a state unless its row says otherwise. */
const PLAIN = {
  settled: false,
  requesting: false,
  published: false,
  holdsReference: false,
  holdsPayment: false,
} as const;

/** The table of states, of payments and of refunds. Every list of states is read from it. */
export const PAYMENT_STATES = {
  charging: {
    ...PLAIN,
    begunBy: 'doPayment',
    to: { succeeded: ['gateway'], failed: ['gateway', 'module'], unknown: ['gateway', 'module'], review: ['gateway'] },
    money: 'perhaps',
    requesting: true,
    holdsReference: true,
    whenDue: 'interrupt',
  },
  initiating: {
    ...PLAIN,
    begunBy: 'init3d, startHosted',
    to: { awaiting: ['gateway'], pending: ['gateway'], failed: ['gateway', 'module'], expired: ['time'] },
    money: 'no',
    requesting: true,
    holdsReferenceIf: 'hosted',
    whenDue: 'expire',
  },
  awaiting: {
    ...PLAIN,
    // `failed` only if nothing was sent: `vetoed`, `reference_taken`.
    to: { authorizing: ['buyer'], failed: ['merchant', 'module'], expired: ['time'] },
    money: 'no',
    whenDue: 'expire',
  },
  authorizing: {
    ...PLAIN,
    to: { succeeded: ['gateway'], failed: ['gateway', 'module'], unknown: ['gateway', 'module'], review: ['gateway'] },
    money: 'perhaps',
    requesting: true,
    holdsReference: true,
    whenDue: 'interrupt',
  },
  pending: {
    ...PLAIN,
    // The module makes it `unknown` when the gateway has been silent for a day.
    to: { succeeded: ['gateway'], expired: ['gateway', 'merchant'], unknown: ['module'], review: ['gateway'] },
    money: 'perhaps',
    holdsReference: true,
    whenDue: 'inquire',
  },
  succeeded: {
    ...PLAIN,
    to: {},
    settled: true,
    money: 'yes',
    published: true,
    holdsReference: true,
    whenDue: 'nothing',
  },
  failed: {
    ...PLAIN,
    // Only when the gateway shows that money moved after all.
    to: { review: ['gateway'] },
    settled: true,
    money: 'no',
    published: true,
    // Only one whose request, or page, may have moved money all the same.
    whenDue: 'inquire',
  },
  expired: {
    ...PLAIN,
    // Only when the gateway shows that money moved after all.
    to: { review: ['gateway'] },
    settled: true,
    neverRefund: true,
    money: 'no',
    published: true,
    // Only a payment at the gateway's own page: it may have been paid late.
    whenDue: 'inquire',
  },
  unknown: {
    ...PLAIN,
    to: {
      succeeded: ['gateway', 'operator'],
      failed: ['gateway', 'operator', 'module'],
      expired: ['gateway'],
      review: ['gateway'],
    },
    money: 'perhaps',
    published: true,
    holdsReference: true,
    holdsPayment: true,
    whenDue: 'inquire',
  },
  review: {
    ...PLAIN,
    to: { succeeded: ['operator'], failed: ['operator'] },
    money: 'perhaps',
    published: true,
    holdsReference: true,
    holdsPayment: true,
    whenDue: 'nothing',
  },
  refunding: {
    ...PLAIN,
    begunBy: 'refund',
    to: {
      succeeded: ['gateway', 'merchant'],
      failed: ['gateway', 'module'],
      unknown: ['gateway', 'module'],
      review: ['gateway'],
    },
    money: 'perhaps',
    requesting: true,
    holdsPayment: true,
    whenDue: 'interrupt',
  },
} as const satisfies Record<LedgerState, StateRow>;

/** The states whose row has a value in a column. */
type StatesWith<Column extends keyof StateRow, Value> = {
  [State in LedgerState]: (typeof PAYMENT_STATES)[State][Column & keyof (typeof PAYMENT_STATES)[State]] extends Value
    ? State
    : never;
}[LedgerState];

/** A state that is published as an event when a payment reaches it. */
export type PaymentEventState = StatesWith<'published', true>;
/** A state that is published as an event when a refund reaches it. */
export type RefundEventState = Extract<PaymentEventState, RefundState>;
/** A state in which a payment or refund has no outcome yet that can be acted upon. */
export type UnsettledState = StatesWith<'settled', false>;

/** Every state that this release knows. */
export const ALL_STATES = Object.keys(PAYMENT_STATES) as readonly LedgerState[];
/** The states that a refund can be in: those that follow from its first. */
export const REFUND_STATES = statesFrom(statesWhere(({ begunBy }) => begunBy === 'refund')).filter(
  (state) => !factsOf(state).neverRefund,
) as readonly RefundState[];
/** The states that a payment can be in. */
export const SALE_STATES = statesFrom(
  statesWhere(({ begunBy }) => begunBy !== undefined && begunBy !== 'refund'),
) as readonly PaymentState[];
/** The states that are published as events. */
export const EVENT_STATES = statesWhere(({ published }) => published) as readonly PaymentEventState[];
/** The states without an outcome that can be acted upon. */
export const UNSETTLED_STATES = statesWhere(({ settled }) => !settled) as readonly UnsettledState[];
/** The states that are published but not settled: a person may have to look. */
export const UNCLEAR_STATES = statesWhere(({ settled, published }) => published && !settled);

/** The states that are published as events of refunds. */
export const REFUND_EVENT_STATES = REFUND_STATES.filter(
  (state) => factsOf(state).published,
) as readonly RefundEventState[];

/** The states in which a payment does not hold its order; one whose page is being opened has the lock. */
export const FREE_STATES = statesWhere(({ holdsReference }) => !holdsReference);

/** The unsettled states of payments. */
export const UNSETTLED_SALE_STATES = SALE_STATES.filter(isUnsettled);
/** The unsettled states of refunds. */
export const UNSETTLED_REFUND_STATES = REFUND_STATES.filter(isUnsettled);

function isUnsettled<State extends LedgerState>(state: State): state is State & UnsettledState {
  return !factsOf(state).settled;
}

function statesFrom(first: readonly LedgerState[]): readonly LedgerState[] {
  const reached = new Set(first);
  for (const state of reached)
    for (const next of Object.keys(PAYMENT_STATES[state].to)) reached.add(next as LedgerState);
  return ALL_STATES.filter((state) => reached.has(state));
}

function statesWhere(holds: (row: StateRow) => boolean): readonly LedgerState[] {
  return ALL_STATES.filter((state) => holds(factsOf(state)));
}

/** The row of a state that only a newer release knows. The payment counts as waiting, and is left to that release. */
const ROW_OF_NEWER_RELEASE: StateRow = {
  ...PLAIN,
  to: {},
  money: 'perhaps',
  holdsReference: true,
  holdsPayment: true,
  whenDue: 'nothing',
};

/** The row of a state, even of a state that this release does not know. */
export function factsOf(state: LedgerState): StateRow {
  return isKnownState(state) ? PAYMENT_STATES[state] : ROW_OF_NEWER_RELEASE;
}

/** Whether neither DoPayment nor Auth3d can have been called. */
export function isBeforeMoney(state: LedgerState): boolean {
  const { settled, money } = factsOf(state);
  return !settled && money === 'no';
}

/** Whether the one right to call DoPayment or Auth3d has been taken, and the outcome has not been written yet. */
export function isClaimed(state: LedgerState): boolean {
  return factsOf(state).whenDue === 'interrupt';
}

export function isKnownState(state: string): state is LedgerState {
  return Object.hasOwn(PAYMENT_STATES, state);
}
