import { SystemClock } from 'nestjs-card-payment';

/** The system's clock, which a test sets ahead instead of waiting for hours. */
export class ClockSetAhead extends SystemClock {
  aheadMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }
}
