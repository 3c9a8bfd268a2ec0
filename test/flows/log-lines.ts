import { Logger, type LoggerService } from '@nestjs/common';
import { afterEach, beforeEach } from '@jest/globals';

/** What is logged during each test of a suite, as `level message`. */
export function logLines(): string[] {
  const lines: string[] = [];
  const note =
    (level: string) =>
    (message: unknown): void =>
      void lines.push(`${level} ${String(message)}`);
  const logger: LoggerService = { log: note('log'), warn: note('warn'), error: note('error') };
  beforeEach(() => {
    lines.length = 0;
    Logger.overrideLogger(logger);
  });
  afterEach(() => {
    Logger.overrideLogger(false);
  });
  return lines;
}
