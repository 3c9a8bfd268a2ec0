import {
  copyEvent,
  copyRecord,
  eventFromJson,
  eventToJson,
  historyEntryOf,
  historyFromJson,
  historyToJson,
  recordFromJson,
  recordToJson,
} from '../../lib/store/record-json.js';
import { aPaymentEvent } from '../../lib/testing/index.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

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
  const said = { state: 'failed', reason: 'declined', code: 'B0005', note: 'n', by: 'ada' } as const;
  const record = aPaymentRecord({ ...said, updatedAt: WHEN });
  const line = { version: record.version, ...said, at: WHEN };
  expect(historyEntryOf(record)).toEqual(line);
  expect(historyFromJson(historyToJson(historyEntryOf(record)))).toEqual(line);
});

describe('a copy', () => {
  const dates = { transactionAt: WHEN, notFoundAt: WHEN, dueAt: WHEN, finalizedAt: WHEN, expiresAt: WHEN };

  it('of a record is what JSON makes of it, and shares nothing with it', () => {
    const record = aPaymentRecord({
      ...dates,
      message: 'İşlem',
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    });
    const copy = copyRecord(record);
    expect(copy).toEqual(recordFromJson(recordToJson(record)));
    expectNothingShared(record, copy);
    expect(copyRecord(aPaymentRecord({ state: 'charging' }))).toEqual(aPaymentRecord({ state: 'charging' }));
  });

  it('of an event is what JSON makes of it, and shares nothing with it', () => {
    const event = aPaymentEvent({ transactionAt: WHEN, finalizedAt: WHEN });
    const copy = copyEvent(event);
    expect(copy).toEqual(eventFromJson(eventToJson(event)));
    expect([copy.constructor, copy.payment.constructor]).toEqual([event.constructor, event.payment.constructor]);
    expectNothingShared(event, copy);
  });
});

/** No object of one is part of the other, at any depth. */
function expectNothingShared(one: object, other: object): void {
  expect(one).not.toBe(other);
  for (const [name, value] of Object.entries(one)) {
    if (typeof value === 'object' && value !== null) {
      expectNothingShared(value as object, (other as Record<string, object>)[name] ?? {});
    }
  }
}

it('a line of history that an older release wrote says nothing of who', () => {
  const { by: _by, ...older } = historyEntryOf(aPaymentRecord({ note: 'n' }));
  expect(historyFromJson(JSON.stringify(older))).toMatchObject({ note: 'n', by: null });
  const { by: _of, ...record } = aPaymentRecord({ note: 'n' });
  expect(historyEntryOf(record)).toMatchObject({ note: 'n', by: null });
});
