import { format } from 'node:util';
import type { LoggerService } from '@nestjs/common';

/** Nest's Logger writes to standard output, where the command's own output goes: this one writes to standard error. */
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
