import { format } from 'node:util';
import { Logger, type LoggerService } from '@nestjs/common';
import { escaped } from './layout.js';

/** Nest's Logger writes to standard output, where the command's own output goes: this one writes to standard error. */
export class StderrLogger implements LoggerService {
  /** @param warned is given each warning instead, if it is given at all */
  constructor(private readonly warned?: (message: string) => void) {}

  log(): void {}

  warn(message: unknown): void {
    if (this.warned) this.warned(String(message));
    else this.write(message);
  }

  error(message: unknown): void {
    this.write(message);
  }

  /** Makes this the logger of the process. */
  use(): void {
    Logger.overrideLogger(this);
  }

  private write(message: unknown): void {
    process.stderr.write(`${escaped(format(message))}\n`);
  }
}
