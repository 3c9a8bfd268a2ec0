import { Logger } from '@nestjs/common';
import { OperatorFlow } from '../../lib/flows/operator-flow.js';
import { NO_HOLD } from './assembled-flows.js';
import { OwedWrites } from '../../lib/flows/settling/owed-writes.js';
import { PaymentChanges } from '../../lib/flows/settling/payment-changes.js';
import { PaymentReader } from '../../lib/flows/payment-reader.js';
import { PaymentWriter } from '../../lib/flows/settling/payment-writer.js';
import { StoreClock } from '../../lib/process/store-clock.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { advance } from '../../lib/payment/transitions.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';

describe('OperatorFlow', () => {
  let store: MemoryPaymentStore;
  let flow: OperatorFlow;
  let clock: TestClock;

  beforeEach(() => {
    Logger.overrideLogger(false);
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    const time = new StoreClock(clock, store);
    const changes = new PaymentChanges(store, time, { publish: () => Promise.resolve() });
    const writer = new PaymentWriter(changes, new OwedWrites(changes, clock, NO_HOLD), time);
    flow = new OperatorFlow(new PaymentReader(store, { account: 'default' }), writer, time);
  });

  it('tells the second payment of a reference as succeeded when money moved twice', async () => {
    await store.insert(aPaymentRecord({ state: 'succeeded' }));
    const second = { conversationId: 'SECOND', idempotencyKey: null, referenceLock: null };
    await store.insert(aPaymentRecord({ state: 'review', ...second, reason: 'moved_after_all' }));
    const payment = await flow.resolve('SECOND', 'succeeded', 'seen in the panel');
    expect(payment).toMatchObject({ state: 'succeeded', reason: 'operator', settled: true });
    await expect(store.find('default', 'SECOND')).resolves.toMatchObject({ state: 'succeeded', referenceLock: null });
  });

  it('says in words what is wrong with each argument', async () => {
    const resolve = flow.resolve.bind(flow) as (...given: unknown[]) => Promise<unknown>;
    const both = { by: ' ', force: 'yes', reason: 'none' };
    await expect(resolve('ONE', 'review', ' ', both, 'more')).rejects.toMatchObject({
      issues: [
        { path: 'state', rule: 'isIn', message: 'must be succeeded or failed' },
        { path: 'note', rule: 'isNotEmpty', message: 'must say how it was found out' },
        { path: 'arguments', rule: 'maxLength', message: 'must be four at most: by and force are options' },
        { path: 'options.by', rule: 'isNotEmpty', message: 'must be a text that says who, or left out' },
        { path: 'options.force', rule: 'isBoolean', message: 'must be true, false, or left out' },
        { path: 'options', rule: 'whitelist', message: 'may hold by and force, and nothing else' },
      ],
    });
    const message = 'must be an object, such as { by: "ada@shop.example" }';
    for (const options of [null, 'ada', ['ada']]) {
      await expect(resolve('ONE', 'failed', 'seen in the panel', options)).rejects.toMatchObject({
        issues: [{ path: 'options', rule: 'isObject', message }],
      });
    }
  });

  it('is not put off by an inquiry that was noted meanwhile', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    meanwhile({ ...record, inquiries: 1, version: record.version + 1 });
    await expect(flow.resolve(record.conversationId, 'failed', 'not in the panel')).resolves.toMatchObject({
      state: 'failed',
      version: record.version + 2,
    });
  });

  it('leaves alone what the gateway settled meanwhile', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    meanwhile({ ...record, state: 'succeeded', version: record.version + 1 });
    await expect(flow.resolve(record.conversationId, 'failed', 'not in the panel')).rejects.toMatchObject({
      code: 'PAYMENT_STATE',
      message: expect.stringContaining('that is succeeded cannot be resolved as failed.') as string,
      payment: { state: 'succeeded' },
    });
  });

  it('fails as a store error when the store does', async () => {
    await store.insert(aPaymentRecord({ state: 'unknown' }));
    store.replace = () => Promise.reject(new Error('password=secret'));
    await expect(
      flow.resolve(aPaymentRecord({ state: 'unknown' }).conversationId, 'failed', 'x'),
    ).rejects.toMatchObject({
      code: 'PAYMENT_STORE',
      message: expect.not.stringContaining('secret') as string,
    });
  });

  it.each(['unknown', 'review'] as const)('keeps with one that was %s who found out, and how', async (state) => {
    const record = aPaymentRecord({ state });
    await store.insert(record);
    await flow.resolve(record.conversationId, 'failed', 'Ada, in the panel');
    const history = await store.history('default', record.conversationId);
    expect(history.at(-1)).toMatchObject({ state: 'failed', reason: 'operator', note: 'Ada, in the panel' });
  });

  it('keeps no more of the card in a note than its mask shows', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    await flow.resolve(record.conversationId, 'failed', 'Ada saw 45080345 and 08034509 in the panel, order 20261234');
    const { note } = (await store.find('default', record.conversationId))!;
    expect(note).toBe('Ada saw ******** and ******** in the panel, order ********');
  });

  it('keeps no card number and no control character of a note, and no more than a thousand characters', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    const note = `4508 0345 0803 4509\r\n5406675406675403 ${'x'.repeat(2_000)}`;
    await flow.resolve(record.conversationId, 'failed', note);
    const kept = (await store.find('default', record.conversationId))!.note!;
    expect(kept).toMatch(/^\*{4} \*{4} \*{4} \*{4} {2}\*{3} x/);
    expect(kept).not.toMatch(/\d/);
    expect(kept).not.toMatch(/0345|5406675406675403|[\r\n]/);
    expect(kept.length).toBeLessThanOrEqual(1_000);
  });

  it.each<[string, unknown, unknown, string]>([
    ['another state', 'review', 'seen', 'state'],
    ['no state', undefined, 'seen', 'state'],
    ['an empty note', 'failed', ' ', 'note'],
    ['no note', 'failed', undefined, 'note'],
    ['a note that is no text', 'failed', { toString: () => 'seen' }, 'note'],
  ])('refuses %s, and writes nothing', async (_what, state, note, path) => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    await expect(flow.resolve(record.conversationId, state as 'failed', note as string)).rejects.toMatchObject({
      code: 'PAYMENT_VALIDATION',
      issues: [{ path }],
    });
    expect(await store.find('default', record.conversationId)).toEqual(record);
  });

  it('keeps who resolved it, in that line of history alone, without a card and no longer than a name is', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    await flow.resolve(record.conversationId, 'failed', 'seen', { by: 'ada@shop.example' });
    const resolved = (await store.find('default', record.conversationId))!;
    expect(resolved).toMatchObject({ state: 'failed', by: 'ada@shop.example' });
    await store.replace(advance(resolved, 'review', { reason: 'moved_after_all' }, clock.now()), resolved.version);
    await flow.resolve(record.conversationId, 'succeeded', 'seen', { by: `4508 0345 0803 4509 ${'x y '.repeat(100)}` });
    const [, first, second, third] = await store.history('default', record.conversationId);
    expect([first?.by, second?.by]).toEqual(['ada@shop.example', null]);
    expect(third!.by).toMatch(/^\*{4} \*{4} \*{4} \*{4} x y /);
    expect(third!.by!.length).toBeLessThanOrEqual(200);
  });

  it.each<[string, unknown[], string[]]>([
    ['options that are no object', ['ada'], ['options']],
    ['null for the options', [null], ['options']],
    ['a list for the options', [['ada']], ['options']],
    ['an option that there is not', [{ By: 'ada' }], ['options']],
    ['an empty name', [{ by: ' ' }], ['options.by']],
    ['a name that is no text', [{ by: 7 }], ['options.by']],
    ['a force that is no yes or no', [{ force: 'true' }], ['options.force']],
    ['a fifth argument', [{ by: 'ada' }, true], ['arguments']],
    ['several', [{ by: null, force: 1, note: 'x' }, 'x'], ['arguments', 'options.by', 'options.force', 'options']],
  ])('refuses %s, and writes nothing', async (_what, more, paths) => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    const refused = flow.resolve(record.conversationId, 'failed', 'seen', ...more);
    await expect(refused).rejects.toMatchObject({
      code: 'PAYMENT_VALIDATION',
      issues: paths.map((path) => ({ path })),
    });
    expect(await store.find('default', record.conversationId)).toEqual(record);
  });

  describe('of a payment that was interrupted', () => {
    const HOUR_MS = 3_600_000;
    const id = aPaymentRecord().conversationId;

    /** Claimed now; interrupted, and asked about again, later. */
    async function interrupted(kind: 'direct' | '3d'): Promise<void> {
      const state = kind === 'direct' ? 'charging' : 'awaiting';
      let record = aPaymentRecord({ kind, state, createdAt: new Date(clock.now().getTime() - 600_000) });
      if (kind === 'direct') record = { ...record, createdAt: clock.now(), updatedAt: clock.now() };
      await store.insert(record);
      const go = async (to: 'authorizing' | 'unknown', reason: 'interrupted' | null): Promise<void> => {
        const next = advance(record, to, { reason }, clock.now());
        await store.replace(next, record.version);
        record = next;
      };
      if (kind === '3d') await go('authorizing', null);
      await clock.advance(90_000);
      await go('unknown', 'interrupted');
      await clock.advance(60_000);
      await go('unknown', 'interrupted');
    }

    it.each(['direct', '3d'] as const)('%s, failed needs force for an hour from its claim on', async (kind) => {
      await interrupted(kind);
      await clock.advance(HOUR_MS - 150_000 - 1);
      await expect(flow.resolve(id, 'failed', 'not in the panel', { by: 'ada' })).rejects.toMatchObject({
        code: 'PAYMENT_STATE',
        message:
          `A ${kind} payment that is unknown cannot be resolved as failed within an hour of its claim: it was ` +
          'interrupted, and a host that was only suspended may still send it. Make sure that the process that took it ' +
          'has ended (or wait until the hour is over), then resolve it with force.',
        payment: { state: 'unknown', reason: 'interrupted' },
      });
      expect(await store.find('default', id)).toMatchObject({ state: 'unknown' });
      await clock.advance(1);
      expect(await flow.resolve(id, 'failed', 'not in the panel')).toMatchObject({ state: 'failed' });
    });

    it('needs force for an hour of the store, whatever the clock of this host is set to', async () => {
      await interrupted('direct');
      await expect(flow.resolve(id, 'failed', 'not in the panel')).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
      const truth = clock.now();
      store.now = () => Promise.resolve(truth);
      clock.set(new Date(truth.getTime() + 2 * HOUR_MS));
      await expect(flow.resolve(id, 'failed', 'not in the panel')).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
      store.now = () => Promise.reject(new Error('down'));
      clock.set(new Date(truth.getTime() + 4 * HOUR_MS));
      await expect(flow.resolve(id, 'failed', 'not in the panel')).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
      expect(await store.find('default', id)).toMatchObject({ state: 'unknown' });
    });

    it('is taken with force at once, and without it where money did move', async () => {
      await interrupted('direct');
      expect(await flow.resolve(id, 'failed', 'the host is gone', { force: true })).toMatchObject({ state: 'failed' });
      await expect(flow.resolve(id, 'succeeded', 'seen')).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
    });

    it('needs none to be resolved as succeeded', async () => {
      await interrupted('3d');
      expect(await flow.resolve(id, 'succeeded', 'in the panel')).toMatchObject({ state: 'succeeded' });
    });

    it('needs none for any other reason: the request is over', async () => {
      await store.insert(aPaymentRecord({ state: 'unknown', reason: 'no_answer', updatedAt: clock.now() }));
      expect(await flow.resolve(id, 'failed', 'not in the panel')).toMatchObject({ state: 'failed' });
    });
  });

  it('refuses a payment that nobody knows', async () => {
    await expect(flow.resolve('NOBODY', 'failed', 'x')).rejects.toMatchObject({ code: 'PAYMENT_NOT_FOUND' });
  });

  /** Someone else writes between the look and the write. */
  function meanwhile(newer: PaymentRecord): void {
    const replace = store.replace.bind(store);
    store.replace = async (...args) => {
      store.replace = replace;
      await replace(newer, newer.version - 1);
      return replace(...args);
    };
  }
});
