import { MemoryPaymentStore } from 'nestjs-card-payment';
import { type LedgerEvent, ledgerEventOf } from '../../lib/payment/ledger-event.js';
import { advance, withdrawClaim } from '../../lib/payment/transitions.js';
import type { PaymentStore, ReplaceOutcome } from '../../lib/store/payment-store.js';
import { interceptCalls } from '../rigs/store-calls.js';
import { callbacks, type Plant } from './callbacks.js';
import type { Scenario } from './explorer.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

/** Each with the number of its schedules. If that drops, something is no longer explored. */
export const SCENARIOS: readonly { readonly scenario: Scenario; readonly schedules: number }[] = [
  { scenario: callbacks({ name: 'two hosts, one fault', hosts: 2, faults: 1 }), schedules: 76 },
  { scenario: callbacks({ name: 'two hosts, two faults', hosts: 2, faults: 2 }), schedules: 910 },
  { scenario: callbacks({ name: 'two hosts, one fault, reads', hosts: 2, faults: 1, readsToo: true }), schedules: 415 },
  { scenario: callbacks({ name: 'three hosts, one fault', hosts: 3, faults: 1 }), schedules: 282 },
  {
    scenario: callbacks({ name: 'two hosts, one fault, late writes', hosts: 2, faults: 1, lateWrites: true }),
    schedules: 190,
  },
];

/** Flaws that the module could have, each as a scenario that breaks a promise. */
export const PLANTS: readonly { readonly scenario: Scenario; readonly breaks: RegExp }[] = [
  planted('an unconfirmed claim is believed', /charged 2 times/, {
    wrapStore: (store) =>
      interceptCalls(store, ({ method, args: [record], proceed }) => {
        const isClaim = method === 'replace' && (record as PaymentRecord).state === 'authorizing';
        return isClaim ? proceed().catch(() => 'replaced') : proceed();
      }),
  }),
  planted('a claim is granted twice', /charged 2 times/, {
    makeStore: (clock) => new StoreThatChecksNoVersion({ clock }),
    wrapStore: (store) =>
      replacing(store, async (record, previous, event) => {
        const stored = await store.find(record.account, record.conversationId);
        return stored?.version === previous.version ? store.replace(record, previous, event) : 'stale';
      }),
  }),
  planted('an event is written apart from its state', /no handler got the event/, {
    wrapStore: (store) =>
      replacing(store, async (record, previous, event) => {
        const outcome = await store.replace(record, previous);
        if (event && outcome === 'replaced') await store.insert(carrierOf(record), event);
        return outcome;
      }),
  }),
  planted('a payment that stays unknown is failed', /told the buyer failed, and the card was charged/, {
    wrapStore: (store) => whenDue(store, 'unknown', (record) => advance(record, 'failed', {}, record.updatedAt)),
  }),
  planted('a claim that runs out is granted again', /charged 2 times/, {
    wrapStore: (store) => whenDue(store, 'authorizing', (record) => withdrawClaim(record, record.updatedAt)),
  }),
];

function planted(name: string, breaks: RegExp, plant: Plant): (typeof PLANTS)[number] {
  return { scenario: callbacks({ name, hosts: 2, faults: 1, plant }), breaks };
}

class StoreThatChecksNoVersion extends MemoryPaymentStore {
  override async replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    const stored = await this.find(record.account, record.conversationId);
    return super.replace(record, stored ?? previous, event);
  }
}

/** The store with another `replace`. */
function replacing(store: PaymentStore, replace: PaymentStore['replace']): PaymentStore {
  return interceptCalls(store, ({ method, args, proceed }) =>
    method === 'replace' ? replace(...(args as Parameters<typeof replace>)) : proceed(),
  );
}

/** The store that itself moves on the records that are due in a state. */
function whenDue(
  store: PaymentStore,
  state: PaymentRecord['state'],
  nextOf: (record: PaymentRecord) => PaymentRecord,
): PaymentStore {
  return interceptCalls(store, async ({ method, proceed }) => {
    if (method !== 'leaseDue') return proceed();
    const due = (await proceed()) as PaymentRecord[];
    for (const record of due.filter((one) => one.state === state)) {
      const next = nextOf(record);
      await store.replace(next, record, ledgerEventOf(next));
    }
    return due.filter((record) => record.state !== state);
  });
}

/** A record of its own that brings an event into the store. */
function carrierOf(record: PaymentRecord): PaymentRecord {
  const keys = { tokenHash: null, idempotencyKey: null, reference: null, referenceLock: null, dueAt: null };
  return { ...record, ...keys, conversationId: `event-of-${record.conversationId}-${record.version}` };
}
