import type { PaymentReason, PaymentRecord } from '../../lib/payment/payment.js';
import { ALL_STATES, type LedgerState, REFUND_STATES, factsOf, SALE_STATES } from '../../lib/payment/states.js';
import {
  advance,
  pinnedReferenceOf,
  pinReference,
  referenceLockIn,
  withdrawClaim,
} from '../../lib/payment/transitions.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const CREATED = aPaymentRecord().createdAt;
const LATER = new Date('2026-03-01T10:00:00Z');

/** Every transition, written out a second time. */
const NEXT: Readonly<Record<LedgerState, string>> = {
  charging: 'succeeded failed unknown review',
  initiating: 'awaiting pending failed expired',
  awaiting: 'authorizing expired failed',
  authorizing: 'succeeded failed unknown review',
  pending: 'succeeded expired unknown review',
  succeeded: '',
  failed: 'review',
  expired: 'review',
  unknown: 'succeeded expired failed review',
  review: 'succeeded failed',
  refunding: 'succeeded failed unknown review',
};
const STATES = Object.keys(NEXT) as LedgerState[];
const leads = (from: LedgerState, to: LedgerState): boolean => NEXT[from].split(' ').includes(to);

/** The states that hold their reference, those at whose end a date stands, and those before money can move. */
const HOLDING: readonly LedgerState[] = ['charging', 'authorizing', 'pending', 'unknown', 'review', 'succeeded'];
const SETTLED: readonly LedgerState[] = ['succeeded', 'failed', 'expired'];
const BEFORE_MONEY: readonly LedgerState[] = ['initiating', 'awaiting'];

/** What comes of a record, written out a second time, too. */
function advanced(record: PaymentRecord, to: LedgerState, change: object): PaymentRecord {
  const isUnpaid = to === 'failed' || to === 'expired';
  const end = to === record.state ? record.finalizedAt : LATER;
  return {
    ...record,
    reason: null,
    dueAt: null,
    ...change,
    state: to,
    version: record.version + 1,
    updatedAt: LATER,
    finalizedAt: SETTLED.includes(to) ? end : null,
    referenceLock: HOLDING.includes(to) && !record.allowRepeat ? record.reference : null,
    idempotencyKey: isUnpaid && BEFORE_MONEY.includes(record.state) ? null : record.idempotencyKey,
  };
}

describe('the table of states', () => {
  it('knows every state, and which are those of payments and of refunds', () => {
    expect([...ALL_STATES].sort()).toEqual([...STATES].sort());
    expect(SALE_STATES).toEqual(STATES.filter((state) => state !== 'refunding'));
    expect([...REFUND_STATES].sort()).toEqual(['failed', 'refunding', 'review', 'succeeded', 'unknown']);
  });

  it('grants the right to authorize once at most', () => {
    const reachable = (from: LedgerState, seen = new Set<LedgerState>()): Set<LedgerState> => {
      for (const next of Object.keys(factsOf(from).to) as LedgerState[]) {
        if (!seen.has(next)) reachable(next, seen.add(next));
      }
      return seen;
    };
    for (const state of ['charging', 'authorizing'] as const) {
      expect([...reachable(state)]).not.toContain('awaiting');
      expect([...reachable(state)]).not.toContain('authorizing');
      expect([...reachable(state)]).not.toContain('charging');
    }
  });
});

describe('a record', () => {
  const was = { version: 7, dueAt: CREATED, reason: 'declined', note: 'n', idempotencyKey: 'key' } as const;
  const known = { reason: 'no_answer', dueAt: LATER, orderId: 'o-1' } as const;
  /** What changes cannot decide. */
  const sly = { state: 'succeeded', version: 99, finalizedAt: null, referenceLock: 'x', updatedAt: CREATED } as object;

  // In its own state, something more may become known of it; nothing at all changes once it has succeeded.
  it.each(STATES.flatMap((from) => STATES.map((to) => [from, to] as const)))('goes from %s to %s, or not', (...row) => {
    const [from, to] = row;
    expect(to in factsOf(from).to).toBe(leads(from, to));
    for (const other of [{}, { allowRepeat: true }, { reference: null }]) {
      const record = Object.freeze(aPaymentRecord({ state: from, ...was, ...other }));
      const go = (change: object): PaymentRecord => advance(record, to, change, LATER);
      if (leads(from, to) || (from === to && to !== 'succeeded')) {
        for (const change of [{}, known]) expect(go({ ...sly, ...change })).toEqual(advanced(record, to, change));
      } else {
        expect(() => go({})).toThrow(`A payment cannot go from ${from} to ${to}.`);
      }
    }
  });
});

describe('the reference', () => {
  it.each(STATES)('in %s', (state) => {
    const holds = HOLDING.includes(state);
    expect(factsOf(state).holdsReference).toBe(holds);
    const lockOf = (of: Partial<PaymentRecord>): string | null =>
      referenceLockIn(state, { kind: 'direct', reference: 'r', allowRepeat: false, ...of });
    expect([lockOf({}), lockOf({ allowRepeat: true }), lockOf({ reference: null })]).toEqual([
      holds ? 'r' : null,
      null,
      null,
    ]);
    // Two starts at once would open two pages.
    expect(lockOf({ kind: 'hosted' })).toBe(holds || state === 'initiating' ? 'r' : null);
  });

  it.each(REFUND_STATES)('of a refund in %s is its payment', (state) => {
    const holds = ['refunding', 'unknown', 'review'].includes(state);
    for (const kind of ['refund', 'void'] as const) {
      const refund = { kind, parentId: 'p', reference: 'order', allowRepeat: false };
      expect(referenceLockIn(state, refund)).toBe(holds ? 'p' : null);
    }
  });
});

describe('a claim that was withdrawn', () => {
  const EXPIRY = new Date('2026-03-01T10:00:00Z');
  const claimed = aPaymentRecord({ state: 'authorizing', version: 4, expiresAt: EXPIRY });

  it('leaves the payment waiting for the buyer, one version on, and its order free', () => {
    expect(withdrawClaim(claimed, CREATED)).toMatchObject({
      state: 'awaiting',
      version: 5,
      dueAt: EXPIRY,
      referenceLock: null,
      finalizedAt: null,
    });
  });

  it.each(ALL_STATES.filter((state) => state !== 'authorizing'))('is none where the payment is %s', (state) => {
    expect(() => withdrawClaim(aPaymentRecord({ state }), CREATED)).toThrow('has no claim to withdraw');
  });
});

describe('a reference that is pinned', () => {
  const holder = aPaymentRecord({ state: 'charging' });

  it('has no owner any more, and is held by none of the states that its payment goes to', () => {
    const pinned = pinReference(holder);
    expect(pinned).toEqual({ ...holder, referenceLock: null, pinsReference: true });
    expect(pinnedReferenceOf(pinned)).toBe(holder.reference);
    for (const state of HOLDING) expect(referenceLockIn(state, pinned)).toBeNull();
    expect(advance(pinned, 'succeeded', {}, LATER)).toMatchObject({ referenceLock: null, pinsReference: true });
  });

  it('is none of a payment that has pinned nothing', () => {
    expect(pinnedReferenceOf(holder)).toBeNull();
    expect(referenceLockIn('charging', holder)).toBe(holder.reference);
  });
});

describe('the key of a payment', () => {
  it.each<[reason: PaymentReason, key: string | null]>([
    ['not_sent', null],
    ['reference_taken', null],
    ['vetoed', null],
    ['declined', 'key'],
  ])('that failed because of %s is %p afterwards', (reason, key) => {
    const charging = aPaymentRecord({ state: 'charging', idempotencyKey: 'key' });
    expect(advance(charging, 'failed', { reason }, LATER).idempotencyKey).toBe(key);
  });
});
