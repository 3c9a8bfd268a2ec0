import type { GatewayResult } from '../../lib/gateway/gateway-dialect.js';
import type { ChargeOutcome, InquiryOutcome } from '../../lib/gateway/readings/verdicts.js';
import type { PaymentReason, PaymentRecord } from '../../lib/payment/payment.js';
import { ALL_STATES, type LedgerState } from '../../lib/payment/states.js';
import {
  applyInquiry,
  applyNotSent,
  applyOutcome,
  endWithoutPage,
  nextInquiry,
  type SettlementRules,
} from '../../lib/settlement/outcomes.js';
import { applyAbandoned, applyPageInquiry, nextPageInquiry } from '../../lib/settlement/page-outcomes.js';
import { resultChanges } from '../../lib/settlement/result-fields.js';
import { NO_RESULT } from '../gateway/no-result.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';

const TEXTS = new ExpectedTexts(import.meta.url);
const CREATED = new Date('2026-03-01T10:00:00Z');
/** In minutes after the payment was made; a page ends after twenty. */
const END = 20;
const DAY = 24 * 60;
const at = (minutes: number): Date => new Date(CREATED.getTime() + minutes * 60_000);

/** With the chance in the middle, unless a case says otherwise. */
const rules = (more: Partial<SettlementRules> = {}, fraction = 0.5): SettlementRules => ({
  dateOrder: 'dmy',
  canInquire: true,
  random: { bytes: () => Buffer.alloc(0), fraction: () => fraction },
  ...more,
});
const RULES = rules();

const RESULT = { ...NO_RESULT, code: 'X', message: 'said', orderId: 'o-9', amount: '149.90' };
const charge = (state: ChargeOutcome['state'], reason: PaymentReason | null, more = {}): ChargeOutcome => {
  return { state, reason, result: RESULT, ...more };
};
const CHARGES: Readonly<Record<string, ChargeOutcome>> = {
  'an approval': charge('succeeded', null),
  'a plain decline': charge('failed', 'declined', { isPlain: true }),
  'a refusal': charge('failed', 'refused'),
  'no answer': charge('unknown', 'no_answer', { result: null }),
  'an unbound approval': charge('unknown', 'unbound'),
  'another amount': charge('review', 'amount_mismatch'),
};
const [APPROVAL, DECLINE, , , , OTHER_AMOUNT] = Object.values(CHARGES) as [ChargeOutcome, ...ChargeOutcome[]];
const INQUIRIES: Readonly<Record<string, InquiryOutcome | null>> = {
  paid: { outcome: 'paid', isBound: true, charge: APPROVAL },
  'paid, unbound': { outcome: 'paid', isBound: false, charge: APPROVAL },
  declined: { outcome: 'declined', charge: DECLINE! },
  mismatch: { outcome: 'mismatch', charge: OTHER_AMOUNT! },
  'some approval': { outcome: 'approval', charge: charge('review', 'moved_after_all') },
  'not found': { outcome: 'not_found' },
  unpaid: { outcome: 'unpaid' },
  unclear: { outcome: 'unclear' },
  unanswered: { outcome: 'unanswered' },
  silence: null,
};

type Apply = (record: PaymentRecord, now: Date) => PaymentRecord | null;
const inquiring =
  (inquiry: InquiryOutcome | null, apply = applyInquiry): Apply =>
  (record, now) =>
    apply(record, inquiry, RULES, { now, answeredAt: now });

/** A payment by its card, which was made an hour before, or one at a page. */
function recordOf(state: LedgerState, more: Partial<PaymentRecord> = {}): PaymentRecord {
  const [made, dueAt] = [{ createdAt: CREATED, updatedAt: CREATED }, at(60)];
  const isRefund = state === 'refunding' && ({ kind: 'refund', parentId: 'p' } as const);
  return aPaymentRecord({ state, reason: 'interrupted', dueAt, idempotencyKey: 'key', ...made, ...isRefund, ...more });
}

function pageOf(state: LedgerState, more: Partial<PaymentRecord> = {}): PaymentRecord {
  const page = { kind: 'hosted', expiresAt: at(END), redirectUrl: 'u', reason: null } as const;
  return recordOf(state, { ...page, ...(state === 'unknown' && { reason: 'no_answer' }), ...more });
}

/** What has changed, but for the next version and the time of the change. */
function changesOf(before: PaymentRecord, after: PaymentRecord | null, now: Date): string {
  if (!after) return 'nothing';
  const usual: Partial<PaymentRecord> = { version: before.version + 1, updatedAt: now };
  const changes = Object.entries(after).flatMap(([name, value]) => {
    const was = name in usual ? usual[name as 'version'] : before[name as keyof PaymentRecord];
    return text(value) === text(was) ? [] : [`${name} ${text(value)}`];
  });
  return changes.join(', ') || 'the version alone';
}

/** Dates in hours, minutes and seconds since the payment was made. */
function text(value: unknown): string {
  if (!(value instanceof Date)) return typeof value === 'string' ? value : JSON.stringify(value ?? null);
  const seconds = Math.round((value.getTime() - CREATED.getTime()) / 1_000);
  return `+${Math.floor(seconds / 3_600)}h${Math.floor((seconds % 3_600) / 60)}m${seconds % 60}s`;
}

/** A line for each state, and for each thing that may happen to it. */
function table(
  states: readonly LedgerState[],
  happening: Readonly<Record<string, Apply>>,
  make: (state: LedgerState) => PaymentRecord = recordOf,
  minutes = 60,
): string[] {
  return states.flatMap((state) =>
    Object.entries(happening).map(([what, apply]) => {
      const record = make(state);
      return `${state}, ${what}: ${changesOf(record, apply(record, at(minutes)), at(minutes))}`;
    }),
  );
}

/** What becomes of a record by one answer after another: `not found 70` seventy minutes after it was made. */
function course(first: PaymentRecord, ...answers: readonly string[]): string {
  let record = first;
  const lines = answers.map((answer) => {
    const [, said = '', minutes] = /^(.*) ([\d.]+)$/.exec(answer)!;
    const now = at(Number(minutes));
    const apply = inquiring(INQUIRIES[said]!, record.kind === 'hosted' ? applyPageInquiry : applyInquiry);
    const next = apply(record, now);
    const line = `  ${answer}: ${changesOf(record, next, now)}`;
    record = next ?? record;
    return line;
  });
  return [`${first.kind} ${first.state}${first.reason ? ` ${first.reason}` : ''}`, ...lines].join('\n');
}

const mapped = <Given>(given: Readonly<Record<string, Given>>, apply: (one: Given) => Apply) =>
  Object.fromEntries(Object.entries(given).map(([name, one]) => [name, apply(one)]));

it('the answer to a request changes a payment or refund as charges.txt says', () => {
  const charging = mapped(CHARGES, (outcome) => (record, now) => applyOutcome(record, outcome, RULES, now));
  const others: Record<string, Apply> = {
    'nothing was sent': (record, now) => applyNotSent(record, now),
    'no page': (record, now) => endWithoutPage(record, CHARGES['a refusal']!, RULES, now),
  };
  const unbound = (state: LedgerState) => recordOf(state, { reason: 'unbound', chargedAmount: '5.00' });
  const cannotAsk = mapped(
    CHARGES,
    (outcome) => (record, now) => applyOutcome(record, outcome, rules({ canInquire: false }), now),
  );
  TEXTS.expect(
    'charges.txt',
    [
      ...table(ALL_STATES, { ...charging, ...others }),
      '\nUnknown after an unbound approval',
      ...table(['unknown'], charging, unbound),
      '\nWhere nobody can be asked',
      ...table(['charging'], cannotAsk),
      '',
    ].join('\n'),
  );
});

it('the answer to an inquiry changes a payment or refund as inquiries.txt says', () => {
  const asking = mapped(INQUIRIES, (inquiry) => inquiring(inquiry));
  const unknown = (reason: PaymentReason) => recordOf('unknown', { reason });
  const ended = recordOf('failed', { reason: 'refused', finalizedAt: at(0) });
  TEXTS.expect(
    'inquiries.txt',
    [
      ...table(ALL_STATES, asking),
      '\nUnknown after an unbound approval',
      ...table(['unknown'], asking, () => unknown('unbound')),
      '\nOne answer after another',
      course(unknown('no_answer'), 'not found 60', 'not found 69.99', 'not found 70', 'paid 80'),
      course(unknown('no_answer'), 'not found 60', 'unclear 65', 'not found 70', 'unpaid 75', 'not found 80'),
      course(unknown('no_answer'), 'not found 60', 'unanswered 65', 'not found 70'),
      course(unknown('unbound'), 'not found 60', 'not found 99', 'declined 99'),
      course(unknown('unbound'), 'not found 60', 'mismatch 70'),
      course(unknown('interrupted'), 'unclear 60', ...[1, 2, 3, 500].map((months) => `unclear ${months * 30 * DAY}`)),
      course(ended, 'declined 60', 'not found 1440', 'declined 2000', 'paid 3000'),
      course(ended, 'unclear 60', 'unanswered 80', 'silence 100', 'unclear 120', 'unclear 1440', 'declined 1460'),
      '\nThe next inquiry, after how many, and by which chance',
      ...[0, 1, 2, 3, 9, 10, 20, 1_000].map((count) => {
        const next = [0, 0.5, 1].map((chance) => text(nextInquiry(CREATED, count, rules({}, chance).random)));
        return `${count}: ${next.join(', ')}`;
      }),
      '',
    ].join('\n'),
  );
});

it('the answer about a page changes its payment as pages.txt says', () => {
  const asking = mapped(INQUIRIES, (inquiry) => inquiring(inquiry, applyPageInquiry));
  const abandoning = mapped(INQUIRIES, (inquiry) => inquiring(inquiry, applyAbandoned));
  const open = ['pending', 'unknown'] as const;
  const asked = (state: LedgerState) => pageOf(state, { notFoundAt: at(END) });
  const declined = pageOf('pending', { reason: 'declined', code: 'X', orderId: 'o-1' });
  const ended = pageOf('expired', { finalizedAt: at(60), dueAt: at(120) });
  const next = (minutes: number, notFoundAt: Date | null = null): string =>
    text(nextPageInquiry({ createdAt: CREATED, expiresAt: at(END), notFoundAt }, at(minutes), RULES.random));
  TEXTS.expect(
    'pages.txt',
    [
      ...table(ALL_STATES, asking, pageOf, 1),
      '\nAfter its end',
      ...table(open, asking, pageOf, END),
      '\nAfter an answer at its end that nothing was paid',
      ...table(open, asking, asked, END + 10),
      '\nA day after its end',
      ...table(open, asking, pageOf, DAY + END),
      '\nEnded, and due to be asked about',
      ...table(['expired', 'failed'], asking, (state) => pageOf(state, { finalizedAt: at(60), dueAt: at(120) }), 120),
      '\nGiven up',
      ...table(open, abandoning, pageOf, 1),
      '\nOne answer after another',
      course(declined, 'declined 2', 'unpaid 3', 'paid 4'),
      course(pageOf('pending'), 'not found 21', 'not found 30.99', 'not found 31'),
      course(pageOf('pending'), 'not found 21', 'unclear 25', 'not found 40', 'silence 41', 'not found 50'),
      course(pageOf('pending'), 'not found 60', 'silence 1440', 'silence 1500', 'not found 1501', 'paid 1502'),
      course(ended, ...[120, 420, 1_500, 2_940, 4_380, 9_000].map((minutes) => `not found ${minutes}`), 'paid 9999'),
      course(ended, 'unclear 120', 'unclear 180', 'silence 240', 'unclear 10000', 'unclear 10200'),
      '\nThe next inquiry about an open page, minutes after it was made',
      ...[0, 1, 8, 15, END, 90 * 60].map((minutes) => `${minutes}: ${next(minutes)}`),
      `after an answer that it was not paid: ${next(END, at(END))}, ${next(END + 30, at(END))}`,
      '',
    ].join('\n'),
  );
});

it('what is kept of an answer is what fields.txt says', () => {
  const CARD = '4508034508034509';
  const { conversationId } = aPaymentRecord();
  const all = { amount: '149.90', orderId: 'o-1', paymentId: 'p-1' };
  const earlier = { chargedAmount: null, orderId: 'o-other', paymentId: 'p-other', isUnproven: true };
  const everything = {
    ...{ code: 'B0000', resultCode: 'B0000', message: 'Onaylandı', conversationId: 'another', amount: '149.900' },
    ...{ currency: '949', orderId: 'o-1', paymentId: 'p-1', bankUniqueReferenceNumber: '503615446559' },
    ...{ authCode: '004512', commissionRate: '1.5000', commissionAmount: '2.2485' },
    transactionDate: '05/02/2025 15:09:09',
  };
  const cards = [CARD, `ORD-${CARD}`, '4508-0345.0803_4509', '450803004509', '4508030000000004509'];
  const echoed = (text: string) =>
    Object.fromEntries(
      ['code', 'orderId', 'paymentId', 'bankUniqueReferenceNumber', 'authCode'].map((name) => [name, text]),
    );
  const amounts = [
    '99999999',
    '149.900',
    '162.75',
    '5321234567',
    '378282246310005',
    '1234567890.00',
    '999999999',
    '905551112.233',
  ];
  type Row = readonly [shown: Partial<GatewayResult>, of?: Partial<PaymentRecord>];
  const rows: readonly Row[] = [
    [everything],
    [{}],
    [{ transactionDate: '31/02/2025 15:09:09' }],
    ...[...cards, '5246776356903508', '45080304509', '45080300000000004509'].map((text): Row => [echoed(text)]),
    ...amounts.map((amount): Row => [{ amount }]),
    [{ amount: '5321234567' }, { amount: '5321234567.00' }],
    [{ amount: '378282246310005' }, { amount: '378282246310005' }],
    [{ ...all, conversationId, currency: '840' }],
    [{ ...all, unreadable: ['conversationId'] }],
    ...(['direct', '3d', 'hosted'] as const).flatMap((kind): Row[] => [
      [all, { kind }],
      ...[
        {},
        { amount: '149.90' },
        { orderId: 'o-1' },
        all,
        { ...all, amount: null },
        { ...all, amount: '1234567890.00' },
        { ...all, orderId: CARD },
      ].flatMap((shown): Row[] => [
        [
          { conversationId, ...shown },
          { kind, ...earlier },
        ],
        [
          { conversationId, ...shown },
          { kind, ...earlier, chargedAmount: '5.00' },
        ],
      ]),
      [
        { conversationId, amount: '149.90' },
        { kind, ...earlier, orderId: null, paymentId: null },
      ],
    ]),
  ];
  const lines = rows.map(([shown, of = {}]) => {
    const kept = resultChanges({ ...NO_RESULT, ...shown }, aPaymentRecord({ state: 'charging', ...of }), RULES);
    return [JSON.stringify(shown), ...(Object.keys(of).length > 0 ? [JSON.stringify(of)] : []), JSON.stringify(kept)];
  });
  TEXTS.expect('fields.txt', `${lines.map((parts) => parts.join('\n  ')).join('\n')}\n`);
});

it.each<[ChargeOutcome['state'], PaymentReason, boolean]>([
  ['review', 'amount_mismatch', false],
  ['review', 'approval_variant', false],
  ['review', 'codes_disagree', false],
  ['review', 'conversation_mismatch', true],
  ['review', 'currency_mismatch', true],
  ['review', 'sign_mismatch', true],
  ['unknown', 'unbound', true],
])('%s (%s): what it shows may be another payment’s, even if it names this one: %s', (state, reason, isUnproven) => {
  const record = recordOf('charging', { kind: 'direct' });
  const result = { ...RESULT, conversationId: record.conversationId };
  expect(applyOutcome(record, charge(state, reason, { result }), RULES, CREATED)?.isUnproven === true).toBe(isUnproven);
});

it('there is no other file of outcomes', () => {
  TEXTS.expectNoOthers(['charges.txt', 'inquiries.txt', 'pages.txt', 'fields.txt']);
});
