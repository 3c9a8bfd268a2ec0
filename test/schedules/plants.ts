import { MemoryPaymentStore } from 'nestjs-card-payment';
import { ledgerEventOf } from '../../lib/payment/payment-event.js';
import { isRefund, type PaymentRecord } from '../../lib/payment/payment.js';
import { advance, withdrawClaim } from '../../lib/payment/transitions.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { interceptCalls } from '../rigs/store-calls.js';
import { SCRIPTS } from './scenarios.js';
import type { Plant, Script } from './shop.js';

const UNPAID = { outcome: 'unpaid' } as const;

interface PlantedFlaw {
  readonly script: Script;
  /** The promise that it breaks. */
  readonly breaks: RegExp;
}

/** A flaw that the module could have, with the script that shows it. */
function planted(flaw: string, shownBy: string, breaks: RegExp, plant: Plant, more: Partial<Script> = {}): PlantedFlaw {
  const script = SCRIPTS.find(({ name }) => name === shownBy)!;
  return { script: { ...script, ...more, name: flaw, plant }, breaks };
}

export const PLANTS: readonly PlantedFlaw[] = [
  planted('an unconfirmed claim is believed', 'callbacks', /was sent 2 times/, {
    wrapStore: (store) =>
      interceptCalls(store, ({ method, args: [record], proceed }) => {
        const isClaim = method === 'replace' && (record as PaymentRecord).state === 'authorizing';
        return isClaim ? proceed().catch(() => 'replaced') : proceed();
      }),
  }),
  planted('a claim is granted twice', 'callbacks', /was sent 2 times/, {
    makeStore: (clock) => {
      const store = new MemoryPaymentStore({ clock });
      return replacing(store, async (record, previous, event) => {
        const stored = await store.find(record.account, record.conversationId);
        return store.replace(record, stored ?? previous, event);
      });
    },
    wrapStore: (store) =>
      replacing(store, async (record, previous, event) => {
        const stored = await store.find(record.account, record.conversationId);
        return stored?.version === previous.version ? store.replace(record, previous, event) : 'stale';
      }),
  }),
  planted('an event is no part of its write', 'callbacks', /no handler got the event/, {
    wrapStore: (store) => {
      const failed = new Set<string>();
      return replacing(store, async (record, previous, event) => {
        const write = `${record.conversationId}:${record.version}`;
        try {
          return await store.replace(record, previous, failed.has(write) ? undefined : event);
        } catch (error) {
          failed.add(write);
          throw error;
        }
      });
    },
  }),
  planted('a payment that stays unknown is failed', 'callbacks', /was failed, and the money was charged/, {
    wrapStore: (store) => whenDue(store, 'unknown', (record) => advance(record, 'failed', {}, record.updatedAt)),
  }),
  planted('a claim that runs out is granted again', 'callbacks', /was sent 2 times/, {
    wrapStore: (store) => whenDue(store, 'authorizing', (record) => withdrawClaim(record, record.updatedAt)),
  }),
  planted('an opening that may land late is not fenced', 'one key twice, late writes', /counts as under way/, {
    tamper: ({ writer }) => {
      const fenceOpening = (record: PaymentRecord) => Promise.resolve({ record, isStored: true });
      Object.assign(writer, { fenceOpening });
    },
  }),
  planted(
    'a refund is sent again after a lost answer',
    'a refund twice',
    /told its caller failed, and the money was given back/,
    {
      tamper: ({ gateway }) => {
        const charge = gateway.charge.bind(gateway);
        gateway.charge = async (...request) => {
          const attempt = await charge(...request);
          const isRefund = request[0] === 'refund';
          const isLost = attempt.sent && attempt.outcome.reason === 'no_answer';
          return isRefund && isLost ? charge(...request) : attempt;
        };
      },
    },
  ),
  planted('refunds are summed up without the lock', 'two refunds', /two open refunds/, withoutLocks(isRefund)),
  planted(
    'a page holds no order',
    'two starts at a page',
    /two open pages/,
    withoutLocks(({ kind }) => kind === 'hosted'),
  ),
  planted('a page that is paid late is not heard', 'a page, given up and paid late', /is paid, and can be paid/, {
    tamper: ({ gateway }) => {
      const checkPayment = gateway.checkPayment.bind(gateway);
      gateway.checkPayment = async (payment) => {
        const inquiry = await checkPayment(payment);
        return payment.state === 'expired' && inquiry ? { outcome: 'not_found' } : inquiry;
      };
    },
  }),
  planted('silence ends a page', 'a page, paid and given up', /told its caller expired, and it is review/, {
    tamper: ({ gateway }) => {
      const checkPayment = gateway.checkPayment.bind(gateway);
      gateway.checkPayment = async (payment) => {
        const inquiry = await checkPayment(payment);
        return inquiry?.outcome === 'paid' ? inquiry : UNPAID;
      };
    },
  }),
  planted('nobody looks whether an order is held', 'two tabs of an order', /told failed of an order that is held/, {
    wrapStore: (store) =>
      interceptCalls(store, ({ method, proceed }) => (method === 'isHeld' ? Promise.resolve(false) : proceed())),
  }),
  planted('an order counts as held for good', 'two clicks on an order', /order is free, and no handler was told so/, {
    wrapStore: (store) =>
      interceptCalls(store, ({ method, proceed }) => (method === 'isHeld' ? Promise.resolve(true) : proceed())),
  }),
  planted('the event of a refund is lost', 'two refunds', /no handler got the event/, {
    wrapStore: (store) =>
      replacing(store, (record, previous, event) =>
        store.replace(record, previous, isRefund(record) ? undefined : event),
      ),
  }),
];

/** The store in memory, in which these records take no lock. */
function withoutLocks(isFree: (record: PaymentRecord) => boolean): Plant {
  return {
    makeStore: (clock) => {
      const store = new MemoryPaymentStore({ clock });
      return interceptCalls(store, ({ method, args: [record, ...given], proceed }) => {
        const isWrite = method === 'insert' || method === 'replace';
        if (!isWrite || !isFree(record as PaymentRecord)) return proceed();
        const write = store[method].bind(store) as (...args: unknown[]) => Promise<unknown>;
        return write({ ...(record as PaymentRecord), referenceLock: null }, ...given);
      });
    },
  };
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
