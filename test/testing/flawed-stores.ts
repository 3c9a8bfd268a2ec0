import { setImmediate } from 'node:timers/promises';
import type { PaymentEvent } from '../../lib/payment/payment-event.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import type { ReplaceOutcome, UniqueKey } from '../../lib/store/payment-store.js';

/** Looks at the version, and writes a moment later whatever became of it. */
export class ReadThenWriteStore extends MemoryPaymentStore {
  override async replace(
    record: PaymentRecord,
    expectedVersion: number,
    event?: PaymentEvent,
  ): Promise<ReplaceOutcome> {
    const version = async () => (await this.find(record.account, record.conversationId))?.version;
    if ((await version()) !== expectedVersion) return 'stale';
    await setImmediate();
    return super.replace(record, (await version()) ?? expectedVersion, event);
  }
}

/** Writes `unknown` without its event. */
export class LostOutboxRowStore extends MemoryPaymentStore {
  override async replace(
    record: PaymentRecord,
    expectedVersion: number,
    event?: PaymentEvent,
  ): Promise<ReplaceOutcome> {
    const isKept = event?.payment.state !== 'unknown';
    return super.replace(record, expectedVersion, isKept ? event : undefined);
  }
}

/** Looks who holds the reference, and takes it a moment later whoever does by then. */
export class UnlockedReferenceStore extends MemoryPaymentStore {
  private readonly holders = new Map<string, string>();

  override async insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null> {
    if (await this.isTaken(record)) return 'referenceLock';
    return super.insert({ ...record, referenceLock: null }, event);
  }

  override async replace(
    record: PaymentRecord,
    expectedVersion: number,
    event?: PaymentEvent,
  ): Promise<ReplaceOutcome> {
    if (await this.isTaken(record)) return 'locked';
    return super.replace({ ...record, referenceLock: null }, expectedVersion, event);
  }

  private async isTaken({ account, conversationId, referenceLock }: PaymentRecord): Promise<boolean> {
    for (const [key, holder] of this.holders) if (holder === conversationId) this.holders.delete(key);
    if (referenceLock === null) return false;
    const key = `${account} ${referenceLock}`;
    const holder = this.holders.get(key);
    await setImmediate();
    this.holders.set(key, conversationId);
    return holder !== undefined && holder !== conversationId;
  }
}
