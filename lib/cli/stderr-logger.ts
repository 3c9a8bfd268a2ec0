import { format } from 'node:util';
import type { LoggerService } from '@nestjs/common';

/** Nest's Logger writes to standard output, which belongs to what a command prints: warnings and errors go to the other. */
export class StderrLogger implements LoggerService {
  log(): void {}

  warn(message: unknown): void {
    this.write(message);
  }

  error(message: unknown): void {
    this.write(message);
  }

  private write(message: unknown): void {
    process.stderr.write(`${format(message)}\n`);
  }
}
