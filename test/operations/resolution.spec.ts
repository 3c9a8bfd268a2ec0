import { Logger } from '@nestjs/common';
import type { PaymentService } from 'nestjs-card-payment';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { advance } from '../../lib/payment/transitions.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { TestShop } from './test-shop.js';

const HOUR_MS = 3_600_000;
const ID = aPaymentRecord().conversationId;

describe('resolve', () => {
  let shop: TestShop;
  let payments: PaymentService;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    shop = new TestShop();
    ({ payments } = await shop.start());
  });

  async function add(fields: Parameters<typeof aPaymentRecord>[0]): Promise<PaymentRecord> {
    const record = aPaymentRecord(fields);
    await shop.store.insert(record);
    return record;
  }

  async function stored(): Promise<PaymentRecord> {
    return (await shop.store.find('default', ID))!;
  }

  const STATE = { path: 'state', rule: 'isIn', message: 'must be succeeded or failed' };
  const NOTE = { path: 'note', rule: 'isNotEmpty', message: 'must say how it was found out' };
  const SURPLUS = {
    path: 'arguments',
    rule: 'maxLength',
    message: 'must be four at most: by and force are options',
  };
  const OBJECT = {
    path: 'options',
    rule: 'isObject',
    message: 'must be an object, such as { by: "ada@shop.example" }',
  };
  const BY = { path: 'options.by', rule: 'isNotEmpty', message: 'must be a text that says who, or left out' };
  const FORCE = { path: 'options.force', rule: 'isBoolean', message: 'must be true, false, or left out' };
  const ONLY = { path: 'options', rule: 'whitelist', message: 'may hold by and force, and nothing else' };

  it.each<[string, given: unknown[], issues: object[]]>([
    ['another state', ['review', 'seen'], [STATE]],
    ['no state', [undefined, 'seen'], [STATE]],
    ['an empty note', ['failed', ' '], [NOTE]],
    ['no note', ['failed'], [NOTE]],
    ['a note that is not a string', ['failed', { toString: () => 'seen' }], [NOTE]],
    ['options that are not an object', ['failed', 'seen', 'ada'], [OBJECT]],
    ['null as the options', ['failed', 'seen', null], [OBJECT]],
    ['an array as the options', ['failed', 'seen', ['ada']], [OBJECT]],
    ['an unknown option', ['failed', 'seen', { By: 'ada' }], [ONLY]],
    ['an empty name', ['failed', 'seen', { by: ' ' }], [BY]],
    ['a name that is not a string', ['failed', 'seen', { by: 7 }], [BY]],
    ['a force that is not a boolean', ['failed', 'seen', { force: 'true' }], [FORCE]],
    ['a fifth argument', ['failed', 'seen', { by: 'ada' }, true], [SURPLUS]],
    [
      'everything',
      ['review', ' ', { by: ' ', force: 'yes', reason: 'none' }, 'more'],
      [STATE, NOTE, SURPLUS, BY, FORCE, ONLY],
    ],
  ])('refuses %s, says why, and writes nothing', async (_what, given, issues) => {
    const record = await add({ state: 'unknown' });
    const resolve = payments.resolve.bind(payments) as (...given: unknown[]) => Promise<unknown>;
    await expect(resolve(ID, ...given)).rejects.toMatchObject({ code: 'PAYMENT_VALIDATION', issues });
    expect(await stored()).toEqual(record);
  });

  it('settles a payment although an inquiry was recorded meanwhile', async () => {
    const record = await add({ state: 'unknown' });
    replaceMeanwhile({ ...record, inquiries: 1, version: record.version + 1 });
    const payment = await payments.resolve(ID, 'failed', 'not in the panel');
    expect(payment).toMatchObject({ state: 'failed', version: record.version + 2 });
  });

  it('as failed is refused if a refund began after its refunds were looked up', async () => {
    await add({ state: 'review', reason: 'moved_after_all', referenceLock: null });
    const findRefunds = shop.store.findRefunds.bind(shop.store);
    let looks = 0;
    shop.store.findRefunds = async (...given) => {
      const found = await findRefunds(...given);
      looks += 1;
      const refund = { conversationId: ID, refundId: 'R-1', amount: '1.00', note: 'at the panel' };
      if (looks === 1) await payments.recordRefund(refund);
      return found;
    };
    await expect(payments.resolve(ID, 'failed', 'reversed at the bank')).rejects.toMatchObject({
      code: 'PAYMENT_STATE',
      message: expect.stringContaining('money of it was given back') as string,
    });
    expect(await stored()).toMatchObject({ state: 'review' });
  });

  it('refuses a payment that the gateway settled meanwhile', async () => {
    const record = await add({ state: 'unknown' });
    replaceMeanwhile({ ...record, state: 'succeeded', version: record.version + 1 });
    await expect(payments.resolve(ID, 'failed', 'not in the panel')).rejects.toMatchObject({
      code: 'PAYMENT_STATE',
      message: expect.stringContaining('that is succeeded cannot be resolved as failed.') as string,
      payment: { state: 'succeeded' },
    });
  });

  it('throws PAYMENT_STORE when the store fails, and PAYMENT_NOT_FOUND for an unknown conversationId', async () => {
    await add({ state: 'unknown' });
    shop.store.replace = () => Promise.reject(new Error('password=secret'));
    const message = expect.not.stringContaining('secret') as string;
    await expect(payments.resolve(ID, 'failed', 'x')).rejects.toMatchObject({ code: 'PAYMENT_STORE', message });
    await expect(payments.resolve('NOBODY', 'failed', 'x')).rejects.toMatchObject({ code: 'PAYMENT_NOT_FOUND' });
  });

  it.each(['unknown', 'review'] as const)('keeps the note in the history of a payment that was %s', async (state) => {
    await add({ state });
    await payments.resolve(ID, 'failed', 'Ada, in the panel');
    const last = (await shop.store.history('default', ID)).at(-1);
    expect(last).toMatchObject({ state: 'failed', reason: 'operator', note: 'Ada, in the panel' });
  });

  it('stores a note without card numbers and control characters, cut to a thousand characters', async () => {
    await add({ state: 'unknown' });
    const note = `4508 0345 0803 4509\r\n5406675406675403 ${'x'.repeat(2_000)}`;
    await payments.resolve(ID, 'failed', note);
    const kept = (await stored()).note!;
    expect(kept).toMatch(/^\*{4} \*{4} \*{4} \*{4} {2}\*{3} x/);
    expect(kept).not.toMatch(/\d|[\r\n]/);
    expect(kept.length).toBeLessThanOrEqual(1_000);
  });

  it('keeps who resolved the payment in that history entry only, masked and cut to 200 characters', async () => {
    await add({ state: 'unknown' });
    await payments.resolve(ID, 'failed', 'seen', { by: 'ada@shop.example' });
    const resolved = await stored();
    expect(resolved).toMatchObject({ state: 'failed', by: 'ada@shop.example' });
    await shop.store.replace(advance(resolved, 'review', { reason: 'moved_after_all' }, shop.clock.now()), resolved);
    await payments.resolve(ID, 'succeeded', 'seen', { by: `4508 0345 0803 4509 ${'x y '.repeat(100)}` });
    const [, first, second, third] = await shop.store.history('default', ID);
    expect([first?.by, second?.by]).toEqual(['ada@shop.example', null]);
    expect(third!.by).toMatch(/^\*{4} \*{4} \*{4} \*{4} x y /);
    expect(third!.by!.length).toBeLessThanOrEqual(200);
  });

  describe('an interrupted payment', () => {
    /** A payment that is claimed now, interrupted 90 seconds later, and then inquired about again. */
    async function addInterrupted(kind: 'direct' | '3d'): Promise<void> {
      const { clock, store } = shop;
      const openedAt = kind === 'direct' ? clock.now() : new Date(clock.now().getTime() - 600_000);
      const opened = { createdAt: openedAt, updatedAt: openedAt };
      let record = await add({ kind, state: kind === 'direct' ? 'charging' : 'awaiting', ...opened });
      const moveTo = async (to: 'authorizing' | 'unknown', reason: 'interrupted' | null): Promise<void> => {
        const next = advance(record, to, { reason }, clock.now());
        await store.replace(next, record);
        record = next;
      };
      if (kind === '3d') await moveTo('authorizing', null);
      for (const passed of [90_000, 60_000]) {
        await clock.advance(passed);
        await moveTo('unknown', 'interrupted');
      }
    }

    it.each(['direct', '3d'] as const)('(%s) as failed needs force for an hour after its claim', async (kind) => {
      await addInterrupted(kind);
      await shop.clock.advance(HOUR_MS - 150_000 - 1);
      await expect(payments.resolve(ID, 'failed', 'not in the panel', { by: 'ada' })).rejects.toMatchObject({
        code: 'PAYMENT_STATE',
        message:
          `A ${kind} payment that is unknown cannot be resolved as failed within an hour of its claim: it was ` +
          'interrupted, and a host that was only suspended may still send it. Make sure that the process that took it ' +
          'has ended (or wait until the hour is over), then resolve it with force.',
        payment: { state: 'unknown', reason: 'interrupted' },
      });
      expect(await stored()).toMatchObject({ state: 'unknown' });
      await shop.clock.advance(1);
      expect(await payments.resolve(ID, 'failed', 'not in the panel')).toMatchObject({ state: 'failed' });
    });

    it('as failed needs force for an hour by the clock of the store, whatever the clock of this host says', async () => {
      await addInterrupted('direct');
      const { clock, store } = shop;
      const resolveFails = (code: string) =>
        expect(payments.resolve(ID, 'failed', 'not in the panel')).rejects.toMatchObject({ code });
      await resolveFails('PAYMENT_STATE');
      const storeTime = clock.now();
      store.now = () => Promise.resolve(storeTime);
      clock.set(new Date(storeTime.getTime() + 2 * HOUR_MS));
      await resolveFails('PAYMENT_STATE');
      store.now = () => Promise.reject(new Error('down'));
      clock.set(new Date(storeTime.getTime() + 4 * HOUR_MS));
      await resolveFails('PAYMENT_STORE');
      expect(await stored()).toMatchObject({ state: 'unknown' });
    });

    it('as failed works at once with force, after which it cannot be resolved as succeeded', async () => {
      await addInterrupted('direct');
      expect(await payments.resolve(ID, 'failed', 'the host is gone', { force: true })).toMatchObject({
        state: 'failed',
      });
      await expect(payments.resolve(ID, 'succeeded', 'seen')).rejects.toMatchObject({ code: 'PAYMENT_STATE' });
    });

    it('as succeeded needs no force', async () => {
      await addInterrupted('3d');
      expect(await payments.resolve(ID, 'succeeded', 'in the panel')).toMatchObject({ state: 'succeeded' });
    });

    it('as failed needs no force if it is unknown for another reason, since its request is over', async () => {
      await add({ state: 'unknown', reason: 'no_answer', updatedAt: shop.clock.now() });
      expect(await payments.resolve(ID, 'failed', 'not in the panel')).toMatchObject({ state: 'failed' });
    });
  });

  /** Another writer replaces the record after it was read and before it is written. */
  function replaceMeanwhile(newer: PaymentRecord): void {
    const { store } = shop;
    const replace = store.replace.bind(store);
    store.replace = async (...args) => {
      store.replace = replace;
      await replace(newer, await stored());
      return replace(...args);
    };
  }
});
