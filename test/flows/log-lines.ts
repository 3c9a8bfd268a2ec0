import { Logger, type LoggerService } from '@nestjs/common';
import { afterEach, beforeEach } from '@jest/globals';

/** What is logged during each test of a suite, as `level message`. */
export function logLines(): string[] {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    Logger.overrideLogger(loggerInto(lines));
  });
  afterEach(() => {
    Logger.overrideLogger(false);
  });
  return lines;
}

/** For an application, which sets a logger of its own. */
export function loggerInto(lines: string[]): LoggerService {
  const note =
    (level: string) =>
    (message: unknown): void =>
      void lines.push(`${level} ${String(message)}`);
  return { log: note('log'), warn: note('warn'), error: note('error') };
}
