import { setImmediate as turn } from 'node:timers/promises';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { type DueParts, DuePayments } from '../../lib/reconciler/due-payments.js';
import { SystemClock } from '../../lib/runtime/clock.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

describe('DuePayments', () => {
  it.each([0, 1, 2, 3, 4])(
    'asks about what is leased just as all inquiries end, which is %i promises later',
    async (promises) => {
      const asked = new Map<string, () => void>();
      let giveBatch!: (ids: readonly string[]) => void;
      const parts = {
        store: {
          leaseDue: () =>
            new Promise((resolve) => {
              const dueAt = new Date(Date.now() + 600_000);
              giveBatch = (ids) =>
                resolve(ids.map((conversationId) => aPaymentRecord({ conversationId, state: 'unknown', dueAt })));
            }),
          handBack: () => Promise.resolve(),
        },
        inquiries: {
          ask: (record: PaymentRecord) =>
            new Promise((resolve) => {
              const changed = { ...record, version: record.version + 1 };
              asked.set(record.conversationId, () => resolve({ record: changed, event: null }));
            }),
        },
        rules: { canInquire: true, random: { fraction: () => 0.5 } },
        clock: new SystemClock(),
        settings: { account: 'default', gateway: null },
        stopping: new AbortController().signal,
      } as unknown as DueParts;
      const due = new DuePayments(parts, () => undefined);
      void due.process(false);
      await turn();
      giveBatch(['A', 'B', 'C', 'D']);
      await turn();
      giveBatch(['E']);
      for (let count = 0; count < promises; count += 1) await Promise.resolve();
      for (const answer of asked.values()) answer();
      await turn();
      giveBatch([]);
      await turn();
      void due.process(false);
      await turn();
      giveBatch([]);
      await turn();
      expect([...asked.keys()]).toContain('E');
    },
  );
});
