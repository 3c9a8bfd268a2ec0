import type { RequestClaim } from '../../gateway/transport/transmission.js';
import type { PaymentRecord } from '../../payment/payment.js';
import { fitsClaim } from './schedule.js';
import type { StoreClock } from '../../process/store-clock.js';

/**
 * The claim under which a DoPayment or Auth3d is sent. A store that hung, or a host that was suspended, may have used it
 * up: by then another instance may have settled the payment, or a person, and the order may have been paid in another
 * way.
 */
export class Claim implements RequestClaim {
  constructor(
    private readonly record: Pick<PaymentRecord, 'dueAt'>,
    readonly timeoutMs: number,
    private readonly clock: StoreClock,
  ) {}

  confirmTime(): Promise<boolean> {
    return this.clock.refresh();
  }

  /** The store's clock goes by whichever of the host's two clocks has moved further since the store was asked. */
  mayStart(timeoutMs: number): boolean {
    return this.clock.isKnown && fitsClaim(this.record.dueAt, this.clock.now(), timeoutMs);
  }
}
