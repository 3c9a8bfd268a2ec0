import { Logger, type LoggerService } from '@nestjs/common';
import { afterEach, beforeEach } from '@jest/globals';

/**
 * The log lines of each test of a suite, as `level message`.
 *
 * @param records receives the records themselves, with the fields that a JSON logger shows
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

/** A logger for an application, which overrides the logger that was set before. */
export function loggerInto(lines: string[], records: unknown[] = []): LoggerService {
  const note =
    (level: string) =>
    (message: unknown): void => {
      lines.push(`${level} ${String(message)}`);
      records.push(message);
    };
  return { log: note('log'), warn: note('warn'), error: note('error') };
}
