import { inspect } from 'node:util';
import { Logger, type LoggerService } from '@nestjs/common';

/** The fields of a log line besides its text. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/**
 * One message to the log. A console shows its text; in JSON (Nest's `ConsoleLogger({ json: true })`, pino, winston) its
 * fields stand beside `message`.
 */
export class LogRecord {
  /** The whole line, for people. */
  readonly message: string;

  constructor(message: string, fields: LogFields) {
    this.message = message;
    Object.assign(this, fields);
  }

  toString(): string {
    return this.message;
  }

  [inspect.custom](): string {
    return this.message;
  }
}

const LEVELS = ['log', 'warn', 'error', 'debug', 'verbose', 'fatal'] as const;

/**
 * Nest's logger; lint allows no other in this package. If the host's logger throws, or returns a promise that rejects,
 * that one line is lost: no payment fails and no process ends because of it.
 */
export class PaymentLogger extends Logger {
  private host: LoggerService | undefined;
  private guarded: LoggerService | undefined;

  constructor(context = 'PaymentModule') {
    super(context);
  }

  /** The guarded logger of the host. Nest reads this for each line, and again when it flushes buffered lines. */
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
    // The method may be async. Nobody else would handle its rejection.
    if (isThenable(written)) Promise.resolve(written).catch(() => undefined);
  } catch {
    // The log is where this would have been reported.
  }
}

/** Also true for promises of other libraries. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
