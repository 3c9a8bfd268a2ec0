import type { GatewayResult } from '../../lib/gateway/gateway-dialect.js';
import type { ChargeOutcome, InquiryOutcome } from '../../lib/gateway/readings/verdicts.js';
import type { PaymentRecord, PaymentReason } from '../../lib/payment/payment.js';
import { type LedgerState, type PaymentState, SALE_STATES as STATES } from '../../lib/payment/states.js';
import { applyInquiry, applyNotSent, applyOutcome, nextInquiry } from '../../lib/settlement/outcomes.js';
import { RULES } from '../operations/assembled-flows.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const NOW = new Date('2026-03-01T10:00:00Z');
const RESULT = { code: 'X', orderId: 'o-9', amount: '149.90' } as unknown as GatewayResult;

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
      const { createdAt } = record;
      if (next) expect(next).toMatchObject({ version: 4, createdAt, updatedAt: NOW, orderId: 'o-9', chargedAmount });
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

  it.each<[ChargeOutcome['state'], PaymentReason | null, boolean]>([
    ['succeeded', null, false],
    ['review', 'amount_mismatch', false],
    ['review', 'approval_variant', false],
    ['review', 'codes_disagree', false],
    ['review', 'conversation_mismatch', true],
    ['review', 'currency_mismatch', true],
    ['review', 'sign_mismatch', true],
    ['review', 'unbound', true],
    ['unknown', 'unbound', true],
  ])('%s (%s): what it shows may be another payment’s: %s, even if it names this one', (state, reason, isUnproven) => {
    const named = { ...RESULT, conversationId: aPaymentRecord().conversationId };
    for (const kind of ['direct', '3d'] as const) {
      for (const result of [named, { ...named, orderId: null, amount: null }]) {
        const record = aPaymentRecord({ state: 'charging', kind });
        const next = applyOutcome(record, { ...charge(state, reason), result }, RULES, NOW)!;
        expect(next.isUnproven === true).toBe(isUnproven);
      }
    }
  });

  it('schedules an inquiry soon if it is not clear, at once where this instance cannot ask, and none if it is clear', () => {
    const dueIn = (outcome: ChargeOutcome, canInquire = true): number | undefined => {
      const record = aPaymentRecord({ state: 'authorizing', dueAt: NOW });
      const random = { bytes: () => Buffer.alloc(0), fraction: () => 0.5 };
      const { dueAt } = applyOutcome(record, outcome, { ...RULES, random, canInquire }, NOW)!;
      return dueAt ? dueAt.getTime() - NOW.getTime() : undefined;
    };
    expect([dueIn(UNCLEAR), dueIn(UNCLEAR, false)]).toEqual([15_000, 0]);
    expect([APPROVED, DECLINED, MISMATCHED].map((clear) => dueIn(clear))).toEqual([undefined, undefined, undefined]);
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

  describe('"not found"', () => {
    const after = (ms: number): Date => new Date(NOW.getTime() + ms);
    const FAILED: Outcome = ['failed', 'not_found'];
    const STILL: Outcome = ['unknown', 'no_answer'];

    it.each<[string, PaymentReason, [InquiryOutcome, number][], Outcome, Date | null]>([
      ['once is noted, and settles nothing', 'no_answer', [], STILL, NOW],
      ['twice within ten minutes settles nothing; the first counts', 'no_answer', [[NOT_FOUND, 599_999]], STILL, NOW],
      ['twice, ten minutes apart, fails the payment', 'no_answer', [[NOT_FOUND, 600_000]], FAILED, NOW],
      ['begins again after an unclear answer', 'no_answer', [[NOTHING, 300_000]], STILL, null],
      [
        'twice with one between',
        'no_answer',
        [
          [NOTHING, 300_000],
          [NOT_FOUND, 600_000],
        ],
        STILL,
        after(600_000),
      ],
      ['begins again after "unpaid"', 'no_answer', [[{ outcome: 'unpaid' }, 300_000]], STILL, null],
      ['is not taken back by silence', 'no_answer', [[UNANSWERED, 300_000]], STILL, NOW],
      [
        'twice with silence between',
        'no_answer',
        [
          [UNANSWERED, 300_000],
          [NOT_FOUND, 600_000],
        ],
        FAILED,
        NOW,
      ],
      ['is overruled by an approval', 'no_answer', [[PAID, 600_000]], ['succeeded', null], NOW],
      [
        'twice is overruled, too',
        'no_answer',
        [
          [NOT_FOUND, 600_000],
          [PAID, 700_000],
        ],
        ['review', 'moved_after_all'],
        NOW,
      ],
      // The unbound approval may have been for this payment.
      ['twice settles nothing of an unbound approval', 'unbound', [[NOT_FOUND, 600_000]], ['unknown', 'unbound'], NOW],
      ['and a decline of such a one does', 'unbound', [[REFUSED, 600_000]], ['failed', 'declined'], NOW],
      ['and an approval', 'unbound', [[PAID, 600_000]], ['succeeded', null], NOW],
      ['and a contradiction', 'unbound', [[MISMATCH, 600_000]], ['review', 'amount_mismatch'], NOW],
    ])('%s', (_what, reason, answers, becomes, notFoundAt) => {
      let record = applyInquiry(aPaymentRecord({ state: 'unknown', reason }), NOT_FOUND, RULES, at(NOW))!;
      for (const [answer, ms] of answers) record = applyInquiry(record, answer, RULES, at(after(ms)))!;
      expect([summary(record), record.notFoundAt]).toEqual([becomes, notFoundAt]);
      if (record.state === 'unknown') expect(record.inquiries).toBe(answers.length + 1);
      if (becomes === FAILED) expect(record.dueAt).toEqual(after(600_000 + 3_600_000));
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

describe('the next inquiry', () => {
  it.each([
    // After 15 seconds, then after twice as long each time, up to four hours;
    [0, 0.5, 15],
    [1, 0.5, 30],
    [2, 0.5, 60],
    [3, 0.5, 120],
    [9, 0.5, 7_680],
    [10, 0.5, 14_400],
    [20, 0.5, 14_400],
    [1_000, 0.5, 14_400],
    // up to a fifth earlier or later.
    [0, 0, 12],
    [0, 1, 18],
    [1_000, 1, 17_280],
  ])('after %i, with the chance %d, is made in %i seconds', (inquiries, fraction, seconds) => {
    const random = { bytes: () => Buffer.alloc(0), fraction: () => fraction };
    expect(nextInquiry(NOW, inquiries, random).getTime() - NOW.getTime()).toBe(seconds * 1_000);
  });
});
