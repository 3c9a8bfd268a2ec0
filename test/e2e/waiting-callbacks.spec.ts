import type { Server } from 'node:http';
import { MemoryPaymentStore } from 'nestjs-card-payment';
import { interceptCalls } from '../rigs/store-calls.js';
import { until } from '../services/until.js';
import { bring, sale, useMerchant } from './merchant.js';

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

  it('is sent to the outcome with all copies, which share what they look up and one Auth3d', async () => {
    arrived = 0;
    const { conversationId } = await shop.payments.init3d(sale());
    const callback = shop.simulator.approve(conversationId);
    const fault = shop.simulator.fail({ operation: 'Auth3d', kind: 'stall' });
    const first = bring(callback);
    await fault.played;
    reads = 0;
    const all = Array.from({ length: COPIES }, () => bring(callback));
    // What does not come from the bank is refused as always.
    const foreign = new URLSearchParams({ ...callback.fields, conversationId: 'ANOTHER' });
    const refused = await bring({ ...callback, request: { ...callback.request, body: String(foreign) } });
    expect(refused.status).toBe(400);
    await until(() => arrived >= 1 + COPIES + 1);
    expect(reads).toBe(0);

    fault.release();
    const paid = `https://shop.example/paid?conversationId=${conversationId}`;
    const answers = await Promise.all([first, ...all]);
    expect(new Set(answers.map(({ headers }) => headers.get('location')))).toEqual(new Set([paid]));
    expect(reads).toBe(0);
    expect(shop.simulator.ledger.calls('Auth3d', conversationId)).toBe(1);
  });
});
