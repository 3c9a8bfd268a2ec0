import { Logger, type LoggerService } from '@nestjs/common';

const LEVELS = ['log', 'warn', 'error', 'debug', 'verbose', 'fatal'] as const;

/**
 * Nest's logger, and the only way to log in this package (lint allows no other). A host's logger that throws, or
 * returns a promise that rejects, loses its line and nothing else: no payment fails and no process ends because of it.
 */
export class PaymentLogger extends Logger {
  private host: LoggerService | undefined;
  private guarded: LoggerService | undefined;

  constructor(context = 'PaymentModule') {
    super(context);
  }

  /** The host's logger behind a guard. Nest looks it up for each line, and again when it flushes buffered ones. */
  override get localInstance(): LoggerService {
    const host = super.localInstance as LoggerService | undefined;
    if (!this.guarded || host !== this.host) [this.host, this.guarded] = [host, guardedLogger(host)];
    return this.guarded;
  }
}

/** @param host undefined where the host switched logging off */
function guardedLogger(host: LoggerService | undefined): LoggerService {
  const methods = LEVELS.map((level) => [level, (...line: [unknown]) => write(host, level, line)] as const);
  return Object.fromEntries(methods) as Record<(typeof LEVELS)[number], (...line: [unknown]) => void>;
}

function write(host: LoggerService | undefined, level: (typeof LEVELS)[number], line: [unknown]): void {
  try {
    const written: unknown = host?.[level]?.(...line);
    // An async method of a host's logger: nobody else would handle its rejection.
    if (isThenable(written)) Promise.resolve(written).catch(() => undefined);
  } catch {
    // There is nowhere left to say so.
  }
}

/** A promise of whatever library. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
