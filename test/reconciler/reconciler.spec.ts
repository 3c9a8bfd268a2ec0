import { jest } from '@jest/globals';
import { inspect } from 'node:util';
import type { MemoryPaymentStore, PaymentOptions, PaymentService, ReconcileCounts } from 'nestjs-card-payment';
import { type AssembledFlows, RULES } from '../operations/assembled-flows.js';
import { type FakeGateway, LOST, NOT_PAID, UNDECIDED } from '../operations/fake-gateway.js';
import { logLines } from '../operations/log-lines.js';
import { gate, isOver, quiet, sale, TestShop } from '../operations/test-shop.js';
import { type DueParts, DuePayments, PAYMENT_LEASE_MS } from '../../lib/reconciler/due-payments.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Every two seconds, a quarter more or less. */
const LONGEST_INTERVAL_MS = 2_500;
const NOTHING = { written: 0, expired: 0, interrupted: 0, inquired: 0, settled: 0, delivered: 0, purged: 0 };

describe('Reconciler', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  let shop: TestShop;
  let flows: AssembledFlows;
  const started: AssembledFlows[] = [];

  beforeEach(async () => {
    shop = new TestShop();
    flows = await shop.start();
  });
  afterEach(async () => {
    shop.gateway.close();
    for (const { reconciler } of started.splice(0)) await reconciler.stop();
  });

  async function startBackground(options: PaymentOptions = {}): Promise<AssembledFlows> {
    const instance = await shop.start(options);
    instance.reconciler.start();
    started.push(instance);
    return instance;
  }

  async function add(conversationId: string, over: Partial<PaymentRecord>): Promise<void> {
    const free = { reference: null, referenceLock: null, idempotencyKey: null };
    await shop.store.insert(
      aPaymentRecord({ state: over.state!, conversationId, dueAt: shop.clock.now(), ...free, ...over }),
    );
  }

  async function addUnknown(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, index) => `UNKNOWN${index}`);
    for (const id of ids) await add(id, { state: 'unknown' });
    return ids;
  }

  async function stateOf(conversationId: string): Promise<string | undefined> {
    return (await shop.store.find('default', conversationId))?.state;
  }

  describe('in the background', () => {
    it('expires payments, inquires about them and delivers events every two seconds until it is stopped', async () => {
      const { reconciler, payments } = await startBackground();
      const leaseDue = jest.spyOn(shop.store, 'leaseDue');
      await payments.init3d(sale({ conversationId: 'ABC00000000000000001', reference: 'order' }));
      await shop.clock.advance(HOUR_MS);
      expect(leaseDue.mock.calls.length).toBeGreaterThanOrEqual(24 * 60);
      expect(leaseDue.mock.calls.length).toBeLessThanOrEqual(40 * 60);
      expect(new Set(leaseDue.mock.calls.map(([{ limit }]) => limit))).toEqual(new Set([50]));
      await addUnknown(1);
      await shop.clock.advance(LONGEST_INTERVAL_MS);
      expect(await stateOf('ABC00000000000000001')).toBe('expired');
      expect(await stateOf('UNKNOWN0')).toBe('succeeded');
      expect(shop.journal).toEqual(['ABC00000000000000001:3 expired', 'UNKNOWN0:4 succeeded']);

      await reconciler.stop();
      await add('AFTER', { state: 'unknown' });
      leaseDue.mockClear();
      await shop.clock.advance(HOUR_MS);
      expect(await stateOf('AFTER')).toBe('unknown');
      expect(leaseDue).not.toHaveBeenCalled();
    });

    it('does not run if the background option is false', async () => {
      await startBackground({ background: false });
      await addUnknown(1);
      await shop.clock.advance(HOUR_MS);
      expect(await stateOf('UNKNOWN0')).toBe('unknown');
      expect(shop.gateway.requests).toEqual([]);
    });

    it('reports how long ago its last pass succeeded', async () => {
      await shop.clock.advance(HOUR_MS);
      const { reconciler } = await startBackground();
      expect([flows.reconciler.idleMs, reconciler.idleMs]).toEqual([null, 0]);
      await shop.clock.advance(SECOND_MS);
      expect(reconciler.idleMs).toBe(SECOND_MS);
      reconciler.start();
      expect(reconciler.idleMs).toBe(SECOND_MS);
      await shop.clock.advance(MINUTE_MS);
      expect(reconciler.idleMs).toBeLessThan(LONGEST_INTERVAL_MS);
      await reconciler.stop();
      expect(reconciler.idleMs).toBeNull();
    });
  });

  describe('in one pass', () => {
    it('processes at most 200 payments', async () => {
      await addUnknown(201);
      expect(await flows.payments.reconcile()).toMatchObject({ inquired: 200 });
      expect(await flows.payments.reconcile()).toMatchObject({ inquired: 1 });
    });

    it('throws when the store fails, and a later pass processes the same payments', async () => {
      const ids = await addUnknown(5);
      const { store } = shop;
      const handBack = store.handBack.bind(store);
      store.handBack = () => Promise.reject(new Error('password=secret'));
      shop.gateway.willAnswer('CheckPayment', LOST);
      await expect(flows.payments.reconcile()).rejects.toMatchObject({
        code: 'PAYMENT_STORE',
        message: expect.not.stringContaining('secret') as string,
      });
      store.handBack = handBack;
      await shop.clock.advance(10 * MINUTE_MS);
      await flows.payments.reconcile();
      expect(new Set(await Promise.all(ids.map(stateOf)))).toEqual(new Set(['succeeded']));
    });
  });

  describe('during maintenance', () => {
    it.each<[string, number, (payments: PaymentService, conversationId: string) => Promise<unknown>]>([
      [
        // This shop has no handler of refunds.
        'an event that no handler has taken for 30 days, and says so',
        1,
        (payments, conversationId) =>
          payments.recordRefund({ conversationId, amount: '10.00', refundId: 'PANEL', note: 'at the panel' }),
      ],
      [
        'a handler that no instance has announced for 30 days, with its deliveries',
        0,
        () => shop.store.announce('default', [{ handlerId: 'gone', type: 'payment.succeeded' }]),
      ],
    ])('deletes with its payment %s', async (_what, unheard, leave) => {
      const { payments, reconciler } = await shop.start({ retentionMs: DAY_MS });
      const { conversationId } = await payments.doPayment(sale());
      await leave(payments, conversationId);
      await payments.reconcile();
      await shop.clock.advance(30 * DAY_MS - HOUR_MS);
      expect((await payments.reconcile()).purged).toBe(0);
      expect(await payments.find(conversationId)).not.toBeNull();
      await shop.clock.advance(HOUR_MS + 1);
      expect((await payments.reconcile()).purged).toBe(1);
      expect(reconciler.unheardEvents).toBe(unheard);
      const line = 'log Old payments were purged with events that no handler took within 30 days: 1.';
      expect(log.filter((logged) => logged.includes('Old payments'))).toEqual(unheard > 0 ? [line] : []);
    });

    it('continues in the next pass if a purge has more to delete', async () => {
      const { payments, reconciler } = await shop.start({ retentionMs: DAY_MS });
      const purge = jest.spyOn(shop.store, 'purge');
      purge.mockResolvedValueOnce({ payments: 7, events: 7, unheard: 2, hasMore: true });
      purge.mockResolvedValueOnce({ payments: 3, events: 3, unheard: 1, hasMore: false });
      expect((await payments.reconcile()).purged).toBe(7);
      expect((await payments.reconcile()).purged).toBe(3);
      expect(reconciler.unheardEvents).toBe(3);
      await payments.reconcile();
      expect(purge.mock.calls.filter(([account]) => account === 'default')).toHaveLength(2);
    });

    it('keeps settled payments for ever without retentionMs', async () => {
      const { conversationId } = await flows.payments.doPayment(sale());
      await flows.payments.reconcile();
      await shop.clock.advance(3_650 * DAY_MS);
      expect((await flows.payments.reconcile()).purged).toBe(0);
      expect(await flows.payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
    });

    it('keeps its own handlers as long as it runs', async () => {
      for (let days = 0; days < 3; days += 1) {
        await shop.clock.advance(20 * DAY_MS);
        await flows.payments.reconcile();
      }
      await flows.payments.doPayment(sale());
      expect(await flows.payments.reconcile()).toMatchObject({ delivered: 1 });
    });
  });

  describe('with records of another gateway', () => {
    const OTHER = { gateway: 'other.example 0123456789abcdef' };
    const dueAtOf = async (id: string) => (await shop.store.find('default', id))!.dueAt!.getTime();

    it('gets past any number of them in its first pass, and leaves them for as long as they were unchanged', async () => {
      const others = Array.from({ length: 2_000 }, (_, index) => `OTHER${index}`);
      const dueAt = new Date(shop.clock.now().getTime() - DAY_MS);
      for (const id of others) await add(id, { state: 'unknown', dueAt, updatedAt: dueAt, ...OTHER });
      await add('REFUND', { state: 'unknown', kind: 'refund', parentId: 'OTHER0', dueAt, ...OTHER });
      await addUnknown(1);
      const leaseDue = jest.spyOn(shop.store, 'leaseDue');
      expect(await flows.payments.reconcile()).toEqual({ ...NOTHING, inquired: 1, settled: 1, delivered: 1 });
      expect(shop.gateway.requests).toHaveLength(1);
      const now = shop.clock.now().getTime();
      for (const id of others.slice(0, 100)) {
        expect(await dueAtOf(id)).toBeGreaterThanOrEqual(now + 0.8 * HOUR_MS);
        expect(await dueAtOf(id)).toBeLessThanOrEqual(now + 1.2 * HOUR_MS);
      }
      leaseDue.mockClear();
      expect(await flows.payments.reconcile()).toEqual(NOTHING);
      expect(leaseDue).toHaveBeenCalledTimes(1);
    });

    it('does not keep a page that ended long ago from being purged', async () => {
      const { payments } = await shop.start({ retentionMs: HOUR_MS });
      const ended = shop.clock.now();
      await add('ENDED', { state: 'expired', kind: 'hosted', updatedAt: ended, finalizedAt: ended, ...OTHER });
      await payments.reconcile();
      await shop.clock.advance(7 * DAY_MS - HOUR_MS);
      expect((await payments.reconcile()).purged).toBe(0);
      await shop.clock.advance(2 * HOUR_MS);
      expect((await payments.reconcile()).purged).toBe(1);
      expect(shop.gateway.requests).toEqual([]);
    });
  });

  describe('while the gateway is slow to answer inquiries', () => {
    const UNKNOWN = 150;
    let ids: string[];
    let held: ReturnType<TestShop['gateway']['hold']>[];
    let background: AssembledFlows;

    beforeEach(async () => {
      ids = await addUnknown(UNKNOWN);
      held = Array.from({ length: 4 }, () => shop.gateway.hold('CheckPayment'));
      background = await startBackground({ retentionMs: DAY_MS });
      await shop.clock.advance(LONGEST_INTERVAL_MS);
      await Promise.race([Promise.all(held.map(({ begun }) => begun)), quiet()]);
      // A fifth inquiry would have been answered.
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(0);
    });

    function answerHeld(): void {
      for (const request of held) request.answer(NOT_PAID);
    }

    it('expires payments, and marks a payment left charging as unknown', async () => {
      await add('LATE', { state: 'awaiting', expiresAt: shop.clock.now() });
      await add('LEFT', { state: 'charging' });
      await shop.clock.advance(LONGEST_INTERVAL_MS);
      expect([await stateOf('LATE'), await stateOf('LEFT')]).toEqual(['expired', 'unknown']);
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(0);
    });

    it('announces its handlers every two minutes, and deletes old payments every hour', async () => {
      const announce = jest.spyOn(shop.store, 'announce');
      const purge = jest.spyOn(shop.store, 'purge');
      await shop.clock.advance(HOUR_MS + 2 * LONGEST_INTERVAL_MS);
      expect(announce.mock.calls.length).toBeGreaterThanOrEqual(29);
      expect(announce.mock.calls.length).toBeLessThanOrEqual(31);
      expect(purge).toHaveBeenCalledTimes(1);
    });

    it('inquires about every payment exactly once, and never leases one to itself twice', async () => {
      await shop.clock.advance(25 * MINUTE_MS);
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(0);
      answerHeld();
      await shop.clock.advance(30 * MINUTE_MS);
      const inquiredIds = shop.gateway.sent('CheckPayment').map(({ conversationId }) => conversationId);
      expect([new Set(inquiredIds).size, inquiredIds.length]).toEqual([UNKNOWN, UNKNOWN]);
      expect(new Set(await Promise.all(ids.map(stateOf)))).toEqual(new Set(['succeeded', 'failed']));
    });

    it('hands back the waiting payments when it is stopped, and waits for the running inquiries', async () => {
      const stopped = background.reconciler.stop();
      expect(await isOver(stopped)).toBe(false);
      answerHeld();
      await stopped;
      const other = await shop.start();
      // Four were inquired about, and those without room are due in a minute. The clock stands: no lease has expired.
      expect(await other.payments.reconcile()).toMatchObject({ settled: 46 });
      await shop.clock.advance(2 * MINUTE_MS);
      expect(await other.payments.reconcile()).toMatchObject({ settled: UNKNOWN - 50 });
    });
  });

  describe('with four inquiries under way', () => {
    let held: ReturnType<FakeGateway['hold']>[];

    beforeEach(async () => {
      await addUnknown(5);
      held = Array.from({ length: 4 }, () => shop.gateway.hold('CheckPayment'));
    });

    async function startPass(): Promise<{ pass: Promise<ReconcileCounts> }> {
      const pass = flows.payments.reconcile();
      await Promise.all(held.map(({ begun }) => begun));
      await quiet();
      return { pass };
    }

    it('does not process a payment whose lease has expired', async () => {
      const { pass } = await startPass();
      await shop.clock.advance(PAYMENT_LEASE_MS);
      // Nor does it lease it again.
      shop.store.leaseDue = () => Promise.resolve([]);
      for (const request of held) request.answer(UNDECIDED);
      expect(await pass).toMatchObject({ inquired: 4, settled: 0 });
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(4);
    });

    it('expires payments if they stay unanswered, and asks about nothing more', async () => {
      await add('LATE', { state: 'awaiting', expiresAt: shop.clock.now() });
      await add('LEFT', { state: 'charging' });
      const { pass } = await startPass();
      const now = shop.clock.now().getTime();
      for (const request of held) request.answer(LOST);
      expect(await pass).toMatchObject({ expired: 1, interrupted: 1, inquired: 0 });
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(4);
      const due = async (id: string): Promise<number> => (await shop.store.find('default', id))!.dueAt!.getTime() - now;
      for (const id of ['LEFT', 'UNKNOWN4']) {
        expect(await due(id)).toBeGreaterThanOrEqual(48 * SECOND_MS);
        expect(await due(id)).toBeLessThanOrEqual(72 * SECOND_MS);
      }
    });
  });

  it('starts no new inquiry after one got no answer, while others are still waiting', async () => {
    await addUnknown(4);
    const held = Array.from({ length: 4 }, () => shop.gateway.hold('CheckPayment'));
    await startBackground();
    await shop.clock.advance(LONGEST_INTERVAL_MS);
    held[0]!.answer(LOST);
    await add('NEW', { state: 'unknown' });
    await shop.clock.advance(2 * LONGEST_INTERVAL_MS);
    expect(shop.gateway.sent('CheckPayment')).toHaveLength(1);
    for (const request of held.slice(1)) request.answer(LOST);
  });

  it('asks about others while three inquiries stay unanswered', async () => {
    await addUnknown(3);
    const held = Array.from({ length: 3 }, () => shop.gateway.hold('CheckPayment'));
    await startBackground();
    await shop.clock.advance(LONGEST_INTERVAL_MS);
    for (const id of ['NEW', 'NEWER']) {
      await add(id, { state: 'unknown' });
      await shop.clock.advance(LONGEST_INTERVAL_MS);
      expect(await stateOf(id)).toBe('succeeded');
    }
    for (const request of held) request.answer(LOST);
  });

  it.each(['purge', 'announce'] as const)('expires payments while %s hangs in the store', async (method) => {
    await startBackground();
    shop.store[method] = () => new Promise<never>(() => undefined);
    await shop.clock.advance(HOUR_MS);
    await add('LATE', { state: 'awaiting', expiresAt: shop.clock.now() });
    await shop.clock.advance(LONGEST_INTERVAL_MS);
    expect(await stateOf('LATE')).toBe('expired');
    // The hanging call never ends, so stop() would wait for ever.
    started.length = 0;
  });

  it.each<[keyof MemoryPaymentStore, number, number, string]>([
    ['leaseDue', 20, 40, 'during background work, which is tried again.'],
    ['handBack', 1, 1, 'during inquiries, which are made again.'],
    ['announce', 4, 7, 'to record the handlers of events; they are announced again.'],
    ['purge', 1, 1, 'to delete old payments; this is tried again.'],
  ])('logs that %s fails, tries again %i to %i times a minute, and goes on', async (method, fewest, most, failed) => {
    await addUnknown(1);
    shop.gateway.willAnswer('CheckPayment', LOST);
    await startBackground({ retentionMs: DAY_MS });
    const call = jest.spyOn(shop.store, method as 'purge').mockRejectedValue(new Error('password=secret'));
    await shop.clock.advance(MINUTE_MS);
    const calls = call.mock.calls.length;
    expect(calls).toBeGreaterThanOrEqual(fewest);
    expect(calls).toBeLessThanOrEqual(most);
    const lines = log.filter((line) => line === `error The payment store failed ${failed}`);
    expect(lines).toHaveLength(Math.min(calls, 3));
    expect(records[log.indexOf(lines[0]!)]).toMatchObject({ account: 'default' });
    expect(log.join()).not.toContain('secret');

    call.mockRestore();
    await shop.clock.advance(HOUR_MS);
    expect(await stateOf('UNKNOWN0')).toBe('succeeded');
  });

  it('ends a pass that fails only when all that it has begun has ended', async () => {
    const ids = ['LATE0', 'BROKEN', 'LATE2', 'LATE3'];
    for (const id of ids) await add(id, { state: 'awaiting', expiresAt: new Date(0) });
    const [replace, released] = [shop.store.replace.bind(shop.store), gate()];
    shop.store.replace = async (...given) => {
      if (given[0].conversationId === 'BROKEN') throw new Error('down');
      await released.passed;
      return replace(...given);
    };
    const pass = flows.payments.reconcile().catch((error: unknown) => error);
    expect(await isOver(pass)).toBe(false);
    released.pass();
    expect(await pass).toMatchObject({ code: 'PAYMENT_STORE' });
    expect(await Promise.all(ids.map(stateOf))).toEqual(['expired', 'awaiting', 'expired', 'expired']);
  });

  it('shows no address of a page that waits to be asked about, when it is inspected', async () => {
    const fields = { state: 'pending', dueAt: new Date(shop.clock.now().getTime() + HOUR_MS) } as const;
    const redirectUrl = 'https://gateway.example/the-page';
    const pages = Array.from({ length: 10 }, (_, page) =>
      aPaymentRecord({ ...fields, conversationId: `PAGE${page}`, redirectUrl }),
    );
    const store = { leaseDue: () => Promise.resolve(pages.splice(0)) };
    const inquiries = { ask: () => new Promise(() => undefined) };
    const { signal: stopping } = new AbortController();
    const { clock } = shop;
    const parts = { store, inquiries, rules: RULES, clock, settings: flows.settings, stopping } as unknown as DueParts;
    const due = new DuePayments(parts, () => undefined);
    await due.process(false);
    expect(inspect(due, { depth: 20, showHidden: true })).not.toContain('the-page');
  });
});
