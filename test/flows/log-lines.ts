import { Logger, type LoggerService } from '@nestjs/common';
import { afterEach, beforeEach } from '@jest/globals';

/**
 * What is logged during each test of a suite, as `level message`.
 *
 * @param records gets the records themselves, with the fields that a logger in JSON shows
 */
export function logLines(records: unknown[] = []): string[] {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    records.length = 0;
    Logger.overrideLogger(loggerInto(lines, records));
  });
  afterEach(() => {
    Logger.overrideLogger(false);
  });
  return lines;
}

/** For an application, which sets a logger of its own. */
export function loggerInto(lines: string[], records: unknown[] = []): LoggerService {
  const note =
    (level: string) =>
    (message: unknown): void => {
      lines.push(`${level} ${String(message)}`);
      records.push(message);
    };
  return { log: note('log'), warn: note('warn'), error: note('error') };
}
