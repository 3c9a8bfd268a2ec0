import { inspect } from 'node:util';

/** What a log line says besides its text: names and plain values. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/**
 * One message to the log: in a console it reads as its text, in JSON (Nest's `ConsoleLogger({ json: true })`, pino,
 * winston) its fields stand beside `message`.
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
