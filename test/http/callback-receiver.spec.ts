import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { CallbackReceiver } from '../../lib/http/callback-receiver.js';
import type { AssembledFlows } from '../operations/assembled-flows.js';
import { LOST } from '../operations/fake-gateway.js';
import { gate, quiet, sale, TestShop } from '../operations/test-shop.js';

const WAIT_MS = 25_000;

// Wrong tokens and fields are in test/e2e/callback-attacks.spec.ts, and of a merchant's own route in
// payment-callback.guard.spec.ts.
describe('CallbackReceiver', () => {
  let shop: TestShop;
  let flows: AssembledFlows;
  let receiver: CallbackReceiver;
  let conversationId: string;
  let token: string;
  /** The fields that the bank sends. */
  let fields: Record<string, string>;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    shop = new TestShop();
    flows = await shop.start();
    receiver = flows.receiver;
    ({ conversationId } = await flows.payments.init3d(sale()));
    const { returnUrl } = shop.gateway.sent('Init3d')[0]!.fields;
    token = String(returnUrl).split('/').at(-2)!;
    fields = { Code: 'B0000', conversationId };
  });
  afterEach(() => shop.gateway.close());

  function auth3dCount(): number {
    return shop.gateway.sent('Auth3d').length;
  }

  it('does not query the store for what is not a token', async () => {
    const find = jest.spyOn(shop.store, 'findByTokenHash');
    for (const text of ['', 'direct', `${'A'.repeat(43)}A`, `-${'A'.repeat(43)}`, `${'A'.repeat(42)}.`]) {
      await expect(receiver.complete(text, fields)).rejects.toMatchObject({ refusal: 'unknown_token' });
    }
    expect(find).not.toHaveBeenCalled();
  });

  it.each([
    [89_999, 'succeeded', 1],
    [90_000, 'expired', 0],
  ])('leads %d ms after the start of a session of 90 s to %s', async (ms, state, sent) => {
    const { payments, receiver: of } = await shop.start({ sessionTtlMs: 90_000 });
    const started = await payments.init3d(sale());
    const { returnUrl } = shop.gateway.sent('Init3d').at(-1)!.fields;
    await shop.clock.advance(ms);
    const bank = { Code: 'B0000', conversationId: started.conversationId };
    expect((await of.complete(String(returnUrl).split('/').at(-2)!, bank)).payment.state).toBe(state);
    expect(auth3dCount()).toBe(sent);
  });

  it('sends Auth3d where another instance was not sure of its claim, and gave it back', async () => {
    const other = await shop.start();
    const replace = shop.store.replace.bind(shop.store);
    shop.store.replace = async (...given) => {
      shop.store.replace = replace;
      await replace(...given);
      throw new Error('connection lost');
    };
    await expect(other.receiver.complete(token, fields)).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
    const answer = receiver.complete(token, fields);
    await shop.clock.advance(5_000);
    expect((await answer).payment.state).toBe('succeeded');
    expect(auth3dCount()).toBe(1);
  });

  it('ends the wait of a buyer within seconds where the store hangs, too', async () => {
    shop.gateway.hold('Auth3d');
    const answer = receiver.complete(token, fields);
    await quiet();
    shop.store.find = () => new Promise(() => undefined);
    const refused = expect(answer).rejects.toMatchObject({ code: 'PAYMENT_STORE' });
    await shop.clock.advance(WAIT_MS + 3_000);
    await refused;
  });

  it('stops polling the store for an Auth3d of another instance when the buyer has been answered', async () => {
    const held = shop.gateway.hold('Auth3d');
    const first = (await shop.start()).receiver.complete(token, fields);
    await held.begun;
    const answer = receiver.complete(token, fields);
    await shop.clock.advance(WAIT_MS);
    expect((await answer).payment.state).toBe('authorizing');
    await shop.clock.advance(1_000);
    let reads = 0;
    const find = shop.store.find.bind(shop.store);
    shop.store.find = (...given) => ((reads += 1), find(...given));
    await shop.clock.advance(10_000);
    expect(reads).toBe(0);
    held.answer(LOST);
    await first;
  });

  it('causes no unhandled rejection if the payment fails after the answer', async () => {
    const unhandled: unknown[] = [];
    const record = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', record);
    const { store } = shop;
    const [replace, open] = [store.replace.bind(store), gate()];
    store.replace = async () => (await open.passed, Promise.reject(new Error('down')));
    const answer = receiver.complete(token, fields);
    await quiet();
    await shop.clock.advance(WAIT_MS);
    expect((await answer).payment.state).toBe('awaiting');
    open.pass();
    await flows.inFlight.ended();
    await quiet();
    process.off('unhandledRejection', record);
    expect(unhandled).toEqual([]);
    store.replace = replace;
    expect((await receiver.complete(token, fields)).payment.state).toBe('succeeded');
  });
});
