import { sale, useMerchant } from './merchant.js';

const TEXT = 'Awaiting 3D verification';

/** The gateway knows a 3D payment from Init3d on, and may repeat what it was told of it. */
describe('an inquiry whose answer repeats our id and our amount beside another text', () => {
  const shop = useMerchant({ options: { background: false } });
  beforeEach(() => shop.simulator.reset());

  async function start(): Promise<{ conversationId: string; fields: Record<string, string> }> {
    const { conversationId } = await shop.payments.init3d(sale('149.90'));
    const body = JSON.stringify({
      responseCode: 'B0000',
      responseDescription: TEXT,
      conversationId,
      amount: 149.9,
      currency: 949,
    });
    shop.simulator.fail({ operation: 'CheckPayment', times: 100, kind: 'reply', status: 200, body });
    return { conversationId, fields: { ...shop.simulator.approve(conversationId).fields } };
  }

  async function expectNotPaid(conversationId: string): Promise<void> {
    expect(await shop.payments.inquire(conversationId)).toMatchObject({ settled: false });
    expect(shop.simulator.ledger.chargedTimes(conversationId)).toBe(0);
  }

  it('does not make a payment paid whose Auth3d was cut before the work', async () => {
    const { conversationId, fields } = await start();
    shop.simulator.fail({ operation: 'Auth3d', kind: 'reset', at: 'before' });
    expect(await shop.payments.auth3d({ conversationId, fields })).toMatchObject({ state: 'unknown' });
    await expectNotPaid(conversationId);
  });

  it('does not confirm an approval that names no payment', async () => {
    const { conversationId, fields } = await start();
    shop.simulator.fail({ operation: 'Auth3d', kind: 'reply', status: 200, body: '{"code":"B0000"}', at: 'before' });
    const unbound = { state: 'unknown', reason: 'unbound' };
    expect(await shop.payments.auth3d({ conversationId, fields })).toMatchObject(unbound);
    await expectNotPaid(conversationId);
  });

  it('does not make a payment paid while its Auth3d runs', async () => {
    const { conversationId, fields } = await start();
    const stall = shop.simulator.fail({ operation: 'Auth3d', kind: 'stall', at: 'before' });
    const completing = shop.payments.auth3d({ conversationId, fields });
    await stall.played;
    await expectNotPaid(conversationId);
    stall.release();
    expect(await completing).toMatchObject({ state: 'succeeded' });
  });
});
