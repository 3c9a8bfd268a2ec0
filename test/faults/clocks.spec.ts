import { setTimeout as delay } from 'node:timers/promises';
import { newConversationId, type PaymentState } from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { ledgerEventOf } from '../../lib/payment/payment-event.js';
import { sale } from '../rigs/sale.js';
import { openedStoreAt, type SharedStore } from '../rigs/shared-stores.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import { suiteStore } from '../rigs/suite-stores.js';
import { type ClockHost, forkClockHost } from './clock-host.js';
import { TRIED } from './engines.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const HOUR_MS = 3_600_000;
const SHORT_MS = 500;
/** Longer than {@link SHORT_MS}. */
const AFTER_MS = 600;
const LEASE = { account: 'default', leaseMs: 10 * 60_000, limit: 100 } as const;

/** An order without a card. */
function page() {
  const { reference, transactionDetails } = sale();
  return { reference, transactionDetails };
}

/** A payment whose keys no other one has. */
function record(fields: Partial<PaymentRecord>): PaymentRecord {
  const keys = { conversationId: newConversationId(), reference: null, referenceLock: null, idempotencyKey: null };
  return aPaymentRecord({ ...keys, version: 1, ...fields });
}

describe.each(TRIED)('processes with wall clocks hours apart, on one store of %s', (name) => {
  let shared: SharedStore;
  let simulator: Simulator;
  let right: ClockHost;
  /** The same store, for the test to look into. */
  let store: PaymentStore;
  let storeUrl: string;

  beforeAll(async () => {
    [shared, simulator] = await Promise.all([suiteStore(name), startTimelessGateway()]);
    right = await fork(0);
  });
  afterAll(async () => {
    await right?.end();
    await simulator.close();
  });
  beforeEach(async () => {
    storeUrl = await shared.create();
    store = await openedStoreAt(storeUrl);
  });
  afterEach(async () => {
    await store.close();
    simulator.reset();
  });

  function fork(hoursAhead: number): Promise<ClockHost> {
    return forkClockHost(accountAt(simulator), hoursAhead * HOUR_MS);
  }

  describe.each([
    [3, 'ahead of'],
    [-3, 'behind'],
  ])('a process whose clock is %d hours off', (hours, side) => {
    let wrong: ClockHost;

    beforeAll(async () => {
      wrong = await fork(hours);
    });
    afterAll(() => wrong?.end());

    async function serve(sessionTtlMs = HOUR_MS): Promise<void> {
      for (const host of [right, wrong]) await host.serve({ storeUrl, sessionTtlMs });
    }

    function complete(host: ClockHost, conversationId: string): Promise<PaymentState> {
      return host.complete({ conversationId, fields: simulator.approve(conversationId).fields });
    }

    it('warns of it, and no other process does', async () => {
      await serve();
      for (const time of await wrong.clock())
        expect(Math.abs(time - Date.now() - hours * HOUR_MS)).toBeLessThan(60_000);
      expect(await right.warnings()).toEqual([]);
      expect(await wrong.warnings()).toEqual([
        expect.stringMatching(`This host's clock is 10(799|800|801) seconds ${side} the payment`),
      ]);
    });

    it('completes open payments instead of expiring them', async () => {
      await serve();
      const others = await right.start(sale());
      const own = await wrong.start(sale());
      for (const host of [wrong, right]) await host.reconcile();
      expect(await right.stateOf(others)).toBe('awaiting');
      expect(await right.stateOf(own)).toBe('awaiting');
      expect(await complete(wrong, others)).toBe('succeeded');
      expect(await complete(right, own)).toBe('succeeded');
    });

    it('expires payments in time, its own and those of others', async () => {
      await serve(SHORT_MS);
      const ids = [];
      for (const host of [right, wrong, right, wrong]) ids.push(await host.start(sale()));
      await delay(AFTER_MS);
      expect(await complete(wrong, ids[0]!)).toBe('expired');
      expect(await complete(right, ids[1]!)).toBe('expired');
      await wrong.reconcile();
      for (const id of ids.slice(2)) expect(await right.stateOf(id)).toBe('expired');
      expect(simulator.ledger.calls('Auth3d')).toBe(0);
    });

    it('ends the gateway’s own page neither before its time nor after it, its own and those of others', async () => {
      await serve();
      for (const [first, second] of [
        [right, wrong],
        [wrong, right],
      ] as const) {
        const order = page();
        const conversationId = await first.open(order);
        for (const host of [wrong, right]) {
          await host.reconcile();
          expect(await host.inquire(conversationId)).toBe('pending');
        }
        // That the gateway knows of no payment says nothing while the page is open.
        expect((await store.find('default', conversationId))?.notFoundAt).toBeNull();
        expect(await second.open(order)).toBe(conversationId);
      }
      expect(simulator.ledger.calls('hostedPage')).toBe(2);

      await serve(SHORT_MS);
      const pages: { order: ReturnType<typeof page>; conversationId: string }[] = [];
      for (const host of [right, wrong]) {
        const order = page();
        pages.push({ order, conversationId: await host.open(order) });
      }
      await delay(AFTER_MS);
      for (const { order, conversationId } of pages) {
        expect(await wrong.open(order)).toBe('page_open');
        // The first of the two answers that end it counts, at the store's time.
        expect(await wrong.inquire(conversationId)).toBe('pending');
        const { notFoundAt } = (await store.find('default', conversationId))!;
        expect(Math.abs(notFoundAt!.getTime() - Date.now())).toBeLessThan(60_000);
      }
    });

    it('does not ask about a payment that another process is charging, nor does another about its own', async () => {
      await serve();
      for (const [payer, other] of [
        [right, wrong],
        [wrong, right],
      ] as const) {
        const stalled = simulator.fail({ operation: 'DoPayment', kind: 'stall' });
        const paying = payer.pay(sale());
        await stalled.played;
        await other.reconcile();
        stalled.release();
        expect(await paying).toBe('succeeded');
      }
      expect(simulator.ledger.calls('CheckPayment')).toBe(0);
    });

    it('takes a payment that another process has leased only when the lease is over', async () => {
      await serve();
      const leased = async (leaseMs: number): Promise<void> => {
        const now = await store.now();
        await store.insert(record({ state: 'unknown', createdAt: now, dueAt: now }));
        expect(await store.leaseDue({ ...LEASE, leaseMs })).toHaveLength(1);
      };
      await leased(LEASE.leaseMs);
      await wrong.reconcile();
      expect(simulator.ledger.calls('CheckPayment')).toBe(0);
      await leased(SHORT_MS);
      await delay(AFTER_MS);
      await wrong.reconcile();
      expect(simulator.ledger.calls('CheckPayment')).toBe(1);
      // The payment that it has leased itself is free for no other process.
      expect(await store.leaseDue(LEASE)).toEqual([]);
    });

    it('takes an event that another process has leased only when the lease is over', async () => {
      await serve();
      const leased = async (leaseMs: number): Promise<string> => {
        const now = await store.now();
        const paid = record({ state: 'succeeded', createdAt: now, finalizedAt: now, dueAt: null });
        const event = ledgerEventOf(paid)!;
        await store.insert(paid, event);
        await store.fanOut('default', 10);
        const lease = { ...LEASE, handlerId: 'journal', types: [event.type], lease: 'other', leaseMs };
        expect(await store.leaseDeliveries(lease)).toHaveLength(1);
        return event.eventId;
      };
      await leased(LEASE.leaseMs);
      await wrong.reconcile();
      expect(await wrong.heard()).toEqual([]);
      const eventId = await leased(SHORT_MS);
      await delay(AFTER_MS);
      await wrong.reconcile();
      expect(await wrong.heard()).toEqual([eventId]);
    });
  });
});
