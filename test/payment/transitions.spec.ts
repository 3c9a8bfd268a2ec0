import fc from 'fast-check';
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
const PAIRS = STATES.flatMap((from) => STATES.filter((to) => to !== from).map((to) => [from, to] as const));

describe('the table of states', () => {
  it('knows every state', () => {
    expect([...ALL_STATES].sort()).toEqual([...STATES].sort());
  });

  it('tells the states of payments from those of refunds', () => {
    expect(SALE_STATES).toEqual(STATES.filter((state) => state !== 'refunding'));
    expect([...REFUND_STATES].sort()).toEqual(['failed', 'refunding', 'review', 'succeeded', 'unknown']);
  });

  it.each(PAIRS)('%s to %s', (from, to) => {
    const isAllowed = leads(from, to);
    const go = (): PaymentRecord => advance(aPaymentRecord({ state: from }), to, {}, LATER);
    if (isAllowed) expect(go().state).toBe(to);
    else expect(go).toThrow(`A payment cannot go from ${from} to ${to}.`);
    expect(to in factsOf(from).to).toBe(isAllowed);
  });

  it.each(STATES.filter((state) => state !== 'succeeded'))('lets something become known of %s', (state) => {
    const next = advance(aPaymentRecord({ state }), state, { orderId: 'o-1' }, LATER);
    expect(next).toMatchObject({ state, orderId: 'o-1', version: 4, updatedAt: LATER });
  });

  it('lets nothing at all change once a payment has succeeded', () => {
    for (const to of STATES)
      expect(() => advance(aPaymentRecord({ state: 'succeeded' }), to, {}, LATER)).toThrow('cannot go');
  });
});

describe('advance', () => {
  it('leaves the record it was given as it was', () => {
    const record = Object.freeze(aPaymentRecord({ state: 'charging' }));
    const before = structuredClone(record);
    advance(record, 'failed', { reason: 'declined' }, LATER);
    expect(record).toEqual(before);
  });

  it('counts the version, dates the change, and keeps what did not change', () => {
    const changing = { dueAt: CREATED, reason: 'declined' } as const;
    const record = aPaymentRecord({ state: 'awaiting', ...changing, note: 'n', expiresAt: LATER });
    expect(advance(record, 'authorizing', {}, LATER)).toEqual({
      ...record,
      state: 'authorizing',
      referenceLock: 'order-1',
      version: 4,
      updatedAt: LATER,
      reason: null,
      dueAt: null,
    });
  });

  it('keeps the reason and the due date that it is given', () => {
    const change = { reason: 'no_answer', dueAt: LATER } as const;
    expect(advance(aPaymentRecord({ state: 'charging' }), 'unknown', change, LATER)).toMatchObject(change);
  });

  it('cannot be talked into another state, version or identity by what changes', () => {
    const sly = {
      state: 'succeeded',
      version: 99,
      finalizedAt: null,
      referenceLock: 'x',
      updatedAt: CREATED,
    } as object;
    const own = { state: 'failed', version: 4, finalizedAt: LATER, referenceLock: null, updatedAt: LATER };
    expect(advance(aPaymentRecord({ state: 'charging' }), 'failed', sly, LATER)).toMatchObject(own);
  });

  it.each(STATES)('dates the end of a payment that comes to %s, and of no other', (to) => {
    const from = STATES.find((state) => leads(state, to));
    if (!from) return expect(['charging', 'initiating', 'refunding']).toContain(to);
    expect(advance(aPaymentRecord({ state: from }), to, {}, LATER).finalizedAt).toEqual(
      factsOf(to).settled ? LATER : null,
    );
  });

  it('keeps the date of the end when only something more became known', () => {
    expect(advance(aPaymentRecord({ state: 'failed' }), 'failed', { orderId: 'o-1' }, LATER).finalizedAt).toEqual(
      CREATED,
    );
  });

  it('is not at its end any more once money moved after all', () => {
    expect(advance(aPaymentRecord({ state: 'expired' }), 'review', {}, LATER).finalizedAt).toBeNull();
  });
});

/** The states that hold their reference, written out a second time, too. */
const HOLDING: readonly LedgerState[] = ['charging', 'authorizing', 'pending', 'unknown', 'review', 'succeeded'];

describe('the reference', () => {
  it.each(STATES)('in %s', (state) => {
    const holds = HOLDING.includes(state);
    expect(factsOf(state).holdsReference).toBe(holds);
    const kind = 'direct';
    expect(referenceLockIn(state, { kind, reference: 'r', allowRepeat: false })).toBe(holds ? 'r' : null);
    expect(referenceLockIn(state, { kind, reference: 'r', allowRepeat: true })).toBeNull();
    expect(referenceLockIn(state, { kind, reference: null, allowRepeat: false })).toBeNull();
    // Two starts at once would open two pages.
    const holdsOfPage = holds || state === 'initiating';
    expect(referenceLockIn(state, { kind: 'hosted', reference: 'r', allowRepeat: false })).toBe(
      holdsOfPage ? 'r' : null,
    );
  });

  it.each(REFUND_STATES)('of a refund in %s is its payment', (state) => {
    const holds = ['refunding', 'unknown', 'review'].includes(state);
    for (const kind of ['refund', 'void'] as const) {
      const refund = { kind, parentId: 'p', reference: 'order', allowRepeat: false };
      expect(referenceLockIn(state, refund)).toBe(holds ? 'p' : null);
    }
  });
});

function nextOf(record: PaymentRecord, to: LedgerState, now: Date): PaymentRecord | null {
  try {
    return advance(record, to, {}, now);
  } catch {
    return null;
  }
}

describe('any walk', () => {
  it('keeps the promises of the table', () => {
    const walk = fc.record({
      start: fc.constantFrom<LedgerState>('charging', 'initiating'),
      steps: fc.array(fc.record({ to: fc.constantFrom(...STATES), after: fc.nat(10_000) }), { maxLength: 30 }),
      allowRepeat: fc.boolean(),
      reference: fc.option(fc.string({ minLength: 1 })),
    });
    fc.assert(
      fc.property(walk, ({ start, steps, allowRepeat, reference }) => {
        let record = aPaymentRecord({ state: start, version: 1, allowRepeat, reference });
        let now = CREATED.getTime();
        for (const { to, after } of steps) {
          now += after;
          // `expect` costs a hundred times what a step does, so all that is wrong with one is compared at once.
          const isAllowed = to !== 'succeeded' && to === record.state ? true : leads(record.state, to);
          const next = nextOf(record, to, new Date(now));
          if ((next !== null) !== isAllowed) throw new Error(`${record.state} to ${to}: ${next !== null}`);
          if (!next) continue;
          const isNew = next.state !== record.state;
          const { settled, holdsReference } = factsOf(next.state);
          const wrong = Object.entries({
            'has changed after its end': record.state === 'succeeded',
            version: next.version !== record.version + 1,
            updatedAt: next.updatedAt.getTime() !== now,
            createdAt: next.createdAt !== record.createdAt,
            conversationId: next.conversationId !== record.conversationId,
            finalizedAt: (next.finalizedAt !== null) !== (settled && (isNew || record.finalizedAt !== null)),
            referenceLock: next.referenceLock !== (holdsReference && !allowRepeat ? reference : null),
            'begins again': isNew && ['charging', 'initiating'].includes(next.state),
            'authorizes without a buyer': isNew && next.state === 'authorizing' && record.state !== 'awaiting',
          }).filter(([, isWrong]) => isWrong);
          if (wrong.length > 0) throw new Error(`${record.state} to ${to}: ${String(wrong)}`);
          record = next;
        }
      }),
      { numRuns: 2_000 },
    );
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
  it.each<[from: LedgerState, to: LedgerState, reason: PaymentReason | null, isFree: boolean]>([
    ['charging', 'failed', 'not_sent', true],
    ['charging', 'failed', 'reference_taken', true],
    ['charging', 'failed', 'vetoed', true],
    ['charging', 'failed', 'declined', false],
    ['charging', 'unknown', 'no_answer', false],
    ['authorizing', 'failed', 'declined', false],
    ['awaiting', 'expired', null, true],
    ['awaiting', 'authorizing', null, false],
    ['unknown', 'expired', 'not_found', false],
  ])('that goes from %s to %s because of %s may be used again: %s', (from, to, reason, isFree) => {
    const next = advance(aPaymentRecord({ state: from, idempotencyKey: 'key' }), to, { reason }, LATER);
    expect(next.idempotencyKey).toBe(isFree ? null : 'key');
  });
});
