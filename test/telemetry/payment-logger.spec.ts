import { jest } from '@jest/globals';
import { ConsoleLogger } from '@nestjs/common';
import { LogRecord } from '../../lib/telemetry/payment-logger.js';

const FIELDS = { conversationId: 'ABC', state: 'failed', code: null, durationMs: 812 };
const record = new LogRecord('Payment ABC: failed (declined) after 812 ms', FIELDS);

function printed(logger: ConsoleLogger): string {
  const texts: string[] = [];
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => texts.push(String(text)) > 0);
  logger.log(record, 'PaymentModule');
  write.mockRestore();
  return texts.join('');
}

describe('a log record', () => {
  it('is one line in a console, with or without colours', () => {
    for (const colors of [true, false]) {
      const text = printed(new ConsoleLogger({ colors }));
      expect(text.trim().split('\n')).toHaveLength(1);
      expect(text).toMatch(/PaymentModule\].* ?Payment ABC: failed \(declined\) after 812 ms\n$/);
    }
  });

  it('is an object with its fields in JSON', () => {
    const { message } = JSON.parse(printed(new ConsoleLogger({ json: true }))) as { message: unknown };
    expect(message).toEqual({ message: record.message, ...FIELDS });
  });

  it('has its fields as own properties, which loggers such as pino and winston copy', () => {
    expect({ ...record }).toEqual({ message: record.message, ...FIELDS });
    expect(String(record)).toBe(record.message);
  });
});
