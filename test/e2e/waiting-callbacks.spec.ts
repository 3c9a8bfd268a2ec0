import { type BankCallback, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { MAX_WAITING_CALLBACKS, WaitingCallbacks } from '../../lib/operations/waiting-callbacks.js';
import { until } from '../services/until.js';
import { type Merchant, PLATFORMS_IN_TURN, sale, startMerchant } from './merchant.js';

const COPIES = 4 * MAX_WAITING_CALLBACKS;

describe.each(PLATFORMS_IN_TURN)(
  'on %s, a buyer who posts one callback over and over while Auth3d is slow',
  (platform) => {
    let simulator: Simulator;
    let merchant: Merchant;

    beforeAll(async () => {
      simulator = await startSimulator();
      merchant = await startMerchant(platform, simulator, { options: { background: false } });
    });
    afterAll(async () => {
      await merchant.app.close();
      await simulator.close();
    });

    /** A callback whose Auth3d is under way and gives no answer before it is released. */
    async function stalled() {
      const { conversationId } = await merchant.payments.init3d(sale());
      const callback = simulator.approve(conversationId);
      const fault = simulator.fail({ operation: 'Auth3d', kind: 'stall' });
      const first = bring(callback);
      await fault.played;
      return { conversationId, callback, fault, first };
    }

    /** Sends many copies, and waits until all that may not wait were answered. */
    async function pile(make: () => Promise<Response>): Promise<{ early: string[]; all: Promise<string[]> }> {
      const early: string[] = [];
      const answers = Array.from({ length: COPIES }, async () => {
        const location = (await make()).headers.get('location') ?? '';
        early.push(location);
        return location;
      });
      const all = Promise.all(answers);
      await until(() => early.length >= COPIES - MAX_WAITING_CALLBACKS + 1);
      return { early: [...early], all };
    }

    it('keeps a few waiting, and is sent to the pending page with the rest', async () => {
      const { conversationId, callback, fault, first } = await stalled();
      const paid = `https://shop.example/paid?conversationId=${conversationId}`;
      const pending = `https://shop.example/pending?conversationId=${conversationId}`;

      const { early, all } = await pile(() => bring(callback));
      expect(new Set(early)).toEqual(new Set([pending]));
      // What does not come from the bank is refused as always.
      const foreign = new URLSearchParams({ ...callback.fields, conversationId: 'ANOTHER' });
      const refused = await bring({ ...callback, request: { ...callback.request, body: String(foreign) } });
      expect(refused.status).toBe(400);

      fault.release();
      const locations = [...(await all), (await first).headers.get('location')];
      expect(locations.filter((location) => location === paid)).toHaveLength(MAX_WAITING_CALLBACKS);
      expect((await bring(callback)).headers.get('location')).toBe(paid);
      expect(simulator.ledger.calls('Auth3d', conversationId)).toBe(1);
    });

    it('does not shorten the wait of other buyers', async () => {
      const { callback, fault, first, conversationId } = await stalled();
      const { all } = await pile(() => fetch(callback.url, { redirect: 'manual' }));
      const other = await merchant.payments.init3d(sale());
      expect((await bring(simulator.approve(other.conversationId))).headers.get('location')).toContain('/paid?');
      fault.release();
      await Promise.all([all, first]);
      expect(simulator.ledger.calls('Auth3d', conversationId)).toBe(1);
    });

    it('may wait again once the earlier copies were answered', async () => {
      const { callback, fault, first } = await stalled();
      const { all } = await pile(() => bring(callback));
      fault.release();
      await Promise.all([all, first]);
      const { waiting } = (merchant.payments as unknown as { threeD: { waiting: WaitingCallbacks } }).threeD;
      expect(waiting).toEqual(new WaitingCallbacks());
    });

    it('gets the payment in its current state from a controller of the merchant’s own', async () => {
      const { conversationId, callback, fault, first } = await stalled();
      const states: string[] = [];
      const calls = Array.from({ length: COPIES }, async () => {
        states.push((await merchant.payments.auth3d({ conversationId, fields: callback.fields })).state);
      });
      await until(() => states.length >= COPIES - MAX_WAITING_CALLBACKS + 1);
      expect(new Set(states)).toEqual(new Set(['authorizing']));
      fault.release();
      await Promise.all([...calls, first]);
      expect(states.filter((state) => state === 'succeeded')).toHaveLength(MAX_WAITING_CALLBACKS - 1);
    });
  },
);

it('a buyer who has gone away is not counted as waiting any more', () => {
  const waiting = new WaitingCallbacks();
  const place = waiting.placeFor('ID');
  place.leave();
  expect(place.take()).toBe(false);
  expect(waiting).toEqual(new WaitingCallbacks());
});

function bring({ request }: BankCallback): Promise<Response> {
  return fetch(request.url, { ...request, redirect: 'manual' });
}
