import type { InquiryOutcome } from '../../lib/gateway/readings/verdicts.js';
import type { GatewayResult } from '../../lib/gateway/gateway-dialect.js';
import { applyAbandoned, applyPageInquiry, nextPageInquiry } from '../../lib/settlement/page-outcomes.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { RULES } from '../operations/assembled-flows.js';
import { SALE_STATES } from '../../lib/payment/states.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const CREATED = new Date('2026-03-01T10:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const after = (ms: number): Date => new Date(CREATED.getTime() + ms);
/** The page ends twenty minutes after it was made. */
const END = after(20 * MINUTE);

const RESULT = { code: 'B0000', amount: '149.90', conversationId: 'ABC00000000000000001' } as unknown as GatewayResult;
const DECLINED_RESULT = { code: 'B0051', message: 'no funds', amount: '149.90' } as unknown as GatewayResult;
const PAID: InquiryOutcome = {
  outcome: 'paid',
  isBound: false,
  charge: { state: 'succeeded', reason: null, result: RESULT },
};
const MISMATCH: InquiryOutcome = {
  outcome: 'mismatch',
  charge: { state: 'review', reason: 'amount_mismatch', result: RESULT },
};
const DECLINED: InquiryOutcome = {
  outcome: 'declined',
  charge: { state: 'failed', reason: 'declined', result: DECLINED_RESULT },
};
const NOT_FOUND: InquiryOutcome = { outcome: 'not_found' };
const NOT_PAID_YET: InquiryOutcome = { outcome: 'unpaid' };
const UNCLEAR: InquiryOutcome = { outcome: 'unclear' };
const UNANSWERED: InquiryOutcome = { outcome: 'unanswered' };
const UNPAID = [DECLINED, NOT_FOUND, NOT_PAID_YET];

const page = (fields: Partial<PaymentRecord> = {}): PaymentRecord =>
  aPaymentRecord({ state: 'pending', kind: 'hosted', createdAt: CREATED, expiresAt: END, redirectUrl: 'u', ...fields });

function ask(record: PaymentRecord, inquiry: InquiryOutcome | null, at: Date): PaymentRecord | null {
  return applyPageInquiry(record, inquiry, RULES, { answeredAt: at, now: at });
}

test('an approval ends the page at any time, and its address is forgotten', () => {
  for (const at of [after(1), END, after(30 * HOUR)]) {
    for (const state of ['pending', 'unknown'] as const) {
      expect(ask(page({ state }), PAID, at)).toMatchObject({ state: 'succeeded', redirectUrl: undefined });
      expect(ask(page({ state }), MISMATCH, at)).toMatchObject({ state: 'review', reason: 'amount_mismatch' });
    }
    expect(ask(page({ state: 'expired' }), PAID, at)).toMatchObject({ state: 'review', reason: 'moved_after_all' });
  }
});

test('before the end, no answer that nothing was paid ends the page', () => {
  for (const said of UNPAID) {
    const first = ask(page(), said, after(MINUTE)) ?? page();
    const second = ask(first, said, after(15 * MINUTE)) ?? first;
    expect(second).toMatchObject({ state: 'pending', notFoundAt: null });
  }
});

test('a decline is shown, without what it says that was charged, until the gateway says something else', () => {
  const declined = ask(page(), DECLINED, after(MINUTE))!;
  expect(declined).toMatchObject({ state: 'pending', reason: 'declined', code: 'B0051', chargedAmount: null });
  expect(ask(declined, DECLINED, after(2 * MINUTE))).toBeNull();
  expect(ask(declined, NOT_PAID_YET, after(3 * MINUTE))).toMatchObject({ state: 'pending', reason: null });
  expect(ask(declined, PAID, after(4 * MINUTE))).toMatchObject({ state: 'succeeded' });
});

test('an answer that says nothing new leaves no trace', () => {
  for (const said of [NOT_FOUND, NOT_PAID_YET, UNCLEAR, null]) expect(ask(page(), said, after(MINUTE))).toBeNull();
});

test.each(['pending', 'unknown'] as const)(
  'after the end, two answers ten minutes apart that nothing was paid end a page that is %s',
  (state) => {
    for (const said of UNPAID) {
      const first = ask(page({ state }), said, after(21 * MINUTE))!;
      expect(first).toMatchObject({ state, notFoundAt: after(21 * MINUTE), dueAt: after(31 * MINUTE) });
      expect(ask(first, said, after(31 * MINUTE - 1)) ?? first).toMatchObject({ state });
      const ended = ask(first, said, after(31 * MINUTE))!;
      expect(ended).toMatchObject({ state: 'expired', reason: null, referenceLock: null, redirectUrl: undefined });
    }
  },
);

test('an answer that does not say between the two takes the first one back', () => {
  const first = ask(page(), NOT_FOUND, after(21 * MINUTE))!;
  const between = ask(first, UNCLEAR, after(25 * MINUTE))!;
  expect(between).toMatchObject({ state: 'pending', notFoundAt: null });
  expect(ask(between, NOT_FOUND, after(40 * MINUTE))).toMatchObject({ state: 'pending' });
  for (const none of [null, UNANSWERED]) expect(ask(first, none, after(25 * MINUTE))).toBeNull();
});

test('after a day without a word it is unknown; a word that nothing was paid is no silence', () => {
  for (const said of [null, UNANSWERED, UNCLEAR]) {
    expect(ask(page(), said, after(24 * HOUR))?.state ?? 'pending').toBe('pending');
    const silent = ask(page(), said, after(24 * HOUR + 20 * MINUTE))!;
    expect(silent).toMatchObject({ state: 'unknown', reason: 'no_answer' });
    expect(silent.dueAt).not.toBeNull();
    expect(ask(silent, said, after(100 * HOUR))?.state ?? 'unknown').toBe('unknown');
  }
  expect(ask(page(), NOT_FOUND, after(48 * HOUR))).toMatchObject({ state: 'pending' });
  expect(ask(page({ notFoundAt: after(47 * HOUR) }), null, after(48 * HOUR))).toBeNull();
});

test('what ended unpaid is asked about again after 1, 6, 24, 48 and 72 hours, and then no more', () => {
  let record = ask(page({ notFoundAt: END }), NOT_FOUND, after(HOUR))!;
  const waits: number[] = [];
  while (record.dueAt) {
    waits.push((record.dueAt.getTime() - after(HOUR).getTime()) / HOUR);
    record = ask(record, NOT_FOUND, record.dueAt)!;
    expect(record).toMatchObject({ state: 'expired', finalizedAt: after(HOUR) });
  }
  expect(waits).toEqual([1, 6, 24, 48, 72]);
  expect(ask(record, NOT_FOUND, after(500 * HOUR))).toBeNull();
  expect(ask(record, PAID, after(500 * HOUR))).toMatchObject({ state: 'review', reason: 'moved_after_all' });
});

test('what ended unpaid and is approved in any way is in review; an answer that says neither is made up for', () => {
  const BARE: InquiryOutcome = {
    outcome: 'approval',
    charge: { state: 'review', reason: 'moved_after_all', result: RESULT },
  };
  for (const state of ['expired', 'failed'] as const) {
    const ended = page({ state, finalizedAt: after(HOUR), dueAt: after(2 * HOUR) });
    expect(ask(ended, BARE, after(2 * HOUR))).toMatchObject({ state: 'review', reason: 'moved_after_all' });
    let record = ended;
    for (let hour = 2; record.dueAt; hour += 1) {
      expect(record.dueAt).toEqual(after(hour * HOUR));
      record = ask(record, UNCLEAR, record.dueAt)!;
      expect(record).toMatchObject({ state });
      expect(hour).toBeLessThan(200);
    }
  }
  expect(ask(page(), BARE, after(MINUTE))).toBeNull();
});

test.each(['pending', 'unknown', 'expired', 'failed'] as const)(
  'silence about a page that is %s says nothing',
  (state) => {
    const left = page({ state, finalizedAt: after(HOUR), dueAt: after(2 * HOUR) });
    for (const none of [null, UNANSWERED]) expect(ask(left, none, after(2 * HOUR))).toBeNull();
  },
);

test('a decline leaves no ids of its own in an open page', () => {
  const withIds = { ...DECLINED_RESULT, orderId: 'o-1', paymentId: 'p-1' };
  const said: InquiryOutcome = {
    outcome: 'declined',
    charge: { state: 'failed', reason: 'declined', result: withIds },
  };
  expect(ask(page(), said, after(MINUTE))).toMatchObject({ code: 'B0051', orderId: null, paymentId: null });
});

test('a gateway that goes silent after its first word is no less silent', () => {
  const first = ask(page(), NOT_FOUND, after(HOUR))!;
  expect(ask(first, null, after(24 * HOUR))).toBeNull();
  expect(ask(first, null, after(26 * HOUR))).toMatchObject({ state: 'unknown', reason: 'no_answer' });
});

test('given up, one answer that nothing was paid ends it; any other answer, or none, does not', () => {
  const abandon = (inquiry: InquiryOutcome | null) =>
    applyAbandoned(page(), inquiry, RULES, { answeredAt: after(MINUTE), now: after(MINUTE) });
  for (const said of UNPAID) {
    expect(abandon(said)).toMatchObject({ state: 'expired', reason: 'abandoned', dueAt: after(MINUTE + HOUR) });
  }
  expect(abandon(PAID)).toMatchObject({ state: 'succeeded' });
  expect(abandon(MISMATCH)).toMatchObject({ state: 'review' });
  for (const said of [UNCLEAR, UNANSWERED, null]) expect(abandon(said)).toBeNull();
});

test('what has ended otherwise, or has no page, is left alone', () => {
  const left = SALE_STATES.filter((state) => !['pending', 'unknown', 'expired', 'failed'].includes(state));
  for (const state of left) {
    for (const said of [...UNPAID, UNCLEAR, null]) {
      expect(ask(page({ state }), said, after(48 * HOUR))).toBeNull();
    }
  }
});

test('an open page is asked about after a minute, then ever more seldom, at its end, and never later than in four hours', () => {
  const next = (at: Date, expiresAt = END) => {
    const due = nextPageInquiry({ createdAt: CREATED, expiresAt, notFoundAt: null }, at, RULES.random);
    return (due.getTime() - at.getTime()) / MINUTE;
  };
  expect(next(after(0))).toBeGreaterThanOrEqual(0.8);
  expect(next(after(0))).toBeLessThanOrEqual(1.2);
  expect(next(after(8 * MINUTE))).toBeGreaterThanOrEqual(6.4);
  expect(next(after(15 * MINUTE))).toBe(5);
  expect(next(after(90 * HOUR))).toBeLessThanOrEqual(4.8 * 60);
});
