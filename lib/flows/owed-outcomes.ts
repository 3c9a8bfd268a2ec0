import { Injectable } from '@nestjs/common';
import type { PaymentRecord } from '../payment/payment.js';
import { PaymentChanges, type Settlement } from './payment-changes.js';

/** An outcome that the store could not take yet. */
export interface OwedOutcome {
  readonly record: PaymentRecord;
  readonly settle: Settlement;
}

/** Outcomes that are known but not stored: kept in this process until the store takes them. */
@Injectable()
export class OwedOutcomes {
  private readonly owed = new Set<OwedOutcome>();

  constructor(private readonly changes: PaymentChanges) {}

  add(outcome: OwedOutcome): void {
    this.owed.add(outcome);
  }

  /** Tries again to write them. @returns how many were written */
  async write(): Promise<number> {
    let written = 0;
    for (const owed of [...this.owed]) {
      const settled = await this.changes.settle(owed.record, owed.settle).catch(() => null);
      if (!settled || !this.owed.delete(owed)) continue;
      written += 1;
      await this.changes.publish(settled);
    }
    return written;
  }
}
