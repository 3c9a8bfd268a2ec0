import type { GatewayResult } from '../../lib/gateway/gateway-dialect.js';
import type { ChargeOutcome } from '../../lib/gateway/readings/outcomes.js';
import type { InquiryOutcome } from '../../lib/gateway/readings/outcomes.js';
import type { PaymentRecord, PaymentReason } from '../../lib/payment/payment.js';
import type { LedgerState, PaymentState } from '../../lib/payment/states.js';
import { applyInquiry, applyNotSent, applyOutcome } from '../../lib/settlement/outcomes.js';
import { RULES } from '../operations/assembled-flows.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const NOW = new Date('2026-03-01T10:00:00Z');
const RESULT = { code: 'X', orderId: 'o-9', amount: '149.90' } as unknown as GatewayResult;

const STATES: readonly PaymentState[] = [
  'charging',
  'initiating',
  'awaiting',
  'authorizing',
  'pending',
  'succeeded',
  'failed',
  'expired',
  'unknown',
  'review',
];

function charge(state: ChargeOutcome['state'], reason: PaymentReason | null): ChargeOutcome {
  return { state, reason, result: RESULT };
}
const APPROVED = charge('succeeded', null);
const DECLINED = { ...charge('failed', 'declined'), isPlain: true } as const;
const UNCLEAR = charge('unknown', 'no_answer');
const UNBOUND = charge('unknown', 'unbound');
const MISMATCHED = charge('review', 'amount_mismatch');

type Outcome = readonly [LedgerState, PaymentReason | null] | null;
const OPEN: readonly Outcome[] = [
  ['succeeded', null],
  ['failed', 'declined'],
  ['unknown', 'no_answer'],
  ['review', 'amount_mismatch'],
];
const ENDED: readonly Outcome[] = [['review', 'moved_after_all'], null, null, ['review', 'amount_mismatch']];
const UNTOUCHED: readonly Outcome[] = [null, null, null, null];

/** The results of an approval, a decline, no clear answer, and an approval of another amount. */
const OUTCOMES: Readonly<Record<PaymentState, readonly Outcome[]>> = {
  charging: OPEN,
  authorizing: OPEN,
  pending: [['succeeded', null], null, null, ['review', 'amount_mismatch']],
  unknown: [['succeeded', null], ['failed', 'declined'], null, ['review', 'amount_mismatch']],
  failed: ENDED,
  expired: ENDED,
  initiating: UNTOUCHED,
  awaiting: UNTOUCHED,
  review: UNTOUCHED,
  succeeded: UNTOUCHED,
};

/** An answer that is stored as soon as it is received. */
function at(now: Date): { now: Date; answeredAt: Date } {
  return { now, answeredAt: now };
}

function summary(record: PaymentRecord | null): Outcome {
  return record && [record.state, record.reason];
}

describe('the outcome of a DoPayment or an Auth3d', () => {
  it.each(STATES)('changes a payment that is %s as the table of outcomes says', (state) => {
    const outcomes = [APPROVED, DECLINED, UNCLEAR, MISMATCHED].map((given) => {
      const record = aPaymentRecord({ state, reason: 'interrupted' });
      const next = applyOutcome(record, given, RULES, NOW);
      const chargedAmount = given === APPROVED || given === MISMATCHED ? '149.90' : null;
      if (next) expect(next).toMatchObject({ version: 4, updatedAt: NOW, orderId: 'o-9', chargedAmount });
      return summary(next);
    });
    expect(outcomes).toEqual(OUTCOMES[state]);
  });

  it('that may belong to another payment is inquired about, and keeps its code and ids', () => {
    const outcomes = STATES.map((state) => {
      const next = applyOutcome(aPaymentRecord({ state, reason: 'interrupted', dueAt: NOW }), UNBOUND, RULES, NOW);
      if (next) expect(next).toMatchObject({ code: 'X', orderId: 'o-9', chargedAmount: null });
      if (next?.state === 'unknown') expect(next.dueAt).not.toBeNull();
      return [state, summary(next)];
    });
    expect(Object.fromEntries(outcomes)).toEqual({
      charging: ['unknown', 'unbound'],
      authorizing: ['unknown', 'unbound'],
      unknown: ['unknown', 'unbound'],
      failed: ['review', 'unbound'],
      expired: ['review', 'unbound'],
      initiating: null,
      awaiting: null,
      pending: null,
      review: null,
      succeeded: null,
    });
    expect(applyOutcome(aPaymentRecord({ state: 'unknown', reason: 'unbound' }), UNBOUND, RULES, NOW)).toBeNull();
  });

  it('schedules an inquiry soon if it is not clear', () => {
    const { dueAt } = applyOutcome(aPaymentRecord({ state: 'charging' }), UNCLEAR, RULES, NOW)!;
    const delayMs = dueAt!.getTime() - NOW.getTime();
    expect(delayMs).toBeGreaterThanOrEqual(12_000);
    expect(delayMs).toBeLessThanOrEqual(18_000);
  });

  it('schedules no inquiry if it is clear; one that is not is due even where this instance cannot ask', () => {
    const record = aPaymentRecord({ state: 'authorizing', dueAt: NOW });
    expect(applyOutcome(record, UNCLEAR, { ...RULES, canInquire: false }, NOW)!.dueAt).not.toBeNull();
    for (const clear of [APPROVED, DECLINED, MISMATCHED]) {
      expect(applyOutcome(record, clear, RULES, NOW)!.dueAt).toBeNull();
    }
  });

  it('is applied even without a result', () => {
    const noAnswer = { state: 'unknown', reason: 'no_answer', result: null } as const;
    expect(applyOutcome(aPaymentRecord({ state: 'charging' }), noAnswer, RULES, NOW)).toMatchObject({
      orderId: null,
      code: null,
    });
  });
});

const PAID: InquiryOutcome = { outcome: 'paid', isBound: true, charge: APPROVED };
const REFUSED: InquiryOutcome = { outcome: 'declined', charge: DECLINED };
const MISMATCH: InquiryOutcome = { outcome: 'mismatch', charge: MISMATCHED };
const NOT_FOUND: InquiryOutcome = { outcome: 'not_found' };
const NOTHING: InquiryOutcome = { outcome: 'unclear' };
const UNANSWERED: InquiryOutcome = { outcome: 'unanswered' };

describe('the answer to an inquiry', () => {
  const UNCHANGED: Outcome = ['unknown', 'interrupted'];
  /** The results of paid, declined, mismatch, not_found (for the first time) and nothing. */
  const RESULTS: Readonly<Record<PaymentState, readonly Outcome[]>> = {
    charging: [['succeeded', null], null, null, null, null],
    authorizing: [['succeeded', null], null, null, null, null],
    pending: [['succeeded', null], null, ['review', 'amount_mismatch'], null, null],
    unknown: [['succeeded', null], ['failed', 'declined'], ['review', 'amount_mismatch'], UNCHANGED, UNCHANGED],
    failed: [['review', 'moved_after_all'], null, ['review', 'amount_mismatch'], null, null],
    expired: [['review', 'moved_after_all'], null, ['review', 'amount_mismatch'], null, null],
    initiating: [null, null, null, null, null],
    awaiting: [null, null, null, null, null],
    review: [null, null, null, null, null],
    succeeded: [null, null, null, null, null],
  };

  it.each(STATES)('changes a payment that is %s as the table of results says', (state) => {
    const outcomes = [PAID, REFUSED, MISMATCH, NOT_FOUND, NOTHING].map((answer) =>
      summary(applyInquiry(aPaymentRecord({ state, reason: 'interrupted' }), answer, RULES, at(NOW))),
    );
    expect(outcomes).toEqual(RESULTS[state]);
  });

  it.each(STATES)(
    'that is paid but unbound settles a payment that is %s only if no answer to Auth3d is outstanding',
    (state) => {
      const answer: InquiryOutcome = { ...PAID, isBound: false };
      const summaryOf = (reason: PaymentReason): Outcome | null =>
        summary(applyInquiry(aPaymentRecord({ state, reason }), answer, RULES, at(NOW)));
      expect(summaryOf('interrupted')).toEqual(state === 'authorizing' ? null : RESULTS[state][0]);
      if (state === 'unknown') expect(summaryOf('unbound')).toEqual(['unknown', 'unbound']);
    },
  );

  it('is counted, and the next inquiry is scheduled at a growing interval', () => {
    const record = aPaymentRecord({ state: 'unknown', reason: 'no_answer', inquiries: 4 });
    const next = applyInquiry(record, NOTHING, RULES, at(NOW))!;
    expect(next).toMatchObject({ inquiries: 5, notFoundAt: null, reason: 'no_answer' });
    expect(next.dueAt!.getTime() - NOW.getTime()).toBeGreaterThanOrEqual(0.8 * 15_000 * 2 ** 5);
    expect(next.dueAt!.getTime() - NOW.getTime()).toBeLessThanOrEqual(1.2 * 15_000 * 2 ** 5);
  });

  it('never fails a payment because time went by', () => {
    let record = aPaymentRecord({ state: 'unknown', reason: 'interrupted' });
    let now = NOW.getTime();
    for (let inquiries = 0; inquiries < 500; inquiries += 1) {
      now += 30 * 86_400_000;
      record = applyInquiry(record, NOTHING, RULES, at(new Date(now)))!;
    }
    expect(record).toMatchObject({ state: 'unknown', reason: 'interrupted', inquiries: 500 });
  });

  describe('"not found",', () => {
    let first: PaymentRecord;
    beforeEach(() => {
      first = applyInquiry(aPaymentRecord({ state: 'unknown', reason: 'no_answer' }), NOT_FOUND, RULES, at(NOW))!;
    });
    const after = (ms: number): Date => new Date(NOW.getTime() + ms);

    it('given once, is recorded and settles nothing', () => {
      expect(first).toMatchObject({ state: 'unknown', notFoundAt: NOW, inquiries: 1 });
    });

    it('given twice within ten minutes, settles nothing, and the time of the first is kept', () => {
      expect(applyInquiry(first, NOT_FOUND, RULES, at(after(599_999)))).toMatchObject({
        state: 'unknown',
        notFoundAt: NOW,
      });
    });

    it('given twice, ten minutes apart, fails the payment', () => {
      expect(applyInquiry(first, NOT_FOUND, RULES, at(after(600_000)))).toMatchObject({
        state: 'failed',
        reason: 'not_found',
        dueAt: after(600_000 + 3_600_000),
      });
    });

    it('given twice, is not confirmed if another answer came between; none, or an error, is no answer', () => {
      const between = (answer: InquiryOutcome) => applyInquiry(first, answer, RULES, at(after(300_000)))!;
      for (const [answer, notFoundAt, state] of [
        [NOTHING, null, 'unknown'],
        [{ outcome: 'unpaid' }, null, 'unknown'],
        [UNANSWERED, NOW, 'failed'],
      ] as const) {
        expect(between(answer)).toMatchObject({ state: 'unknown', notFoundAt, inquiries: 2 });
        expect(applyInquiry(between(answer), NOT_FOUND, RULES, at(after(600_000)))).toMatchObject({ state });
      }
    });

    it('given twice, settles nothing after an unbound approval, which may have been for this payment', () => {
      const unbound = aPaymentRecord({ state: 'unknown', reason: 'unbound' });
      const once = applyInquiry(unbound, NOT_FOUND, RULES, at(NOW))!;
      expect(summary(applyInquiry(once, NOT_FOUND, RULES, at(after(600_000))))).toEqual(['unknown', 'unbound']);
      expect(summary(applyInquiry(once, REFUSED, RULES, at(after(600_000))))).toEqual(['failed', 'declined']);
      expect(summary(applyInquiry(once, PAID, RULES, at(after(600_000))))).toEqual(['succeeded', null]);
      expect(summary(applyInquiry(once, MISMATCH, RULES, at(after(600_000))))).toEqual(['review', 'amount_mismatch']);
    });

    it('given once, is overruled by an approval', () => {
      expect(applyInquiry(first, PAID, RULES, at(after(600_000)))!.state).toBe('succeeded');
    });

    it('given twice, is overruled by an approval that comes later', () => {
      const failed = applyInquiry(first, NOT_FOUND, RULES, at(after(600_000)))!;
      expect(summary(applyOutcome(failed, APPROVED, RULES, after(700_000)))).toEqual(['review', 'moved_after_all']);
    });
  });
});

describe('a request that was never sent', () => {
  it.each(STATES)('fails a payment that is %s only if its outcome is open', (state) => {
    const next = applyNotSent(aPaymentRecord({ state, idempotencyKey: 'key-1' }), NOW);
    const isOpen = ['charging', 'initiating', 'authorizing', 'unknown'].includes(state);
    expect(summary(next)).toEqual(isOpen ? ['failed', 'not_sent'] : null);
    if (next) expect(next).toMatchObject({ idempotencyKey: null, referenceLock: null, finalizedAt: NOW, dueAt: null });
  });
});

describe('settling', () => {
  it('does not change createdAt', () => {
    const record = aPaymentRecord({ state: 'charging' });
    expect(applyOutcome(record, APPROVED, RULES, NOW)!.createdAt).toBe(record.createdAt);
  });
});
