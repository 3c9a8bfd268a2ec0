import { MemoryPaymentStore, type PaymentEvent, type PaymentRecord } from 'nestjs-card-payment';
import type { ReplaceOutcome, UniqueKey } from '../../lib/store/payment-ledger.js';
import type { HandlerPair } from '../../lib/store/payment-outbox.js';
import { toPayment } from '../../lib/payment/payment.js';
import type { Plant } from './world.js';

/** It does not renew a lease, and says that it did. */
class StoreThatRenewsNothing extends MemoryPaymentStore {
  override renewLease(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

/** An announcement replaces earlier ones of the same handler id: the handler loses events of other types. */
class StoreThatReplacesPairs extends MemoryPaymentStore {
  private readonly pairs = new Map<string, Set<string>>();
  private waiting: PaymentEvent[] = [];

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

  override insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null> {
    if (event) this.waiting.push(event);
    return super.insert(record, event);
  }

  override replace(record: PaymentRecord, expected: number, event?: PaymentEvent): Promise<ReplaceOutcome> {
    if (event) this.waiting.push(event);
    return super.replace(record, expected, event);
  }
}

/** Faults that the module had, or could have; `breaks` is the promise that each breaks. */
export const PLANTS: readonly { readonly fault: string; readonly plant: Plant; readonly breaks: RegExp }[] = [
  {
    fault: 'a lease that is not renewed',
    plant: { makeStore: (clock) => new StoreThatRenewsNothing({ clock }) },
    breaks: /while .* still does/,
  },
  {
    fault: 'an opening that was not confirmed, and is believed not to be written',
    plant: {
      tamper: ({ changes }) => {
        changes.fenceOpening = (opening) => Promise.resolve({ payment: toPayment(opening) });
      },
    },
    breaks: /was not confirmed .* and is charging/,
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
];
