import { Injectable, Logger } from '@nestjs/common';
import type { CallbackRefusal, PaymentCallbackError } from '../errors/payment-callback.error.js';
import { PaymentClock } from '../payment/clock.js';

const WINDOW_MS = 60_000;
/** Of each kind, in one window. */
const MAX_LINES = 3;

interface Window {
  readonly endsAt: number;
  lines: number;
  leftOut: number;
}

/** Logs refused callbacks, a few a minute of each kind: whoever sends them must not be able to fill the log. */
@Injectable()
export class RefusalLog {
  private readonly logger = new Logger('PaymentModule');
  private readonly windows = new Map<CallbackRefusal, Window>();

  constructor(private readonly clock: PaymentClock) {}

  warn({ refusal, message }: PaymentCallbackError): void {
    const window = this.windowOf(refusal);
    if (window.lines < MAX_LINES) {
      window.lines += 1;
      this.logger.warn(message);
      return;
    }
    window.leftOut += 1;
    if (window.leftOut === 1) void this.reportAtEnd(window, message);
  }

  private windowOf(refusal: CallbackRefusal): Window {
    const now = this.clock.monotonic();
    const open = this.windows.get(refusal);
    if (open && now < open.endsAt) return open;
    const window = { endsAt: now + WINDOW_MS, lines: 0, leftOut: 0 };
    this.windows.set(refusal, window);
    return window;
  }

  private async reportAtEnd(window: Window, message: string): Promise<void> {
    await this.clock.sleep(window.endsAt - this.clock.monotonic());
    this.logger.warn(`${message} ${window.leftOut} more in the same minute were not logged.`);
  }
}
