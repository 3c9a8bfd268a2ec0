import { quiet } from '../operations/test-shop.js';
import { sale } from '../rigs/sale.js';
import { Merchant, MINUTE_MS } from './merchant.js';

describe('a graceful shutdown', () => {
  let merchant: Merchant;

  beforeEach(async () => {
    merchant = await Merchant.open();
  });
  afterEach(() => merchant.close());

  it('waits for a payment that runs', async () => {
    const { simulator, store } = merchant;
    const instance = await merchant.start();
    const stall = simulator.fail({ operation: 'DoPayment', kind: 'stall' });
    const paying = instance.payments.doPayment(sale());
    await stall.played;
    const order: string[] = [];
    const closed = instance.close().then(() => order.push('closed'));
    void paying.then(() => order.push('paid'));
    // It could have closed by now.
    await quiet();
    expect(order).toEqual([]);
    stall.release();
    const { conversationId, state } = await paying;
    await closed;
    expect([state, order]).toEqual(['succeeded', ['paid', 'closed']]);
    expect((await store.find('default', conversationId))?.state).toBe('succeeded');
  });

  it('stops asking the gateway, and hands back what it leased', async () => {
    const { simulator, clock } = merchant;
    const [instance, other] = [await merchant.start(), await merchant.start()];
    const unknown = 20;
    for (let payments = 0; payments < unknown; payments += 1) {
      await instance.payments.doPayment(sale('10.96'));
    }
    await clock.advance(MINUTE_MS);
    const stall = simulator.fail({ operation: 'CheckPayment', kind: 'stall', times: unknown });
    const pass = instance.payments.reconcile();
    await stall.played;
    const closed = instance.close();
    stall.release();
    const asked = (await pass).settled;
    await closed;
    expect(asked).toBeLessThan(unknown);
    // The clock stands: nothing that was leased has run out.
    expect(await other.payments.reconcile()).toMatchObject({ settled: unknown - asked });
  });
});
