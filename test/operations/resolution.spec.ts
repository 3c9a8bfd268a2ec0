import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import { type PaymentService, PaymentValidationError } from 'nestjs-card-payment';
import type { Transmission } from '../../lib/gateway/transport/attempt.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { advance, withdrawClaim } from '../../lib/payment/transitions.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { LOST, NOT_FOUND, NOT_PAID } from './fake-gateway.js';
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

  const STATE = 'state isIn: must be succeeded or failed';
  const NOTE = 'note isNotEmpty: must say how it was found out';
  const SURPLUS = 'arguments maxLength: must be four at most: by and force are options';
  const OBJECT = 'options isObject: must be an object, such as { by: "ada@shop.example" }';
  const BY = 'options.by isNotEmpty: must be a text that says who, or left out';
  const FORCE = 'options.force isBoolean: must be true, false, or left out';
  const ONLY = 'options whitelist: may hold by and force, and nothing else';

  it.each<[string, given: unknown[], problems: string[]]>([
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
  ])('refuses %s, says why, and writes nothing', async (_what, given, problems) => {
    const record = await add({ state: 'unknown' });
    const resolve = payments.resolve.bind(payments) as (...given: unknown[]) => Promise<unknown>;
    const error: unknown = await resolve(ID, ...given).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PaymentValidationError);
    const { issues } = error as PaymentValidationError;
    expect(issues.map(({ path, rule, message }) => `${path} ${rule}: ${message}`)).toEqual(problems);
    expect(await stored()).toEqual(record);
  });

  it.each<[PaymentRecord['state'], PaymentRecord['state']]>([
    ['succeeded', 'review'],
    ['refunding', 'review'],
    ['unknown', 'review'],
    ['review', 'review'],
    ['failed', 'failed'],
  ])('as failed, while a refund of it is %s, leaves a payment in %s', async (state, left) => {
    await add({ state: 'review' });
    await add({ state, kind: 'refund', conversationId: 'REFUND', parentId: ID, reference: null });
    const code = await payments.resolve(ID, 'failed', 'seen').then(
      () => null,
      (error: { code: string }) => error.code,
    );
    const now = await stored();
    expect([code, now.state, now.dueAt]).toEqual([left === 'failed' ? null : 'PAYMENT_STATE', left, null]);
    if (left === 'review')
      expect(await payments.resolve(ID, 'succeeded', 'seen')).toMatchObject({ state: 'succeeded' });
  });

  it('shows nothing of what the store threw', async () => {
    shop.store.find = () => Promise.reject(new Error('password=secret'));
    const error: unknown = await payments.resolve(ID, 'failed', 'seen').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'PAYMENT_STORE' });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('secret');
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
    // The gateway is asked once more.
    const dueAt = new Date(shop.clock.now().getTime() + HOUR_MS);
    expect(resolved).toMatchObject({ state: 'failed', by: 'ada@shop.example', dueAt });
    await shop.store.replace(advance(resolved, 'review', { reason: 'moved_after_all' }, shop.clock.now()), resolved);
    await payments.resolve(ID, 'succeeded', 'seen', { by: `4508 0345 0803 4509 ${'x y '.repeat(100)}` });
    const [, first, second, third] = await shop.store.history('default', ID);
    expect([first?.by, second?.by]).toEqual(['ada@shop.example', null]);
    expect(third!.by).toMatch(/^\*{4} \*{4} \*{4} \*{4} x y /);
    expect(third!.by!.length).toBeLessThanOrEqual(200);
  });

  describe('while the clock of this host is hours off', () => {
    /** Calls once with a right clock, then with one that is ahead, then without the store's time. */
    async function callThreeTimes(call: () => Promise<unknown>): Promise<unknown[]> {
      const { clock, store } = shop;
      const results = [await call()];
      const storeTime = clock.now();
      for (const [hours, now] of [
        [2, () => Promise.resolve(storeTime)],
        [4, () => Promise.reject(new Error('down'))],
      ] as const) {
        store.now = now;
        clock.set(new Date(storeTime.getTime() + hours * HOUR_MS));
        await clock.advance(2_000);
        results.push(await call());
      }
      return results;
    }

    it.each([
      ['failed', { force: true }],
      ['succeeded', {}],
    ] as const)(
      'for an hour by the clock of the store, an interrupted payment is resolved as %s by %j alone',
      async (...row) => {
        const [state, options] = row;
        const now = shop.clock.now();
        const earlier = new Date(now.getTime() - 2 * HOUR_MS);
        // The last claim counts, not one that was withdrawn before.
        const first = await add({ kind: '3d', state: 'authorizing', createdAt: earlier, updatedAt: earlier });
        const withdrawn = withdrawClaim(first, earlier);
        const claimed = advance(withdrawn, 'authorizing', {}, now);
        const interrupted = advance(claimed, 'unknown', { reason: 'interrupted' }, now);
        await shop.store.replace(withdrawn, first);
        await shop.store.replace(claimed, withdrawn);
        await shop.store.replace(interrupted, claimed);
        const codes = await callThreeTimes(() =>
          payments.resolve(ID, 'failed', 'not in the panel').catch(({ code }: { code: string }) => code),
        );
        expect(codes).toEqual(['PAYMENT_STATE', 'PAYMENT_STATE', 'PAYMENT_STORE']);
        expect(await stored()).toEqual(interrupted);
        await payments.resolve(ID, state, 'in the panel', options);
        expect(await stored()).toMatchObject({ state, dueAt: state === 'failed' ? expect.any(Date) : null });
      },
    );

    it.each<[string, PaymentRecord['state'], endedHours: number | null, Transmission]>([
      ['that nothing is known of a payment', 'unknown', null, NOT_FOUND],
      ['that nothing was paid at a page', 'pending', 0, NOT_PAID],
      ['a day of silence about a page', 'pending', 22, LOST],
    ])('%s counts by the clock of the store, an approval at once', async (_what, state, hours, said) => {
      const expiresAt = new Date(shop.clock.now().getTime() - (hours ?? 0) * HOUR_MS);
      await add(hours === null ? { state, reason: 'no_answer' } : { state, kind: 'hosted', expiresAt });
      shop.gateway.willAnswer('CheckPayment', said, said, said);
      expect(await callThreeTimes(() => payments.inquire(ID).then(({ state }) => state))).toEqual(Array(3).fill(state));
      await shop.clock.advance(2_000);
      expect(await payments.inquire(ID)).toMatchObject({ state: 'succeeded' });
    });
  });
});
