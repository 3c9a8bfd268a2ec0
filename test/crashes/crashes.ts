import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DoPaymentDto, newConversationId, type PaymentRecord, type PaymentStore } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { isEventState } from '../../lib/payment/payment-event.js';

/** A full run: CRASHES=25. */
const CRASHES = Number(process.env['CRASHES'] ?? 1);
const AT_ONCE = 3;

const FLOWS = ['direct', 'init3d', 'auth3d'] as const;
type Flow = (typeof FLOWS)[number];

/** Where a process is killed: wherever its books or the gateway's are others than before. */
const KILLED_AT: Readonly<Record<Flow, readonly string[]>> = {
  direct: [
    'after the opening write',
    'after the request',
    'after the reply',
    'after the closing write',
    'before the handler',
    'after the handler',
  ],
  init3d: ['before the request', 'before the reply', 'before the closing write'],
  auth3d: ['before the opening write', 'after the opening write', 'before the reply'],
};
const POINTS = FLOWS.flatMap((flow) => KILLED_AT[flow].map((point) => ({ flow, point })));

/** A payment whose process was killed, as those who come after know it. */
interface Attempt {
  readonly flow: Flow;
  readonly point: string;
  readonly sale: DoPaymentDto & { readonly conversationId: string; readonly reference: string };
  readonly fields: object | null;
}

/** A store that outlives the processes that use it. */
export interface DurableStore {
  readonly url: string;
  /** The store, for the test to look into. */
  open(): Promise<PaymentStore>;
  stop(): Promise<void>;
}

/** Kills processes on their way, lets another one come after them, and compares its books with the gateway's. */
export function describeCrashes(name: string, startStore: () => Promise<DurableStore>): void {
  describe(`SIGKILL at each of ${POINTS.length} points on ${name}, ${CRASHES} times each`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'card-payment-crashes-'));
    const journal = join(folder, 'journal');
    const attempts: Attempt[] = [];
    const payments = new Map<string, PaymentRecord>();
    let store: DurableStore;
    let books: PaymentStore;
    let simulator: Simulator;

    beforeAll(async () => {
      store = await startStore();
      // The clock of whoever comes after is put forward.
      simulator = await startSimulator({ dialect: 'morpos', timestampToleranceMs: Infinity, requestLimit: 0 });
      books = await store.open();
    }, 60_000);
    afterAll(async () => {
      await books.close();
      await simulator.close();
      await store.stop();
      rmSync(folder, { recursive: true });
    });

    it(
      'each process is killed where it should be',
      async () => {
        const queue = Array.from({ length: CRASHES }, () => POINTS).flat();
        const work = async (): Promise<void> => {
          for (let next = queue.shift(); next; next = queue.shift()) {
            attempts.push(await crash(next.flow, next.point));
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, work));
      },
      30_000 + CRASHES * 60_000,
    );

    it(
      'another process comes after them, until nothing is left to do',
      async () => {
        const survivor = fork(scriptOf('survivor'), [setupOf({})]);
        const told = once(survivor, 'message');
        survivor.send(attempts);
        const [code] = (await once(survivor, 'exit')) as [number];
        expect(code).toBe(0);
        const [{ passes }] = (await told) as [{ passes: number }];
        expect(passes).toBeLessThan(20);
        for (const { sale } of attempts) {
          for (const record of await books.findByReference('default', sale.reference)) {
            payments.set(record.conversationId, record);
          }
        }
      },
      60_000 + CRASHES * 10_000,
    );

    it('charged twice: 0', () => {
      const { ledger } = simulator;
      expect(ledger.violations).toEqual([]);
      const orders = ledger.charges.map(({ conversationId }) => payments.get(conversationId)?.reference);
      expect(new Set(orders).size).toBe(orders.length);
    });

    it('lost: 0', () => {
      const { ledger } = simulator;
      expect(ledger.charges.length).toBeGreaterThanOrEqual(6 * CRASHES);
      const charged = new Set(ledger.charges.map(({ conversationId }) => conversationId));
      const lost = [...charged].filter((conversationId) => payments.get(conversationId)?.state !== 'succeeded');
      expect(lost).toEqual([]);

      // What was not charged is told as such, or as not known: the gateway has no word on a request that never came.
      const others = [...payments.values()].filter(({ conversationId }) => !charged.has(conversationId));
      const wrong = others.filter(({ state }) => !['failed', 'expired', 'unknown'].includes(state));
      expect(wrong).toEqual([]);
    });

    it('events lost: 0', async () => {
      const heard = new Set(existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : []);
      const lost: string[] = [];
      let owed = 0;
      for (const { account, conversationId } of payments.values()) {
        const history = await books.history(account, conversationId);
        const told = history.filter((entry, i) => isEventState(entry.state) && entry.state !== history[i - 1]?.state);
        owed += told.length;
        lost.push(...told.map(({ version }) => `${conversationId}:${version}`).filter((id) => !heard.has(id)));
      }
      expect(lost).toEqual([]);
      expect(owed).toBeGreaterThanOrEqual(payments.size);
    });

    async function crash(flow: Flow, point: string): Promise<Attempt> {
      const sale = newSale();
      const victim = fork(scriptOf('victim'), [setupOf({ flow, point, sale })]);
      const exit = once(victim, 'exit');
      const fields = flow === 'auth3d' ? await approve(victim, sale.conversationId) : null;
      const [, signal] = (await exit) as [number | null, string | null];
      expect([flow, point, signal]).toEqual([flow, point, 'SIGKILL']);
      return { flow, point, sale, fields };
    }

    async function approve(victim: ChildProcess, conversationId: string): Promise<object> {
      await once(victim, 'message');
      const { fields } = simulator.approve(conversationId);
      victim.send(fields);
      return fields;
    }

    function setupOf(more: object): string {
      const gateway = { baseUrl: simulator.url, ...simulator.credentials };
      return JSON.stringify({ gateway, journal, storeUrl: store.url, ...more });
    }
  });
}

function scriptOf(role: 'victim' | 'survivor'): string {
  return fileURLToPath(new URL(`${role}-process.mjs`, import.meta.url));
}

let orders = 0;

function newSale(): Attempt['sale'] {
  orders += 1;
  const sale = {
    conversationId: newConversationId(),
    reference: `order-${orders}`,
    idempotencyKey: `key-${orders}`,
    cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
    transactionDetails: { amount: '149.90', currencyCode: 949 },
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
  };
  return sale;
}
