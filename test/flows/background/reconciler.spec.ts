import { jest } from '@jest/globals';
import type { PaymentOptions, PaymentRecord, ReconcileCounts } from 'nestjs-card-payment';
import type { AssembledFlows } from '../assembled-flows.js';
import { type FakeGateway, LOST, NOT_PAID, PAID, UNDECIDED } from '../fake-gateway.js';
import { logLines } from '../log-lines.js';
import { isOver, quiet, sale, TestShop } from '../test-shop.js';
import { PAYMENT_LEASE_MS } from '../../../lib/flows/background/due-payments.js';
import { aPaymentRecord } from '../../../lib/testing/a-payment.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Every two seconds, a quarter more or less. */
const LONGEST_INTERVAL_MS = 2_500;
const NOTHING = { written: 0, expired: 0, interrupted: 0, inquired: 0, settled: 0, delivered: 0, purged: 0 };

describe('the background work', () => {
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

  describe('by itself', () => {
    it('expires, asks and delivers every two seconds, until it is stopped', async () => {
      const { reconciler, payments } = await startBackground();
      await payments.init3d(sale({ conversationId: 'ABC00000000000000001', reference: 'order' }));
      await shop.clock.advance(HOUR_MS);
      await addUnknown(1);
      await shop.clock.advance(LONGEST_INTERVAL_MS);
      expect(await stateOf('ABC00000000000000001')).toBe('expired');
      expect(await stateOf('UNKNOWN0')).toBe('succeeded');
      expect(shop.journal).toEqual(['ABC00000000000000001:3 expired', 'UNKNOWN0:4 succeeded']);

      await reconciler.stop();
      await add('AFTER', { state: 'unknown' });
      await shop.clock.advance(HOUR_MS);
      expect(await stateOf('AFTER')).toBe('unknown');
    });

    it('delivers what another instance left', async () => {
      shop.gateway.willAnswer('DoPayment', LOST);
      const { conversationId } = await flows.payments.doPayment(sale());
      expect(shop.journal).toEqual([]);
      await startBackground();
      await shop.clock.advance(LONGEST_INTERVAL_MS);
      expect(shop.journal).toEqual([`${conversationId}:2 unknown`]);
    });

    it('does not run where it is turned off', async () => {
      await startBackground({ background: false });
      await addUnknown(1);
      await shop.clock.advance(HOUR_MS);
      expect(await stateOf('UNKNOWN0')).toBe('unknown');
      expect(shop.gateway.requests).toEqual([]);
    });

    it('goes on after the store has failed, and says so', async () => {
      await addUnknown(1);
      const { store } = shop;
      const leaseDue = store.leaseDue.bind(store);
      store.leaseDue = () => Promise.reject(new Error('password=secret'));
      await startBackground();
      await shop.clock.advance(2 * LONGEST_INTERVAL_MS);
      const line = 'error The payment store failed during background work, which is tried again.';
      expect(log).toContain(line);
      expect(records[log.indexOf(line)]).toMatchObject({ account: 'default' });
      expect(log.join()).not.toContain('secret');
      store.leaseDue = leaseDue;
      await shop.clock.advance(LONGEST_INTERVAL_MS);
      expect(await stateOf('UNKNOWN0')).toBe('succeeded');
    });

    it('tells how long ago it last began', async () => {
      await shop.clock.advance(HOUR_MS);
      const { reconciler } = await startBackground();
      expect([flows.reconciler.idleMs, reconciler.idleMs]).toEqual([null, 0]);
      await shop.clock.advance(SECOND_MS);
      expect(reconciler.idleMs).toBe(SECOND_MS);
      reconciler.start();
      expect(reconciler.idleMs).toBe(SECOND_MS);
      await reconciler.stop();
      expect(reconciler.idleMs).toBeNull();
    });

    it('leases fifty payments at once, every two seconds, a quarter more or less, and none once it is stopped', async () => {
      const { reconciler } = await startBackground();
      const leaseDue = jest.spyOn(shop.store, 'leaseDue');
      await shop.clock.advance(MINUTE_MS);
      expect(leaseDue.mock.calls.length).toBeGreaterThanOrEqual(24);
      expect(leaseDue.mock.calls.length).toBeLessThanOrEqual(40);
      for (const [{ limit }] of leaseDue.mock.calls) expect(limit).toBe(50);
      leaseDue.mockClear();
      await reconciler.stop();
      expect(leaseDue).not.toHaveBeenCalled();
    });

    it('begins nothing where it is stopped before its first pass', async () => {
      const { reconciler } = await startBackground({ retentionMs: DAY_MS });
      const [purge, listByState] = [jest.spyOn(shop.store, 'purge'), jest.spyOn(shop.store, 'listByState')];
      await reconciler.stop();
      expect(purge).not.toHaveBeenCalled();
      expect(listByState).not.toHaveBeenCalled();
    });

    it('runs once, however often it is started', async () => {
      const { reconciler } = await startBackground();
      const { sleeping } = shop.clock;
      reconciler.start();
      expect(shop.clock.sleeping).toBe(sleeping);
    });
  });

  describe('a pass', () => {
    it('counts nothing where there is nothing to do', async () => {
      expect(await flows.payments.reconcile()).toEqual(NOTHING);
    });

    it('expires what nobody came back to, and nothing before its time', async () => {
      const expiresAt = new Date(shop.clock.now().getTime() + MINUTE_MS);
      await add('INITIATING', { state: 'initiating', expiresAt });
      await add('AWAITING', { state: 'awaiting', expiresAt });
      expect(await flows.payments.reconcile()).toEqual(NOTHING);
      await shop.clock.advance(MINUTE_MS);
      expect(await flows.payments.reconcile()).toEqual({ ...NOTHING, expired: 2, delivered: 2 });
      expect([await stateOf('INITIATING'), await stateOf('AWAITING')]).toEqual(['expired', 'expired']);
      expect(shop.gateway.requests).toEqual([]);
    });

    it.each(['charging', 'authorizing'] as const)('asks about one left %s, and sends it never again', async (state) => {
      await add('LEFT', { state });
      const counts = await flows.payments.reconcile();
      expect(counts).toEqual({ ...NOTHING, interrupted: 1, inquired: 1, settled: 1, delivered: 2 });
      expect(shop.journal).toEqual(['LEFT:4 unknown', 'LEFT:5 succeeded']);
      expect(shop.gateway.requests.map(({ operation }) => operation)).toEqual(['CheckPayment']);
      const [, interrupted] = await shop.store.history('default', 'LEFT');
      expect(interrupted).toMatchObject({ state: 'unknown', reason: 'interrupted' });
    });

    it('finds out what was left charging although another payment of its order has proved to be charged', async () => {
      const reference = 'order-1';
      await add('LIED', { state: 'failed', reference, dueAt: null });
      await add('LEFT', { state: 'charging', reference, referenceLock: reference });
      shop.gateway.willAnswer('CheckPayment', PAID, UNDECIDED);
      expect(await flows.payments.inquire('LIED')).toMatchObject({ state: 'review', reason: 'moved_after_all' });
      expect(await flows.payments.reconcile()).toMatchObject({ interrupted: 1, inquired: 1 });
      expect(await stateOf('LEFT')).toBe('unknown');
    });

    it('leaves one that is under way alone', async () => {
      const held = shop.gateway.hold('DoPayment');
      const paying = flows.payments.doPayment(sale({ conversationId: 'ABC00000000000000001' }));
      await held.begun;
      await shop.clock.advance(MINUTE_MS);
      expect(await flows.payments.reconcile()).toEqual(NOTHING);
      held.answer(shop.gateway.approval({ operation: 'DoPayment', conversationId: 'ABC00000000000000001' }));
      expect((await paying).state).toBe('succeeded');
    });

    it('asks again, less and less often, about what stays unknown', async () => {
      await addUnknown(1);
      const asked: number[] = [];
      for (let seconds = 0; seconds <= 600; seconds += 1) {
        shop.gateway.willAnswer('CheckPayment', UNDECIDED);
        const { inquired } = await flows.payments.reconcile();
        if (inquired > 0) asked.push(seconds);
        await shop.clock.advance(SECOND_MS);
      }
      const waits = asked.slice(1).map((at, index) => at - asked[index]!);
      expect(asked[0]).toBe(0);
      // From half a minute on, doubled each time, a fifth more or less.
      waits.forEach((wait, index) => {
        expect(wait).toBeGreaterThanOrEqual(30 * 2 ** index * 0.8);
        expect(wait).toBeLessThanOrEqual(30 * 2 ** index * 1.2 + 1);
      });
      expect(waits.length).toBeGreaterThanOrEqual(3);
    });

    it('where the gateway cannot be asked leaves what is unknown to an operator', async () => {
      const { dialect: able } = flows.settings;
      const dialect = { ...able, operations: { ...able.operations, checkPayment: undefined } };
      const mute = await shop.start({ dialect });
      await add('LEFT', { state: 'charging' });
      expect(await mute.payments.reconcile()).toMatchObject({ interrupted: 1, inquired: 0 });
      expect(await shop.store.find('default', 'LEFT')).toMatchObject({ state: 'unknown', dueAt: null });
    });

    it('takes at most 200 payments', async () => {
      await addUnknown(201);
      expect(await flows.payments.reconcile()).toMatchObject({ inquired: 200 });
      expect(await flows.payments.reconcile()).toMatchObject({ inquired: 1 });
    });

    it('by two instances at a time does nothing twice', async () => {
      const other = await shop.start();
      await addUnknown(20);
      const passes = await Promise.all([flows.payments.reconcile(), other.payments.reconcile()]);
      expect(passes[0].settled + passes[1].settled).toBe(20);
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(20);
      expect(new Set(shop.journal).size).toBe(20);
      expect(shop.journal).toHaveLength(20);
    });

    it('rejects when the store fails, and what it was at comes back by itself', async () => {
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

  describe('before a gateway that does not answer', () => {
    it('asks on about none of the batch, and again a minute later about all', async () => {
      const ids = await addUnknown(40);
      shop.gateway.willAnswer('CheckPayment', ...ids.map(() => LOST));
      expect(await flows.payments.reconcile()).toEqual(NOTHING);
      // Those that were asked at the same time as the first.
      const asked = shop.gateway.sent('CheckPayment').length;
      expect(asked).toBeGreaterThan(0);
      expect(asked).toBeLessThanOrEqual(4);

      await shop.clock.advance(47 * SECOND_MS);
      expect(await flows.payments.reconcile()).toEqual(NOTHING);
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(asked);
    });

    it('asks about all of them once it answers', async () => {
      await addUnknown(40);
      shop.gateway.willAnswer('CheckPayment', LOST, LOST, LOST, LOST);
      await flows.payments.reconcile();
      await shop.clock.advance(72 * SECOND_MS);
      expect(await flows.payments.reconcile()).toMatchObject({ inquired: 40, settled: 40 });
    });

    it('still expires what is due, and finds out what was left charging', async () => {
      await addUnknown(8);
      await add('LATE', { state: 'awaiting', expiresAt: shop.clock.now() });
      await add('LEFT', { state: 'charging' });
      shop.gateway.willAnswer('CheckPayment', ...Array.from({ length: 10 }, () => LOST));
      expect(await flows.payments.reconcile()).toMatchObject({ expired: 1, interrupted: 1, inquired: 0 });
      expect(shop.gateway.sent('CheckPayment').length).toBeLessThanOrEqual(4);
    });
  });

  describe('keeping house', () => {
    it('deletes settled payments when the option says, and no others', async () => {
      const { payments } = await shop.start({ retentionMs: 2 * DAY_MS });
      const paid = await payments.doPayment(sale());
      shop.gateway.willAnswer('DoPayment', LOST);
      const unknown = await payments.doPayment(sale());
      shop.gateway.willAnswer('CheckPayment', ...Array.from({ length: 100 }, () => UNDECIDED));
      await payments.reconcile();
      await shop.clock.advance(2 * DAY_MS);
      expect((await payments.reconcile()).purged).toBe(0);
      // It is done once an hour.
      await shop.clock.advance(HOUR_MS);
      expect((await payments.reconcile()).purged).toBe(1);
      expect(await payments.find(paid.conversationId)).toBeNull();
      expect(await payments.find(unknown.conversationId)).toMatchObject({ state: 'unknown' });
    });

    it('goes on at the next pass where a purge left something for later', async () => {
      const { payments } = await shop.start({ retentionMs: DAY_MS });
      const purge = jest.spyOn(shop.store, 'purge');
      purge.mockResolvedValueOnce({ payments: 7, events: 7, hasMore: true });
      expect((await payments.reconcile()).purged).toBe(7);
      expect((await payments.reconcile()).purged).toBe(0);
      await payments.reconcile();
      expect(purge).toHaveBeenCalledTimes(2);
    });

    it('keeps settled payments for ever where the option says nothing', async () => {
      const { conversationId } = await flows.payments.doPayment(sale());
      await flows.payments.reconcile();
      await shop.clock.advance(3_650 * DAY_MS);
      expect((await flows.payments.reconcile()).purged).toBe(0);
      expect(await flows.payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
    });

    it('remembers its own handlers as long as it runs', async () => {
      for (let days = 0; days < 3; days += 1) {
        await shop.clock.advance(20 * DAY_MS);
        await flows.payments.reconcile();
      }
      await flows.payments.doPayment(sale());
      expect(await flows.payments.reconcile()).toMatchObject({ delivered: 1 });
    });

    it('forgets a handler that nobody has announced for 30 days, with what waits for it', async () => {
      const { store, clock } = shop;
      const { payments } = await shop.start({ retentionMs: DAY_MS });
      await store.announce('default', [{ handlerId: 'gone', type: 'payment.succeeded' }]);
      const { conversationId } = await payments.doPayment(sale());
      await payments.reconcile();
      await clock.advance(30 * DAY_MS);
      expect((await payments.reconcile()).purged).toBe(0);
      expect(await payments.find(conversationId)).not.toBeNull();
      await clock.advance(HOUR_MS);
      expect((await payments.reconcile()).purged).toBe(1);
    });
  });

  it('asks soon about all that were left charging, although they waited for a slow gateway until they were due again', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `LEFT${index}`);
    for (const id of ids) await add(id, { state: 'charging' });
    const held = Array.from({ length: 4 }, () => shop.gateway.hold('CheckPayment'));
    await startBackground();
    await shop.clock.advance(40 * SECOND_MS);
    for (const request of held) request.answer(NOT_PAID);
    await shop.clock.advance(2 * LONGEST_INTERVAL_MS);
    const unsettled = await shop.store.listByState('default', ['charging', 'unknown'], 100);
    expect(unsettled.map(({ conversationId }) => conversationId)).toEqual([]);
  });

  describe('while the gateway keeps inquiries waiting', () => {
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
      // A fifth would have been answered.
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(0);
    });

    function answer(): void {
      for (const request of held) request.answer(NOT_PAID);
    }

    it('expires what is due, and finds out what was left charging', async () => {
      await add('LATE', { state: 'awaiting', expiresAt: shop.clock.now() });
      await add('LEFT', { state: 'charging' });
      await shop.clock.advance(LONGEST_INTERVAL_MS);
      expect([await stateOf('LATE'), await stateOf('LEFT')]).toEqual(['expired', 'unknown']);
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(0);
    });

    it('announces its handlers every two minutes, and deletes every hour', async () => {
      const announce = jest.spyOn(shop.store, 'announce');
      const purge = jest.spyOn(shop.store, 'purge');
      await shop.clock.advance(HOUR_MS + 2 * LONGEST_INTERVAL_MS);
      expect(announce.mock.calls.length).toBeGreaterThanOrEqual(29);
      expect(announce.mock.calls.length).toBeLessThanOrEqual(31);
      expect(purge).toHaveBeenCalledTimes(1);
    });

    it('leases none of them twice to itself, and asks about all in the end', async () => {
      await shop.clock.advance(25 * MINUTE_MS);
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(0);
      answer();
      await shop.clock.advance(30 * MINUTE_MS);
      const asked = shop.gateway.sent('CheckPayment').map(({ conversationId }) => conversationId);
      expect([new Set(asked).size, asked.length]).toEqual([UNKNOWN, UNKNOWN]);
      expect(new Set(await Promise.all(ids.map(stateOf)))).toEqual(new Set(['succeeded', 'failed']));
    });

    it('asks about no more than its leases last for', async () => {
      const leaseDue = jest.spyOn(shop.store, 'leaseDue');
      await shop.clock.advance(MINUTE_MS);
      leaseDue.mockClear();
      await shop.clock.advance(MINUTE_MS);
      const leased = (await Promise.all(leaseDue.mock.results.map(({ value }) => value as Promise<unknown[]>))).flat();
      // What there is no room for is due again a minute later, not at once.
      expect(leased.length).toBeGreaterThan(0);
      expect(leased.length).toBeLessThanOrEqual(2 * (UNKNOWN - 100));
    });

    it('hands back what waits when it is stopped, and waits for what runs', async () => {
      const stopped = background.reconciler.stop();
      expect(await isOver(stopped)).toBe(false);
      answer();
      await stopped;
      const other = await shop.start();
      // 4 were asked about, and some had no room and are due in a minute. The clock stands: no lease has run out.
      expect(await other.payments.reconcile()).toMatchObject({ settled: 100 });
      await shop.clock.advance(2 * MINUTE_MS);
      expect(await other.payments.reconcile()).toMatchObject({ settled: UNKNOWN - 104 });
    });
  });

  describe('a pass with four inquiries under way', () => {
    let held: ReturnType<FakeGateway['hold']>[];

    beforeEach(async () => {
      await addUnknown(5);
      held = Array.from({ length: 4 }, () => shop.gateway.hold('CheckPayment'));
    });

    async function passUntilAsked(): Promise<{ pass: Promise<ReconcileCounts> }> {
      const pass = flows.payments.reconcile();
      await Promise.all(held.map(({ begun }) => begun));
      await quiet();
      return { pass };
    }

    it('leaves to others what it has leased too long ago', async () => {
      const { pass } = await passUntilAsked();
      await shop.clock.advance(PAYMENT_LEASE_MS);
      for (const request of held) request.answer(UNDECIDED);
      expect(await pass).toMatchObject({ inquired: 4, settled: 0 });
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(4);
    });

    it('asks a silent gateway about nothing else, and leaves when that is due', async () => {
      await add('LEFT', { state: 'charging' });
      const { pass } = await passUntilAsked();
      const now = shop.clock.now().getTime();
      for (const request of held) request.answer(LOST);
      expect(await pass).toMatchObject({ interrupted: 1, inquired: 0 });
      expect(shop.gateway.sent('CheckPayment')).toHaveLength(4);
      const due = async (id: string): Promise<number> => (await shop.store.find('default', id))!.dueAt!.getTime() - now;
      expect(await due('LEFT')).toBeLessThanOrEqual(18 * SECOND_MS);
      expect(await due('UNKNOWN4')).toBeGreaterThanOrEqual(48 * SECOND_MS);
    });
  });

  it('asks a gateway that is silent about nothing new while it still waits for other answers', async () => {
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

  it('is asked once about a payment whose lease runs out while the gateway is silent', async () => {
    await addUnknown(1);
    const held = shop.gateway.hold('CheckPayment');
    await startBackground();
    await shop.clock.advance(25 * MINUTE_MS);
    // A second inquiry would have been answered.
    expect(shop.gateway.sent('CheckPayment')).toHaveLength(0);
    held.answer(NOT_PAID);
    await quiet();
    expect(await stateOf('UNKNOWN0')).toBe('failed');
  });

  it.each(['purge', 'announce'] as const)('expires what is due while %s hangs in the store', async (method) => {
    await startBackground();
    shop.store[method] = () => new Promise<never>(() => undefined);
    await shop.clock.advance(HOUR_MS);
    await add('LATE', { state: 'awaiting', expiresAt: shop.clock.now() });
    await shop.clock.advance(LONGEST_INTERVAL_MS);
    expect(await stateOf('LATE')).toBe('expired');
    // Nothing ends them: the test's stop would wait for ever.
    started.length = 0;
  });

  it.each(['announce', 'listByState'] as const)(
    'asks a store that fails at %s again every ten seconds, and not more often',
    async (method) => {
      await startBackground();
      let asked = 0;
      const fail = (): Promise<never> => ((asked += 1), Promise.reject(new Error('down')));
      shop.store[method] = fail;
      await shop.clock.advance(5 * MINUTE_MS);
      asked = 0;
      await shop.clock.advance(MINUTE_MS);
      expect(asked).toBeGreaterThanOrEqual(4);
      expect(asked).toBeLessThanOrEqual(7);
    },
  );

  describe('where someone else changes what it has leased', () => {
    beforeEach(() => {
      const leaseDue = shop.store.leaseDue.bind(shop.store);
      shop.store.leaseDue = async (...given) => {
        const leased = await leaseDue(...given);
        for (const record of leased) {
          const version = record.version + 1;
          await shop.store.replace({ ...record, version, state: 'failed', dueAt: null }, record.version);
        }
        return leased;
      };
    });

    it.each(['charging', 'awaiting'] as const)('counts and asks nothing about one that was %s', async (state) => {
      await add('CHANGED', { state, expiresAt: shop.clock.now() });
      expect(await flows.payments.reconcile()).toEqual(NOTHING);
      expect(await stateOf('CHANGED')).toBe('failed');
    });
  });

  it('hands back at its stop what it has not begun with', async () => {
    for (let index = 0; index < 20; index += 1)
      await add(`LATE${index}`, { state: 'awaiting', expiresAt: new Date(0) });
    const { replace } = shop.store;
    let letGo = (): void => undefined;
    const gate = new Promise<void>((open) => (letGo = open));
    shop.store.replace = async (...given) => (await gate, replace.apply(shop.store, given));
    const pass = flows.payments.reconcile();
    await quiet();
    const stopped = flows.reconciler.stop();
    letGo();
    await Promise.all([pass, stopped]);
    const states = await Promise.all(Array.from({ length: 20 }, (_, index) => stateOf(`LATE${index}`)));
    expect(states.filter((state) => state === 'expired')).toHaveLength(4);
    const other = await shop.start();
    expect(await other.payments.reconcile()).toMatchObject({ expired: 16 });
  });

  it('announces its handlers again within seconds where the store did not take them', async () => {
    await startBackground();
    const announce = jest.spyOn(shop.store, 'announce').mockRejectedValueOnce(new Error('password=secret'));
    await shop.clock.advance(20 * SECOND_MS);
    expect(announce).toHaveBeenCalledTimes(2);
    expect(log).toContain('error The payment store failed to record the handlers of events; they are announced again.');
    expect(log.join()).not.toContain('secret');
  });

  it('says that the store did not look for payments that nobody asks about', async () => {
    const listByState = jest.spyOn(shop.store, 'listByState').mockRejectedValueOnce(new Error('password=secret'));
    await startBackground();
    await shop.clock.advance(20 * SECOND_MS);
    expect(listByState).toHaveBeenCalledTimes(2);
    expect(log).toContain(
      'error The payment store failed to list unknown payments without a scheduled inquiry; this is tried again.',
    );
    expect(log.join()).not.toContain('secret');
  });

  it('says that the store did not delete what is old', async () => {
    await startBackground({ retentionMs: DAY_MS });
    const purge = jest.spyOn(shop.store, 'purge').mockRejectedValueOnce(new Error('password=secret'));
    await shop.clock.advance(LONGEST_INTERVAL_MS);
    expect(purge).toHaveBeenCalledTimes(1);
    expect(log).toContain('error The payment store failed to delete old payments; this is tried again.');
    expect(log.join()).not.toContain('secret');
  });

  it('says that inquiries failed where the store took none of their answers', async () => {
    await addUnknown(1);
    shop.gateway.willAnswer('CheckPayment', LOST);
    shop.store.handBack = () => Promise.reject(new Error('password=secret'));
    const { reconciler } = await startBackground();
    await shop.clock.advance(LONGEST_INTERVAL_MS);
    expect(log).toContain('error The payment store failed during inquiries, which are made again.');
    expect(log.join()).not.toContain('secret');
    // The rest of the background work goes on well: that is no success of the inquiries.
    await shop.clock.advance(4 * LONGEST_INTERVAL_MS);
    expect(reconciler.failuresInRow).toBe(1);
    // Once its lease has run out, the payment is asked about again.
    await shop.clock.advance(30 * MINUTE_MS);
    expect([await stateOf('UNKNOWN0'), reconciler.failuresInRow]).toEqual(['succeeded', 0]);
  });

  it('names a store that goes on failing a few times a minute, and not each time', async () => {
    shop.store.leaseDue = () => Promise.reject(new Error('down'));
    const { reconciler } = await startBackground();
    await shop.clock.advance(50 * SECOND_MS);
    expect(log.filter((line) => line.startsWith('error The background work was cut short'))).toHaveLength(3);
    expect(reconciler.failuresInRow).toBeGreaterThanOrEqual(20);
  });

  describe('payments that became unknown where nobody could ask about them', () => {
    const mute = (): PaymentOptions => {
      const { dialect } = flows.settings;
      return { dialect: { ...dialect, operations: { ...dialect.operations, checkPayment: undefined } } };
    };

    it('are asked about once an instance starts that can, whose start does not wait for them', async () => {
      for (let index = 0; index < 600; index += 1) await add(`MUTE${index}`, { state: 'unknown', dueAt: null });
      await add('ASKED', { state: 'unknown', dueAt: new Date(shop.clock.now().getTime() + DAY_MS) });
      const { listByState } = shop.store;
      const listed = jest.spyOn(shop.store, 'listByState').mockImplementation(() => new Promise(() => undefined));
      const hanging = await shop.start();
      hanging.reconciler.start();
      listed.mockImplementation(listByState.bind(shop.store));
      await startBackground();
      await shop.clock.advance(10 * MINUTE_MS);
      const states = await Promise.all(['MUTE0', 'MUTE599', 'ASKED'].map(stateOf));
      expect(states).toEqual(['succeeded', 'succeeded', 'unknown']);
      for (const [, , limit] of listed.mock.calls) expect(limit).toBeLessThanOrEqual(1_000);
      expect(listed.mock.calls.length).toBeLessThanOrEqual(8);
    });

    it('are asked about by a pass, too', async () => {
      await add('MUTE', { state: 'unknown', dueAt: null });
      expect(await flows.payments.reconcile()).toMatchObject({ inquired: 1, settled: 1 });
    });

    it('are all due soon, however many of them there are and however slow the gateway is', async () => {
      for (let index = 0; index < 1_500; index += 1) await add(`MUTE${index}`, { state: 'unknown', dueAt: null });
      for (let asked = 0; asked < 4; asked += 1) shop.gateway.hold('CheckPayment');
      const listByState = jest.spyOn(shop.store, 'listByState');
      await startBackground();
      await shop.clock.advance(MINUTE_MS);
      expect(listByState.mock.calls.map(([, , limit]) => limit)).toEqual([500, 500, 1_000, 1_000, 2_000]);
      const unknown = await shop.store.listByState('default', ['unknown'], 2_000);
      expect(unknown).toHaveLength(1_500);
      expect(unknown.filter(({ dueAt }) => dueAt === null)).toEqual([]);
    });

    it('are looked through further and further, and anew an hour later', async () => {
      const scheduled = aPaymentRecord({ state: 'unknown', dueAt: new Date(shop.clock.now().getTime() + 9 * HOUR_MS) });
      const limits: number[] = [];
      shop.store.listByState = (_account, _states, limit) => {
        limits.push(limit);
        const found = Array.from({ length: limit }, () => scheduled);
        // Where there was one among so many, there may be another.
        if (limits.length === 6) found[0] = { ...scheduled, dueAt: null };
        return Promise.resolve(found);
      };
      await startBackground();
      await shop.clock.advance(30 * MINUTE_MS);
      expect(limits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000]);
      await shop.clock.advance(31 * MINUTE_MS);
      expect(limits.slice(7, 9)).toEqual([500, 1_000]);
    });

    it('stay as they are where nobody can ask', async () => {
      await add('MUTE', { state: 'unknown', dueAt: null });
      await add('DUE', { state: 'unknown' });
      const handBack = jest.spyOn(shop.store, 'handBack');
      await startBackground(mute());
      await shop.clock.advance(2 * HOUR_MS);
      expect(handBack).not.toHaveBeenCalled();
      // Nobody was asked, so that it waits no longer for whoever can ask.
      expect(await shop.store.find('default', 'DUE')).toMatchObject({
        inquiries: 0,
        version: aPaymentRecord().version,
      });
    });

    it('make no instance busy where one of each kind runs', async () => {
      for (let index = 0; index < 20; index += 1) await add(`MUTE${index}`, { state: 'unknown', dueAt: null });
      shop.gateway.willAnswer('CheckPayment', ...Array.from({ length: 10_000 }, () => UNDECIDED));
      await startBackground(mute());
      await startBackground();
      const [handBack, listByState] = [jest.spyOn(shop.store, 'handBack'), jest.spyOn(shop.store, 'listByState')];
      // Whichever of the two leases them first has them for ten minutes: for an hour, that may always be the other one.
      await shop.clock.advance(4 * HOUR_MS);
      expect(handBack.mock.calls.length).toBeLessThanOrEqual(20);
      expect(listByState.mock.calls.length).toBeLessThanOrEqual(6);
      // As often as one instance alone would ask: ten times, with intervals that double.
      expect(shop.gateway.sent('CheckPayment').length).toBeLessThanOrEqual(20 * 13);
      expect(shop.gateway.sent('CheckPayment').length).toBeGreaterThanOrEqual(20);
    });
  });

  it('writes what is owed before anything else, and delivers it', async () => {
    const { store } = shop;
    const replace = store.replace.bind(store);
    store.replace = () => Promise.reject(new Error('down'));
    const { conversationId } = await flows.payments.doPayment(sale());
    store.replace = replace;
    expect(await flows.payments.reconcile()).toEqual({ ...NOTHING, written: 1, delivered: 1 });
    expect(await stateOf(conversationId)).toBe('succeeded');
  });

  it('when it is stopped asks no more, hands back what it took, and waits for what runs', async () => {
    const ids = await addUnknown(20);
    const held = shop.gateway.hold('CheckPayment');
    const pass = flows.payments.reconcile();
    await held.begun;
    const stopped = flows.reconciler.stop();
    held.answer(LOST);
    const [before] = await Promise.all([pass, stopped]);
    expect(shop.gateway.sent('CheckPayment').length).toBeLessThan(ids.length);
    const other = await shop.start();
    // The clock stands: nothing that was leased has run out. One was asked about in vain, and is not due yet.
    const after = await other.payments.reconcile();
    expect(before.settled + after.settled).toBe(ids.length - 1);
  });

  it('stops only when its loop has ended', async () => {
    const { reconciler } = await startBackground();
    await addUnknown(1);
    const held = shop.gateway.hold('CheckPayment');
    const advancing = shop.clock.advance(LONGEST_INTERVAL_MS);
    await held.begun;
    await advancing;
    const stopped = reconciler.stop();
    expect(await isOver(stopped)).toBe(false);
    held.answer(NOT_PAID);
    await stopped;
    expect(await stateOf('UNKNOWN0')).toBe('failed');
  });
});
