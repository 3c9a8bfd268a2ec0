import { Logger } from '@nestjs/common';
import { Resolutions } from '../../lib/operations/resolution.js';
import { NO_HOLD, RULES } from './assembled-flows.js';
import { OwedWrites } from '../../lib/settlement/owed-writes.js';
import { PaymentWriter } from '../../lib/settlement/writer.js';
import { PaymentReader, RefundReader } from '../../lib/settlement/records.js';
import { StoreClock } from '../../lib/settlement/store-clock.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { advance } from '../../lib/payment/transitions.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

describe('Resolutions', () => {
  let store: MemoryPaymentStore;
  let flow: Resolutions;
  let clock: TestClock;

  beforeEach(() => {
    Logger.overrideLogger(false);
    clock = new TestClock();
    store = new MemoryPaymentStore({ clock });
    const time = new StoreClock(clock, store);
    const events = { publish: () => Promise.resolve() };
    const writer = new PaymentWriter(store, time, events, new OwedWrites(clock, NO_HOLD), RULES);
    const account = 'default';
    flow = new Resolutions(new PaymentReader(store, { account }), new RefundReader(store, { account }), writer, time);
  });

  it('resolves the second payment of a reference as succeeded when money moved twice', async () => {
    await store.insert(aPaymentRecord({ state: 'succeeded' }));
    const second = { conversationId: 'SECOND', idempotencyKey: null, referenceLock: null };
    await store.insert(aPaymentRecord({ state: 'review', ...second, reason: 'moved_after_all' }));
    const payment = await flow.resolve('SECOND', 'succeeded', 'seen in the panel');
    expect(payment).toMatchObject({ state: 'succeeded', reason: 'operator', settled: true });
    await expect(store.find('default', 'SECOND')).resolves.toMatchObject({ state: 'succeeded', referenceLock: null });
  });

  it('explains what is wrong with each argument', async () => {
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

  it('resolves a payment although an inquiry was recorded meanwhile', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    replaceMeanwhile({ ...record, inquiries: 1, version: record.version + 1 });
    await expect(flow.resolve(record.conversationId, 'failed', 'not in the panel')).resolves.toMatchObject({
      state: 'failed',
      version: record.version + 2,
    });
  });

  it('refuses to resolve a payment that the gateway settled meanwhile', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    replaceMeanwhile({ ...record, state: 'succeeded', version: record.version + 1 });
    await expect(flow.resolve(record.conversationId, 'failed', 'not in the panel')).rejects.toMatchObject({
      code: 'PAYMENT_STATE',
      message: expect.stringContaining('that is succeeded cannot be resolved as failed.') as string,
      payment: { state: 'succeeded' },
    });
  });

  it('throws PAYMENT_STORE when the store fails', async () => {
    await store.insert(aPaymentRecord({ state: 'unknown' }));
    store.replace = () => Promise.reject(new Error('password=secret'));
    await expect(
      flow.resolve(aPaymentRecord({ state: 'unknown' }).conversationId, 'failed', 'x'),
    ).rejects.toMatchObject({
      code: 'PAYMENT_STORE',
      message: expect.not.stringContaining('secret') as string,
    });
  });

  it.each(['unknown', 'review'] as const)('keeps the note in the history of a payment that was %s', async (state) => {
    const record = aPaymentRecord({ state });
    await store.insert(record);
    await flow.resolve(record.conversationId, 'failed', 'Ada, in the panel');
    const history = await store.history('default', record.conversationId);
    expect(history.at(-1)).toMatchObject({ state: 'failed', reason: 'operator', note: 'Ada, in the panel' });
  });

  it('stores a note without card numbers and control characters, cut to a thousand characters', async () => {
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

  it('keeps who resolved the payment in that history entry only, masked and cut to 200 characters', async () => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    await flow.resolve(record.conversationId, 'failed', 'seen', { by: 'ada@shop.example' });
    const resolved = (await store.find('default', record.conversationId))!;
    expect(resolved).toMatchObject({ state: 'failed', by: 'ada@shop.example' });
    await store.replace(advance(resolved, 'review', { reason: 'moved_after_all' }, clock.now()), resolved);
    await flow.resolve(record.conversationId, 'succeeded', 'seen', { by: `4508 0345 0803 4509 ${'x y '.repeat(100)}` });
    const [, first, second, third] = await store.history('default', record.conversationId);
    expect([first?.by, second?.by]).toEqual(['ada@shop.example', null]);
    expect(third!.by).toMatch(/^\*{4} \*{4} \*{4} \*{4} x y /);
    expect(third!.by!.length).toBeLessThanOrEqual(200);
  });

  it.each<[string, given: unknown[], paths: string[]]>([
    ['another state', ['review', 'seen'], ['state']],
    ['no state', [undefined, 'seen'], ['state']],
    ['an empty note', ['failed', ' '], ['note']],
    ['no note', ['failed'], ['note']],
    ['a note that is not a string', ['failed', { toString: () => 'seen' }], ['note']],
    ['options that are not an object', ['failed', 'seen', 'ada'], ['options']],
    ['null as the options', ['failed', 'seen', null], ['options']],
    ['an array as the options', ['failed', 'seen', ['ada']], ['options']],
    ['an unknown option', ['failed', 'seen', { By: 'ada' }], ['options']],
    ['an empty name', ['failed', 'seen', { by: ' ' }], ['options.by']],
    ['a name that is not a string', ['failed', 'seen', { by: 7 }], ['options.by']],
    ['a force that is not a boolean', ['failed', 'seen', { force: 'true' }], ['options.force']],
    ['a fifth argument', ['failed', 'seen', { by: 'ada' }, true], ['arguments']],
  ])('refuses %s, and writes nothing', async (_what, given, paths) => {
    const record = aPaymentRecord({ state: 'unknown' });
    await store.insert(record);
    const resolve = flow.resolve.bind(flow) as (...given: unknown[]) => Promise<unknown>;
    await expect(resolve(record.conversationId, ...given)).rejects.toMatchObject({
      code: 'PAYMENT_VALIDATION',
      issues: paths.map((path) => ({ path })),
    });
    expect(await store.find('default', record.conversationId)).toEqual(record);
  });

  describe('resolving an interrupted payment', () => {
    const HOUR_MS = 3_600_000;
    const id = aPaymentRecord().conversationId;

    /** A payment that is claimed now, interrupted 90 seconds later, and then inquired about again. */
    async function addInterrupted(kind: 'direct' | '3d'): Promise<void> {
      const state = kind === 'direct' ? 'charging' : 'awaiting';
      let record = aPaymentRecord({ kind, state, createdAt: new Date(clock.now().getTime() - 600_000) });
      if (kind === 'direct') record = { ...record, createdAt: clock.now(), updatedAt: clock.now() };
      await store.insert(record);
      const moveTo = async (to: 'authorizing' | 'unknown', reason: 'interrupted' | null): Promise<void> => {
        const next = advance(record, to, { reason }, clock.now());
        await store.replace(next, record);
        record = next;
      };
      if (kind === '3d') await moveTo('authorizing', null);
      await clock.advance(90_000);
      await moveTo('unknown', 'interrupted');
      await clock.advance(60_000);
      await moveTo('unknown', 'interrupted');
    }

    it.each(['direct', '3d'] as const)('(%s) as failed needs force for an hour after its claim', async (kind) => {
      await addInterrupted(kind);
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

    it('as failed needs force for an hour by the clock of the store, whatever the clock of this host says', async () => {
      await addInterrupted('direct');
      await expect(flow.resolve(id, 'failed', 'not in the panel')).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
      const storeTime = clock.now();
      store.now = () => Promise.resolve(storeTime);
      clock.set(new Date(storeTime.getTime() + 2 * HOUR_MS));
      await expect(flow.resolve(id, 'failed', 'not in the panel')).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
      store.now = () => Promise.reject(new Error('down'));
      clock.set(new Date(storeTime.getTime() + 4 * HOUR_MS));
      await expect(flow.resolve(id, 'failed', 'not in the panel')).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
      expect(await store.find('default', id)).toMatchObject({ state: 'unknown' });
    });

    it('as failed works at once with force, after which it cannot be resolved as succeeded', async () => {
      await addInterrupted('direct');
      expect(await flow.resolve(id, 'failed', 'the host is gone', { force: true })).toMatchObject({ state: 'failed' });
      await expect(flow.resolve(id, 'succeeded', 'seen')).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
    });

    it('as succeeded needs no force', async () => {
      await addInterrupted('3d');
      expect(await flow.resolve(id, 'succeeded', 'in the panel')).toMatchObject({ state: 'succeeded' });
    });

    it('as failed needs no force if it is unknown for another reason, since its request is over', async () => {
      await store.insert(aPaymentRecord({ state: 'unknown', reason: 'no_answer', updatedAt: clock.now() }));
      expect(await flow.resolve(id, 'failed', 'not in the panel')).toMatchObject({ state: 'failed' });
    });
  });

  it('throws PAYMENT_NOT_FOUND for an unknown conversationId', async () => {
    await expect(flow.resolve('NOBODY', 'failed', 'x')).rejects.toMatchObject({ code: 'PAYMENT_NOT_FOUND' });
  });

  /** Another writer replaces the record after the flow has read it and before the flow writes it. */
  function replaceMeanwhile(newer: PaymentRecord): void {
    const replace = store.replace.bind(store);
    store.replace = async (...args) => {
      store.replace = replace;
      await replace(newer, (await store.find(newer.account, newer.conversationId))!);
      return replace(...args);
    };
  }
});
