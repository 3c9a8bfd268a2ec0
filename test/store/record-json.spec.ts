import {
  eventFromJson,
  eventToJson,
  historyEntryOf,
  historyFromJson,
  historyToJson,
  recordFromJson,
  recordToJson,
} from '../../lib/store/record-json.js';
import { aPaymentEvent, aPaymentRecord } from '../../lib/testing/index.js';

const WHEN = new Date('2026-03-01T10:00:00.123Z');

test('a record comes back as it was, dates and nulls too', () => {
  const record = aPaymentRecord({ transactionAt: WHEN, notFoundAt: WHEN, dueAt: WHEN, message: 'İşlem \u0000 “🧾”' });
  expect(recordFromJson(recordToJson(record))).toEqual(record);
  const empty = aPaymentRecord({ state: 'charging', dueAt: null });
  expect(recordFromJson(recordToJson(empty))).toEqual(empty);
});

test('an event comes back as it was, with the dates of its payment', () => {
  const event = aPaymentEvent({ transactionAt: WHEN, updatedAt: WHEN });
  expect(eventFromJson(eventToJson(event))).toEqual(event);
});

test('a line of history says what the record is from its version on', () => {
  const record = aPaymentRecord({ state: 'failed', reason: 'declined', code: 'B0005', note: 'n', updatedAt: WHEN });
  const line = { version: record.version, state: 'failed', reason: 'declined', code: 'B0005', note: 'n', at: WHEN };
  expect(historyEntryOf(record)).toEqual(line);
  expect(historyFromJson(historyToJson(historyEntryOf(record)))).toEqual(line);
});
