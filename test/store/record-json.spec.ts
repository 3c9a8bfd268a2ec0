import { copyRecord, historyEntryOf, recordFromJson, recordToJson } from '../../lib/store/record-json.js';
import { eventOfVersion } from '../../lib/payment/payment-event.js';
import type { PaymentState } from '../../lib/payment/states.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const WHEN = new Date('2026-03-01T10:00:00.123Z');
const DATES = { transactionAt: WHEN, notFoundAt: WHEN, dueAt: WHEN, finalizedAt: WHEN, expiresAt: WHEN };

test.each(Object.entries({ JSON: (of: typeof FULL) => recordFromJson(recordToJson(of)), 'a copy': copyRecord }))(
  '%s gives a record back as it was, and shares nothing with it',
  (_, again) => {
    for (const record of [FULL, aPaymentRecord({ state: 'charging', dueAt: null })]) {
      expect(again(record)).toEqual(record);
    }
    const dates = Object.values(again(FULL)).filter((value) => value instanceof Date);
    expect(dates).toHaveLength(7);
    for (const date of dates) expect(Object.values(FULL).some((value) => value === date)).toBe(false);
  },
);

const FULL = aPaymentRecord({ ...DATES, message: 'İşlem \u0000 “🧾”', traceparent: `00-${'a'.repeat(32)}-01` });

test('a line of history says what the record is from its version on', () => {
  const said = { state: 'failed', reason: 'declined', code: 'B0005', note: 'n', by: 'ada' } as const;
  const record = aPaymentRecord({ ...said, updatedAt: WHEN });
  expect(historyEntryOf(record)).toEqual({ version: record.version, ...said, at: WHEN });
  const { by: _by, ...older } = record;
  expect(historyEntryOf(older)).toMatchObject({ note: 'n', by: null });
});

test('a version of a newer release still has an event to show', () => {
  const newer = aPaymentRecord({ state: 'unknown', conversationId: 'one', version: 3 });
  const event = eventOfVersion({ ...newer, state: 'preauthorized' as PaymentState });
  expect(event).toMatchObject({ eventId: 'one:3', type: 'payment.preauthorized', payment: { settled: false } });
});
