import { setTimeout as delay } from 'node:timers/promises';
import { type HostedPaymentDto, newConversationId, PaymentHostedError, type PaymentState } from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { ClockSetAhead } from '../rigs/clock-set-ahead.js';
import { sale } from '../rigs/sale.js';
import { openedStoreAt, type SharedStore } from '../rigs/shared-stores.js';
import { type Shop, startShop } from '../rigs/shop.js';
import { accountAt, startTimelessGateway } from '../rigs/simulated-gateway.js';
import { suiteStore } from '../rigs/suite-stores.js';
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

// eslint keeps the code from any other clock than the one that is given here.
describe.each(TRIED)('hosts with wall clocks hours apart, on one store of %s', (name) => {
  let shared: SharedStore;
  let simulator: Simulator;
  /** The same store, for the test to look into. */
  let store: PaymentStore;
  let storeUrl: string;
  const hosts: Shop[] = [];

  beforeAll(async () => {
    [shared, simulator] = await Promise.all([suiteStore(name), startTimelessGateway()]);
  });
  afterAll(() => simulator.close());
  beforeEach(async () => {
    storeUrl = await shared.create();
    store = await openedStoreAt(storeUrl);
  });
  afterEach(async () => {
    await stop();
    await store.close();
    simulator.reset();
  });

  async function stop(): Promise<void> {
    for (const { app } of hosts.splice(0)) await app.close();
  }

  async function start(aheadMs: number, sessionTtlMs: number): Promise<Shop> {
    const clock = Object.assign(new ClockSetAhead(), { aheadMs });
    const options = { ...accountAt(simulator), background: false, storeUrl, sessionTtlMs };
    const host = await startShop({ options, clock });
    hosts.push(host);
    return host;
  }

  describe.each([3, -3])('a host whose clock is %d hours off', (hours) => {
    let right: Shop;
    let wrong: Shop;

    async function serve(sessionTtlMs = HOUR_MS): Promise<void> {
      await stop();
      right = await start(0, sessionTtlMs);
      wrong = await start(hours * HOUR_MS, sessionTtlMs);
    }

    const eitherWay = (): [Shop, Shop][] => [
      [right, wrong],
      [wrong, right],
    ];

    async function begin({ payments }: Shop): Promise<string> {
      return (await payments.init3d(sale())).conversationId;
    }

    async function complete({ payments }: Shop, conversationId: string): Promise<PaymentState> {
      return (await payments.auth3d({ conversationId, fields: simulator.approve(conversationId).fields })).state;
    }

    /** @returns the id of the payment at the gateway's own page, or the reason why there is no page */
    async function open({ payments }: Shop, order: HostedPaymentDto): Promise<string> {
      try {
        return (await payments.startHosted(order)).conversationId;
      } catch (error) {
        if (error instanceof PaymentHostedError) return `${error.reason}`;
        throw error;
      }
    }

    async function stateOf(conversationId: string): Promise<PaymentState | undefined> {
      return (await right.payments.find(conversationId))?.state;
    }

    it('completes open payments instead of expiring them', async () => {
      await serve();
      const others = await begin(right);
      const own = await begin(wrong);
      for (const host of [wrong, right]) await host.payments.reconcile();
      expect(await stateOf(others)).toBe('awaiting');
      expect(await stateOf(own)).toBe('awaiting');
      expect(await complete(wrong, others)).toBe('succeeded');
      expect(await complete(right, own)).toBe('succeeded');
    });

    it('expires payments in time, its own and those of others', async () => {
      await serve(SHORT_MS);
      const ids = [];
      for (const host of [right, wrong, right, wrong]) ids.push(await begin(host));
      await delay(AFTER_MS);
      expect(await complete(wrong, ids[0]!)).toBe('expired');
      expect(await complete(right, ids[1]!)).toBe('expired');
      await wrong.payments.reconcile();
      for (const id of ids.slice(2)) expect(await stateOf(id)).toBe('expired');
      expect(simulator.ledger.calls('Auth3d')).toBe(0);
    });

    it('ends the gateway’s own page neither before its time nor after it, its own and those of others', async () => {
      await serve();
      for (const [first, second] of eitherWay()) {
        const order = page();
        const conversationId = await open(first, order);
        for (const host of [wrong, right]) {
          await host.payments.reconcile();
          expect(await host.payments.inquire(conversationId)).toMatchObject({ state: 'pending' });
        }
        // That the gateway knows of no payment says nothing while the page is open.
        expect((await store.find('default', conversationId))?.notFoundAt).toBeNull();
        expect(await open(second, order)).toBe(conversationId);
      }
      expect(simulator.ledger.calls('hostedPage')).toBe(2);

      await serve(SHORT_MS);
      const pages: { order: ReturnType<typeof page>; conversationId: string }[] = [];
      for (const host of [right, wrong]) {
        const order = page();
        pages.push({ order, conversationId: await open(host, order) });
      }
      await delay(AFTER_MS);
      for (const { order, conversationId } of pages) {
        expect(await open(wrong, order)).toBe('page_open');
        // The first of the two answers that end it counts, at the store's time.
        expect(await wrong.payments.inquire(conversationId)).toMatchObject({ state: 'pending' });
        const { notFoundAt } = (await store.find('default', conversationId))!;
        expect(Math.abs(notFoundAt!.getTime() - Date.now())).toBeLessThan(60_000);
      }
    });

    it('does not ask about a payment that another host is charging, nor does another about its own', async () => {
      await serve();
      for (const [payer, other] of eitherWay()) {
        const stalled = simulator.fail({ operation: 'DoPayment', kind: 'stall' });
        const paying = payer.payments.doPayment(sale());
        await stalled.played;
        await other.payments.reconcile();
        stalled.release();
        expect(await paying).toMatchObject({ state: 'succeeded' });
      }
      expect(simulator.ledger.calls('CheckPayment')).toBe(0);
    });

    it('takes a payment that another host has leased only when the lease is over', async () => {
      await serve();
      const leased = async (leaseMs: number): Promise<void> => {
        const now = await store.now();
        await store.insert(record({ state: 'unknown', createdAt: now, dueAt: now }));
        expect(await store.leaseDue({ ...LEASE, leaseMs })).toHaveLength(1);
      };
      await leased(LEASE.leaseMs);
      await wrong.payments.reconcile();
      expect(simulator.ledger.calls('CheckPayment')).toBe(0);
      await leased(SHORT_MS);
      await delay(AFTER_MS);
      await wrong.payments.reconcile();
      expect(simulator.ledger.calls('CheckPayment')).toBe(1);
      // The payment that it has leased itself is free for no other host.
      expect(await store.leaseDue(LEASE)).toEqual([]);
    });
  });
});
