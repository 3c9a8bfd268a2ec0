import { MemoryPaymentStore } from 'nestjs-card-payment';
import { isRefund, type PaymentRecord } from '../../lib/payment/payment.js';
import type { HandlerPair, ReplaceOutcome, UniqueKey } from '../../lib/store/payment-store.js';
import type { Plant } from './world.js';
import type { LedgerEvent } from '../../lib/payment/ledger-event.js';

/** It does not renew a lease, and says that it did. */
class StoreThatRenewsNothing extends MemoryPaymentStore {
  override renewLease(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

/** An announcement replaces earlier ones of the same handler id: the handler loses events of other types. */
class StoreThatReplacesPairs extends MemoryPaymentStore {
  private readonly pairs = new Map<string, Set<string>>();
  private waiting: LedgerEvent[] = [];

  override announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    for (const { handlerId } of pairs) this.pairs.set(handlerId, new Set());
    for (const { handlerId, type } of pairs) this.pairs.get(handlerId)?.add(type);
    return super.announce(account, pairs);
  }

  override async fanOut(account: string, limit: number): Promise<number> {
    const events = await super.fanOut(account, limit);
    for (const { eventId, type } of this.waiting.splice(0)) {
      for (const [handlerId, types] of this.pairs) {
        if (!types.has(type)) await this.acknowledge(account, handlerId, eventId);
      }
    }
    return events;
  }

  override insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    if (event) this.waiting.push(event);
    return super.insert(record, event);
  }

  override replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    if (event) this.waiting.push(event);
    return super.replace(record, previous, event);
  }
}

/** No refund holds the lock of its payment. */
class StoreThatLocksNoRefund extends MemoryPaymentStore {
  override insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    return super.insert(withoutRefundLock(record), event);
  }

  override replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    return super.replace(withoutRefundLock(record), previous, event);
  }
}

function withoutRefundLock(record: PaymentRecord): PaymentRecord {
  return isRefund(record) ? { ...record, referenceLock: null } : record;
}

/** A page of the gateway's own holds no order. */
class StoreThatLocksNoPage extends MemoryPaymentStore {
  override insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    return super.insert(withoutPageLock(record), event);
  }

  override replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    return super.replace(withoutPageLock(record), previous, event);
  }
}

function withoutPageLock(record: PaymentRecord): PaymentRecord {
  return record.kind === 'hosted' ? { ...record, referenceLock: null } : record;
}

/** It stores a refund that failed, and not its event. */
class StoreThatLosesRefundEvents extends MemoryPaymentStore {
  override replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    return super.replace(record, previous, event?.type === 'refund.failed' ? undefined : event);
  }
}

export interface PlantedFault {
  readonly fault: string;
  readonly plant: Plant;
  /** The promise that it breaks. */
  readonly breaks: RegExp;
  /** The seed of a world that has shown it, and is tried first; by default the first world. */
  readonly shownBy?: number;
}

/** Faults that the module had, or could have. */
export const PLANTS: readonly PlantedFault[] = [
  {
    fault: 'a lease that is not renewed',
    plant: { makeStore: (clock) => new StoreThatRenewsNothing({ clock }) },
    breaks: /while .* still does/,
  },
  {
    fault: 'an opening that was not confirmed, and is believed not to be written',
    plant: {
      tamper: ({ changes }) => {
        changes.fenceOpening = (opening) => Promise.resolve({ record: opening, isStored: true });
      },
    },
    breaks: /was not confirmed .* and is charging/,
    shownBy: 44,
  },
  {
    fault: 'a claim that was not confirmed, and is believed to be written',
    plant: {
      tamper: ({ changes }) => {
        const replace = changes.replace.bind(changes);
        changes.replace = (record, next) =>
          next.state === 'authorizing' ? replace(record, next).catch(() => 'replaced') : replace(record, next);
      },
    },
    breaks: /was sent 2 times/,
    shownBy: 13,
  },
  {
    fault: 'an approval that is believed whatever it approves',
    plant: { tamper: ({ settings }) => void Object.assign(settings, { trustUnbound: true }) },
    breaks: /is succeeded, and was not charged/,
  },
  {
    fault: 'an announcement that replaces those of the same handler id',
    plant: { makeStore: (clock) => new StoreThatReplacesPairs({ clock }) },
    breaks: /never handled/,
  },
  {
    fault: 'a refund that is sent again after a lost answer',
    plant: {
      tamper: ({ gateway }) => {
        const refund = gateway.refund.bind(gateway);
        gateway.refund = async (...request) => {
          const attempt = await refund(...request);
          return attempt.sent && attempt.outcome.reason === 'no_answer' ? refund(...request) : attempt;
        };
      },
    },
    breaks: /refund .* was sent 2 times/,
    shownBy: 6,
  },
  {
    fault: 'a lock that does not hold for refunds',
    plant: { makeStore: (clock) => new StoreThatLocksNoRefund({ clock }) },
    breaks: /has 2 open refunds/,
    shownBy: 10,
  },
  {
    fault: 'a lock that does not hold for the gateway’s own page',
    plant: { makeStore: (clock) => new StoreThatLocksNoPage({ clock }) },
    breaks: /has 2 open pages/,
    shownBy: 7,
  },
  {
    fault: 'a page whose late payment is not heard',
    plant: {
      tamper: ({ gateway }) => {
        const checkPayment = gateway.checkPayment.bind(gateway);
        gateway.checkPayment = async (payment) => {
          const inquiry = await checkPayment(payment);
          return payment.state === 'expired' && inquiry ? { outcome: 'not_found' } : inquiry;
        };
      },
    },
    breaks: /was charged and is expired/,
    shownBy: 7,
  },
  {
    fault: 'an event of a refund that is lost',
    plant: { makeStore: (clock) => new StoreThatLosesRefundEvents({ clock }) },
    breaks: /never handled .* refund.failed/,
  },
  {
    fault: 'an unknown refund that fails because the gateway does not know it',
    plant: {
      tamper: ({ gateway }) => {
        const checkRefund = gateway.checkRefund.bind(gateway);
        gateway.checkRefund = async (...question) => {
          const inquiry = await checkRefund(...question);
          const charge = { state: 'failed', reason: 'declined', result: null } as const;
          return inquiry?.outcome === 'nothing' ? { outcome: 'declined', charge } : inquiry;
        };
      },
    },
    breaks: /was given back, and was reported as failed/,
    shownBy: 6,
  },
];
