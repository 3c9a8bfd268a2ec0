import { Logger } from '@nestjs/common';
import type { CallbackReceiver } from '../../lib/http/callback-receiver.js';
import type { AssembledFlows } from '../operations/assembled-flows.js';
import { DECLINED, LOST, NOT_SENT } from '../operations/fake-gateway.js';
import { isOver, quiet, sale, TestShop } from '../operations/test-shop.js';

const WAIT_MS = 25_000;
const HOUR_MS = 3_600_000;

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

  describe.each(['receive', 'complete'] as const)('%s', (method) => {
    it.each(['', 'direct', `${'A'.repeat(43)}A`, `-${'A'.repeat(43)}`, `${'A'.repeat(42)}.`])(
      'does not query the store for %j, which is not a token',
      async (text) => {
        const queried: string[] = [];
        const find = shop.store.findByTokenHash.bind(shop.store);
        shop.store.findByTokenHash = (account, hash) => (queried.push(hash), find(account, hash));
        await expect(receiver[method](text, fields)).rejects.toMatchObject({ refusal: 'unknown_token' });
        expect(queried).toEqual([]);
      },
    );

    it('throws PAYMENT_STORE without details when the store fails', async () => {
      shop.store.findByTokenHash = () => Promise.reject(new Error('password=secret'));
      await expect(receiver[method](token, fields)).rejects.toMatchObject({
        code: 'PAYMENT_STORE',
        message: expect.not.stringContaining('secret') as string,
      });
    });
  });

  it('receive returns the payment of a callback and its fields, and changes nothing', async () => {
    const payment = await flows.payments.find(conversationId);
    expect(await receiver.receive(token, fields)).toEqual({ conversationId, payment, fields });
    expect(await flows.payments.find(conversationId)).toEqual(payment);
    expect(auth3dCount()).toBe(0);
  });

  describe('complete', () => {
    it('completes the payment by Auth3d, and returns the same outcome for a repeat without another Auth3d', async () => {
      const result = await receiver.complete(token, fields);
      expect(result).toMatchObject({ payment: { conversationId, state: 'succeeded' }, isHeld: false });
      for (const again of [fields, {}, undefined, { Code: 'B0051' }]) {
        expect(await receiver.complete(token, again)).toEqual(result);
      }
      expect(auth3dCount()).toBe(1);
    });

    it('refuses a repeat with the fields of another payment, or with unreadable fields', async () => {
      await receiver.complete(token, fields);
      await expect(receiver.complete(token, { conversationId: 'ANOTHER' })).rejects.toMatchObject({
        refusal: 'foreign_payment',
      });
      await expect(receiver.complete(token, 'text')).rejects.toMatchObject({ refusal: 'not_a_callback' });
    });

    it('makes a repeat wait for the first call', async () => {
      const held = shop.gateway.hold('Auth3d');
      const first = receiver.complete(token, fields);
      await held.begun;
      const copies = [receiver.complete(token, fields), receiver.complete(token, {})];
      expect(await isOver(Promise.race([first, ...copies]))).toBe(false);
      held.answer(DECLINED);
      const states = (await Promise.all([first, ...copies])).map(({ payment }) => payment.state);
      expect(states).toEqual(['failed', 'failed', 'failed']);
      expect(auth3dCount()).toBe(1);
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

    it('waits for an Auth3d of another instance', async () => {
      const other = await shop.start();
      const held = shop.gateway.hold('Auth3d');
      const first = other.receiver.complete(token, fields);
      await held.begun;
      const answer = receiver.complete(token, fields);
      await shop.clock.advance(5_000);
      expect(await isOver(answer)).toBe(false);
      held.answer(shop.gateway.approval({ operation: 'Auth3d', conversationId }));
      await first;
      await shop.clock.advance(250);
      expect((await answer).payment.state).toBe('succeeded');
      expect(auth3dCount()).toBe(1);
    });

    it('returns the last known state of a payment that is deleted meanwhile', async () => {
      const other = await shop.start();
      const held = shop.gateway.hold('Auth3d');
      const first = other.receiver.complete(token, fields);
      await held.begun;
      const answer = receiver.complete(token, fields);
      await quiet();
      const find = shop.store.find.bind(shop.store);
      shop.store.find = () => Promise.resolve(null);
      await shop.clock.advance(WAIT_MS);
      expect((await answer).payment.state).toBe('authorizing');
      shop.store.find = find;
      held.answer(DECLINED);
      await first;
    });

    it('answers after waitMs at the latest, and still completes the payment', async () => {
      const held = shop.gateway.hold('Auth3d');
      const answer = receiver.complete(token, fields);
      await held.begun;
      await shop.clock.advance(WAIT_MS - 1);
      expect(await isOver(answer)).toBe(false);
      await shop.clock.advance(1);
      expect((await answer).payment.state).toBe('authorizing');
      held.answer(shop.gateway.approval({ operation: 'Auth3d', conversationId }));
      await flows.inFlight.ended();
      expect(await flows.payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
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

    it('leaves no timer behind after its answer', async () => {
      const { sleeping } = shop.clock;
      await receiver.complete(token, fields);
      await quiet();
      expect(shop.clock.sleeping).toBe(sleeping);
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

    it('returns a payment as expired if its buyer returns too late, and sends nothing', async () => {
      await shop.clock.advance(HOUR_MS);
      expect((await receiver.complete(token, fields)).payment.state).toBe('expired');
      expect(auth3dCount()).toBe(0);
    });

    it('returns a payment as failed if its Auth3d was never sent', async () => {
      shop.gateway.willAnswer('Auth3d', ...Array.from({ length: 9 }, () => NOT_SENT));
      const answer = receiver.complete(token, fields);
      await shop.clock.advance(10_000);
      expect(await isOver(answer)).toBe(true);
      expect(await answer).toMatchObject({ payment: { state: 'failed', reason: 'not_sent' } });
    });
  });
});

function gate(): { passed: Promise<void>; pass: () => void } {
  let pass!: () => void;
  const passed = new Promise<void>((resolve) => (pass = resolve));
  return { passed, pass };
}
