import Database from 'better-sqlite3';
import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlitePaymentStore } from '../../../lib/store/sql/index.js';
import type { PaymentStore } from '../../../lib/store/payment-store.js';
import { aPaymentEvent, TestClock } from '../../../lib/testing/index.js';
import { toPayment } from '../../../lib/payment/payment.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

let folder: string;

describe('group commit equivalence', () => {
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'payments-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  const TABLES = ['', '_reference_lock', '_key', '_history', '_event'].map((name) => `card_payment${name}`);

  /** Few of each, so that they collide often. */
  const transition = fc.record<Transition>({
    kind: fc.constantFrom('insert', 'replace', 'replace'),
    id: fc.nat(5),
    expected: fc.integer({ min: 1, max: 4 }),
    lock: fc.option(fc.nat(2)),
    key: fc.option(fc.nat(3)),
    token: fc.option(fc.nat(20)),
    hasEvent: fc.boolean(),
  });

  const text = (name: string, number: number | null) => (number === null ? null : `${name}-${number}`);

  /** Two stores, in each of which every run has the same account of its own. */
  class TrialStore {
    private readonly reader: Database.Database;

    private constructor(
      readonly store: PaymentStore,
      file: string,
    ) {
      this.reader = new Database(file, { readonly: true });
    }

    static async open(name: string): Promise<TrialStore> {
      const file = join(folder, name);
      const store = sqlitePaymentStore({ file, clock: new TestClock() });
      await store.open();
      return new TrialStore(store, file);
    }

    run(account: string, { kind, id, expected, lock, key, token, hasEvent }: Transition): Promise<unknown> {
      const record = aPaymentRecord({
        account,
        conversationId: `C${id}`,
        reference: text('order', lock),
        state: 'succeeded',
        createdAt: new Date(id),
        updatedAt: new Date(expected),
        version: kind === 'insert' ? 1 : expected + 1,
        referenceLock: text('order', lock),
        idempotencyKey: text('key', key),
        tokenHash: text('token', token),
        note: `${key} ${token}`,
      });
      const event = hasEvent ? aPaymentEvent({ ...toPayment(record), state: 'succeeded' }) : undefined;
      const { store } = this;
      const written = kind === 'insert' ? store.insert(record, event) : store.replace(record, expected, event);
      return written.catch(() => 'rejected');
    }

    rows(account: string): unknown[] {
      return TABLES.map((table) =>
        this.reader.prepare(`select * from ${table} where account = ? order by 2, 3`).all(account),
      );
    }

    async close(): Promise<void> {
      this.reader.close();
      await this.store.close();
    }
  }

  test('transitions that share commits give the outcomes and the rows that they give one by one', async () => {
    const [grouped, single] = [await TrialStore.open('grouped.db'), await TrialStore.open('single.db')];
    const groups = fc.array(fc.array(transition, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 });
    const seen = new Set<unknown>();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(groups, async (sequence) => {
        const account = `run-${(runs += 1)}`;
        for (const group of sequence) {
          const atOnce = await Promise.all(group.map((one) => grouped.run(account, one)));
          const oneByOne: unknown[] = [];
          for (const one of group) oneByOne.push(await single.run(account, one));
          expect(atOnce).toEqual(oneByOne);
          atOnce.forEach((outcome) => seen.add(outcome));
        }
        expect(grouped.rows(account)).toEqual(single.rows(account));
      }),
      { numRuns: 100 },
    );
    const all = [null, 'conversationId', 'idempotencyKey', 'tokenHash', 'referenceLock'];
    expect([...all, 'replaced', 'stale', 'locked', 'rejected'].filter((outcome) => !seen.has(outcome))).toEqual([]);
    await Promise.all([grouped.close(), single.close()]);
  }, 60_000);
});

interface Transition {
  readonly kind: 'insert' | 'replace';
  readonly id: number;
  readonly expected: number;
  readonly lock: number | null;
  readonly key: number | null;
  readonly token: number | null;
  readonly hasEvent: boolean;
}
