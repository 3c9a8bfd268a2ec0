import { morposDialect, newConversationId } from 'nestjs-card-payment';
import { sale } from '../rigs/sale.js';
import { HOUR_MS, type Instance, Journal, Merchant, MINUTE_MS } from './merchant.js';

const WITH_INQUIRY = morposDialect();
/** Of a gateway that has no inquiry, or of a release that did not know it. */
const WITHOUT_INQUIRY = { ...WITH_INQUIRY, operations: { ...WITH_INQUIRY.operations, checkPayment: undefined } };
/** Longer than the claim of a payment. */
const CLAIM_MS = 10 * MINUTE_MS;

describe('payments whose process was lost', () => {
  let merchant: Merchant;
  let lost: Instance;
  let other: Instance;
  const journal = new Journal();

  beforeEach(async () => {
    merchant = await Merchant.open();
    lost = await merchant.start();
    other = await merchant.start({ providers: [{ provide: Journal, useValue: journal }] });
    journal.told.length = 0;
  });
  afterEach(() => merchant.close());

  it('a charge whose answer is lost is settled by asking, once the claim has run out', async () => {
    const { simulator, clock } = merchant;
    const conversationId = newConversationId();
    const stall = simulator.fail({ operation: 'DoPayment', kind: 'stall' });
    const paying = lost.payments.doPayment(sale('149.90', { conversationId }));
    await stall.played;

    await clock.advance(MINUTE_MS);
    expect(await other.payments.reconcile()).toMatchObject({ interrupted: 0, inquired: 0 });
    await clock.advance(CLAIM_MS);
    expect(await other.payments.reconcile()).toMatchObject({ interrupted: 1, inquired: 1, settled: 1 });
    expect((await other.payments.find(conversationId))?.state).toBe('succeeded');
    expect(journal.told).toEqual([`${conversationId} payment.unknown`, `${conversationId} payment.succeeded`]);

    stall.release();
    expect((await paying).state).toBe('succeeded');
    expect(await other.payments.reconcile()).toMatchObject({ delivered: 0 });
    expect(simulator.ledger.calls('DoPayment')).toBe(1);
  });

  it('an Auth3d whose answer is lost is settled by asking, and never sent again', async () => {
    const { simulator, clock } = merchant;
    const { conversationId } = await lost.payments.init3d(sale());
    const { fields } = simulator.approve(conversationId);
    const stall = simulator.fail({ operation: 'Auth3d', kind: 'stall' });
    const paying = lost.payments.auth3d({ conversationId, fields });
    await stall.played;

    expect((await other.payments.auth3d({ conversationId, fields })).state).toBe('authorizing');
    await clock.advance(CLAIM_MS);
    expect((await other.payments.auth3d({ conversationId, fields })).state).toBe('authorizing');
    await other.payments.reconcile();
    expect((await other.payments.auth3d({ conversationId, fields })).state).toBe('succeeded');
    stall.release();
    expect((await paying).state).toBe('succeeded');
    expect(simulator.ledger.calls('Auth3d')).toBe(1);
  });

  it('a charge that the gateway does not know stays unknown, and is asked about less and less often', async () => {
    const { simulator, clock } = merchant;
    const conversationId = newConversationId();
    const stall = simulator.fail({ operation: 'DoPayment', kind: 'stall', at: 'before' });
    const paying = lost.payments.doPayment(sale('149.90', { conversationId }));
    await stall.played;

    await clock.advance(CLAIM_MS);
    const asked: number[] = [];
    for (let hours = 0; hours < 48; hours += 1) {
      await other.payments.reconcile();
      asked.push(simulator.ledger.calls('CheckPayment'));
      await clock.advance(HOUR_MS);
    }
    expect((await other.payments.find(conversationId))?.state).toBe('unknown');
    expect(asked.at(-1)! - asked[23]!).toBeLessThanOrEqual(8);
    expect(asked.at(-1)).toBeGreaterThan(10);

    // An answer that comes at last counts.
    stall.release();
    expect((await paying).state).toBe('succeeded');
    await other.payments.reconcile();
    expect(journal.told).toEqual([`${conversationId} payment.unknown`, `${conversationId} payment.succeeded`]);
  });

  it('a charge that became unknown while no instance could ask the gateway is asked about by the next that can', async () => {
    const { simulator } = merchant;
    const unable = await merchant.start({ options: { dialect: WITHOUT_INQUIRY } });
    simulator.fail({ operation: 'DoPayment', kind: 'reset', at: 'after' });
    const { conversationId, state } = await unable.payments.doPayment(sale());
    expect(state).toBe('unknown');
    await unable.close();
    expect(await other.payments.reconcile()).toMatchObject({ inquired: 1, settled: 1 });
    expect(await other.payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(1);
  });

  it('a 3D payment that the buyer never came back to expires by the clock', async () => {
    const { simulator, clock } = merchant;
    const { conversationId } = await lost.payments.init3d(sale());
    const { fields } = simulator.approve(conversationId);
    await clock.advance(HOUR_MS - 1);
    expect(await other.payments.reconcile()).toMatchObject({ expired: 0 });
    await clock.advance(1);
    expect(await other.payments.reconcile()).toMatchObject({ expired: 1 });
    expect(journal.told).toEqual([`${conversationId} payment.expired`]);
    expect((await other.payments.auth3d({ conversationId, fields })).state).toBe('expired');
    expect(simulator.ledger.calls('Auth3d')).toBe(0);
  });

  it('an Init3d that is never answered expires; a later answer is not shown to the buyer', async () => {
    const { simulator, clock } = merchant;
    const stall = simulator.fail({ operation: 'Init3d', kind: 'stall' });
    const starting = lost.payments.init3d(sale());
    await stall.played;
    await clock.advance(HOUR_MS);
    expect(await other.payments.reconcile()).toMatchObject({ expired: 1, inquired: 0 });
    stall.release();
    await expect(starting).rejects.toMatchObject({ name: 'PaymentInit3dError', payment: { state: 'expired' } });
  });
});
