import { LogRecord } from '../../lib/telemetry/payment-logger.js';

const FIELDS = { conversationId: 'ABC', state: 'failed', code: null, durationMs: 812 };

// How Nest prints it is shown in test/package.
it('a log record has its fields as own properties, which loggers such as pino and winston copy', () => {
  const record = new LogRecord('Payment ABC: failed (declined) after 812 ms', FIELDS);
  expect({ ...record }).toEqual({ message: record.message, ...FIELDS });
  expect(String(record)).toBe(record.message);
});
