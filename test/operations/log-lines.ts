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
    Logger.overrideLogger(recorder(lines, records));
  });
  afterEach(() => {
    Logger.overrideLogger(false);
  });
  return lines;
}

/** What an application says a minute later of the lines that it left out: by then another test may run. */
export const SUMMARY = / more in the same minute were not logged\.$/;

/**
 * A logger for an application, which overrides the logger that was set before. What applications of earlier tests sum up
 * meanwhile is left out.
 */
export function loggerInto(lines: string[], records: unknown[] = []): LoggerService {
  return recorder(lines, records, (message) => !SUMMARY.test(message));
}

function recorder(
  lines: string[],
  records: unknown[],
  isKept: (message: string) => boolean = () => true,
): LoggerService {
  const note =
    (level: string) =>
    (message: unknown): void => {
      if (!isKept(String(message))) return;
      lines.push(`${level} ${String(message)}`);
      records.push(message);
    };
  return { log: note('log'), warn: note('warn'), error: note('error') };
}
