import type { Server } from 'node:http';
import { MemoryPaymentStore } from 'nestjs-card-payment';
import { interceptCalls } from '../rigs/store-calls.js';
import { until } from '../services/until.js';
import { bring, sale, startMerchant, useMerchant } from './merchant.js';

const COPIES = 100;

describe('a buyer who posts one callback over and over while Auth3d is slow', () => {
  let reads = 0;
  let arrived = 0;
  const store = interceptCalls(new MemoryPaymentStore(), ({ method, proceed }) => {
    if (method.startsWith('find')) reads += 1;
    return proceed();
  });
  const shop = useMerchant({ gateway: { dialect: 'standard' }, options: { background: false, store } });
  beforeAll(() => {
    (shop.app.getHttpServer() as Server).on('request', () => (arrived += 1));
  });

  /** A callback whose Auth3d is under way and gives no answer before it is released. */
  async function stalled() {
    const { conversationId } = await shop.payments.init3d(sale());
    const callback = shop.simulator.approve(conversationId);
    const fault = shop.simulator.fail({ operation: 'Auth3d', kind: 'stall' });
    const first = bring(callback);
    await fault.played;
    return { conversationId, callback, fault, first };
  }

  const copies = <T>(make: () => Promise<T>) => Array.from({ length: COPIES }, make);
  const placesOf = async (answers: readonly Promise<Response>[]) =>
    new Set((await Promise.all(answers)).map(({ headers }) => headers.get('location')));

  it('is sent to the outcome with all copies, which share what they look up and one Auth3d', async () => {
    arrived = 0;
    const { conversationId, callback, fault, first } = await stalled();
    reads = 0;
    const all = copies(() => bring(callback));
    // What does not come from the bank is refused as always.
    const foreign = new URLSearchParams({ ...callback.fields, conversationId: 'ANOTHER' });
    const refused = await bring({ ...callback, request: { ...callback.request, body: String(foreign) } });
    expect(refused.status).toBe(400);
    await until(() => arrived >= 1 + COPIES + 1);
    expect(reads).toBe(0);

    fault.release();
    const paid = `https://shop.example/paid?conversationId=${conversationId}`;
    expect(await placesOf([first, ...all])).toEqual(new Set([paid]));
    expect(reads).toBe(0);
    expect(shop.simulator.ledger.calls('Auth3d', conversationId)).toBe(1);
  });

  it('reads a payment once for each copy where another instance sends Auth3d, and watches it for all of them', async () => {
    const other = await startMerchant('fastify', shop.simulator, { options: { background: false, store } });
    const { conversationId, callback, fault, first } = await stalled();
    reads = 0;
    const body = { ...callback.request, redirect: 'manual' } as const;
    const all = copies(() => fetch(callback.url.replace(shop.url, other.url), body));
    await until(() => reads >= COPIES);
    fault.release();
    const paid = `https://shop.example/paid?conversationId=${conversationId}`;
    expect(await placesOf([first, ...all])).toEqual(new Set([paid]));
    // Four a second, and no more than the test lasts.
    expect(reads).toBeLessThan(COPIES + 40);
    expect(shop.simulator.ledger.calls('Auth3d', conversationId)).toBe(1);
    await other.app.close();
  });
});
