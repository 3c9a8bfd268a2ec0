import { Logger } from '@nestjs/common';
import type { CallbackReceiver } from '../../lib/callback/callback-receiver.js';
import type { AssembledFlows } from '../flows/assembled-flows.js';
import { DECLINED, LOST, NOT_SENT } from '../flows/fake-gateway.js';
import { isOver, quiet, sale, TestShop } from '../flows/test-shop.js';

const WAIT_MS = 25_000;
const HOUR_MS = 3_600_000;

describe('CallbackReceiver', () => {
  let shop: TestShop;
  let flows: AssembledFlows;
  let receiver: CallbackReceiver;
  let conversationId: string;
  let token: string;
  /** What the bank sends. */
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

  function auth3ds(): number {
    return shop.gateway.sent('Auth3d').length;
  }

  describe.each(['receive', 'complete'] as const)('%s', (method) => {
    it.each<[string, () => string]>([
      ['nothing', () => ''],
      ['what stands for a token in the URLs of direct payments', () => 'direct'],
      ['another token of the right form', () => 'A'.repeat(43)],
      ['a token and more', () => `${token}A`],
      ['a token in another case', () => token.toUpperCase()],
      ['the hash of a token', () => 'a'.repeat(64)],
    ])('knows no payment by %s', async (_what, make) => {
      const refusal = { code: 'PAYMENT_CALLBACK', refusal: 'unknown_token' };
      await expect(receiver[method](make(), fields)).rejects.toMatchObject(refusal);
      expect(auth3ds()).toBe(0);
    });

    it.each(['', 'direct', `${'A'.repeat(43)}A`, `-${'A'.repeat(43)}`, `${'A'.repeat(42)}.`])(
      'asks the store nothing about %j, which is no token',
      async (text) => {
        const asked: string[] = [];
        const find = shop.store.findByTokenHash.bind(shop.store);
        shop.store.findByTokenHash = (account, hash) => (asked.push(hash), find(account, hash));
        await expect(receiver[method](text, fields)).rejects.toMatchObject({ refusal: 'unknown_token' });
        expect(asked).toEqual([]);
      },
    );

    it.each<[string, unknown, string]>([
      ['of another payment', { conversationId: 'ANOTHER' }, 'foreign_payment'],
      ['that repeat', { Code: 'B0000', code: 'B0000' }, 'repeated_field'],
      ['that are nested', { Code: { is: 'B0000' } }, 'nested_field'],
      ['that are none', {}, 'missing_field'],
      ['that are a text', 'Code=B0000', 'not_a_callback'],
    ])('refuses fields %s, and the payment waits on', async (_what, received, refusal) => {
      await expect(receiver[method](token, received)).rejects.toMatchObject({ refusal });
      expect(await flows.payments.find(conversationId)).toMatchObject({ state: 'awaiting' });
      expect(auth3ds()).toBe(0);
    });

    it('says no more than that the store failed', async () => {
      shop.store.findByTokenHash = () => Promise.reject(new Error('password=secret'));
      await expect(receiver[method](token, fields)).rejects.toMatchObject({
        code: 'PAYMENT_STORE',
        message: expect.not.stringContaining('secret') as string,
      });
    });
  });

  it('receive says whose a callback is and what the bank sent, and touches nothing', async () => {
    const payment = await flows.payments.find(conversationId);
    expect(await receiver.receive(token, fields)).toEqual({ conversationId, payment, fields });
    expect(await flows.payments.find(conversationId)).toEqual(payment);
    expect(auth3ds()).toBe(0);
  });

  describe('complete', () => {
    it('sees the payment through Auth3d, and a repeat gets the same outcome without another', async () => {
      const payment = await receiver.complete(token, fields);
      expect(payment).toMatchObject({ conversationId, state: 'succeeded' });
      for (const again of [fields, {}, undefined, { Code: 'B0051' }]) {
        expect(await receiver.complete(token, again)).toEqual(payment);
      }
      expect(auth3ds()).toBe(1);
    });

    it('refuses a repeat with the fields of another payment, or none that can be read', async () => {
      await receiver.complete(token, fields);
      await expect(receiver.complete(token, { conversationId: 'ANOTHER' })).rejects.toMatchObject({
        refusal: 'foreign_payment',
      });
      await expect(receiver.complete(token, 'text')).rejects.toMatchObject({ refusal: 'not_a_callback' });
    });

    it('has a repeat wait for the first', async () => {
      const held = shop.gateway.hold('Auth3d');
      const first = receiver.complete(token, fields);
      await held.begun;
      const copies = [receiver.complete(token, fields), receiver.complete(token, {})];
      expect(await isOver(Promise.race([first, ...copies]))).toBe(false);
      held.answer(DECLINED);
      // The empty one looks at the store from time to time.
      await shop.clock.advance(250);
      const states = (await Promise.all([first, ...copies])).map(({ state }) => state);
      expect(states).toEqual(['failed', 'failed', 'failed']);
      expect(auth3ds()).toBe(1);
    });

    it('waits for an Auth3d that runs in another instance', async () => {
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
      expect((await answer).state).toBe('succeeded');
      expect(auth3ds()).toBe(1);
    });

    it('shows the buyer what was last known of a payment that is deleted meanwhile', async () => {
      const other = await shop.start();
      const held = shop.gateway.hold('Auth3d');
      const first = other.receiver.complete(token, fields);
      await held.begun;
      const answer = receiver.complete(token, fields);
      await quiet();
      const find = shop.store.find.bind(shop.store);
      shop.store.find = () => Promise.resolve(null);
      await shop.clock.advance(WAIT_MS);
      expect((await answer).state).toBe('authorizing');
      shop.store.find = find;
      held.answer(DECLINED);
      await first;
    });

    it('keeps the buyer as long as the option says, and the payment goes on after that', async () => {
      const held = shop.gateway.hold('Auth3d');
      const answer = receiver.complete(token, fields);
      await held.begun;
      await shop.clock.advance(WAIT_MS - 1);
      expect(await isOver(answer)).toBe(false);
      await shop.clock.advance(1);
      expect((await answer).state).toBe('authorizing');
      held.answer(shop.gateway.approval({ operation: 'Auth3d', conversationId }));
      await flows.inFlight.ended();
      expect(await flows.payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
    });

    it('looks no more at an Auth3d of another instance once the buyer has an answer', async () => {
      const held = shop.gateway.hold('Auth3d');
      const first = (await shop.start()).receiver.complete(token, fields);
      await held.begun;
      const answer = receiver.complete(token, fields);
      await shop.clock.advance(WAIT_MS);
      expect((await answer).state).toBe('authorizing');
      await shop.clock.advance(1_000);
      let looks = 0;
      const find = shop.store.find.bind(shop.store);
      shop.store.find = (...given) => ((looks += 1), find(...given));
      await shop.clock.advance(10_000);
      expect(looks).toBe(0);
      held.answer(LOST);
      await first;
    });

    it('leaves no timer behind once it has answered', async () => {
      const { sleeping } = shop.clock;
      await receiver.complete(token, fields);
      await quiet();
      expect(shop.clock.sleeping).toBe(sleeping);
    });

    it('has what is thrown after the wait reach nobody', async () => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown): void => void unhandled.push(reason);
      process.on('unhandledRejection', note);
      const { store } = shop;
      const [replace, open] = [store.replace.bind(store), gate()];
      store.replace = async () => (await open.passed, Promise.reject(new Error('down')));
      const answer = receiver.complete(token, fields);
      await quiet();
      await shop.clock.advance(WAIT_MS);
      expect((await answer).state).toBe('awaiting');
      open.pass();
      await flows.inFlight.ended();
      await quiet();
      process.off('unhandledRejection', note);
      expect(unhandled).toEqual([]);
      store.replace = replace;
      expect((await receiver.complete(token, fields)).state).toBe('succeeded');
    });

    it('finds a payment expired whose buyer comes too late, and sends nothing', async () => {
      await shop.clock.advance(HOUR_MS);
      expect((await receiver.complete(token, fields)).state).toBe('expired');
      expect(auth3ds()).toBe(0);
    });

    it('tells a buyer whose Auth3d never left that nothing was paid', async () => {
      shop.gateway.willAnswer('Auth3d', ...Array.from({ length: 9 }, () => NOT_SENT));
      const answer = receiver.complete(token, fields);
      await shop.clock.advance(10_000);
      expect(await isOver(answer)).toBe(true);
      expect(await answer).toMatchObject({ state: 'failed', reason: 'not_sent' });
    });
  });
});

function gate(): { passed: Promise<void>; pass: () => void } {
  let pass!: () => void;
  const passed = new Promise<void>((resolve) => (pass = resolve));
  return { passed, pass };
}
