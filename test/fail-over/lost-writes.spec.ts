import { PaymentHealth, PaymentStoreError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { compareLedgers, type LedgerDifferences, storedLedger } from '../rigs/ledger-comparison.js';
import { sale } from '../rigs/sale.js';
import { openedStoreAt } from '../rigs/shared-stores.js';
import { type Shop, startShop } from '../rigs/shop.js';
import { accountAt } from '../rigs/simulated-gateway.js';
import { type PostgresPair, startPostgresPair } from '../services/postgres-pair.js';
import { until } from '../services/until.js';

const ACKNOWLEDGED = { state: 'succeeded', stored: true };

let pair: PostgresPair;
let storeUrl: string;
let simulator: Simulator;
let shop: Shop;

describe('lost writes', () => {
  beforeEach(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
  });
  afterEach(async () => {
    await shop.app.close();
    await simulator.close();
    await pair.stop();
  });

  it('an asynchronous standby lacks what was acknowledged last: an order is charged twice, a claim granted twice', async () => {
    const { order, callback, references } = await start({ synchronous: false });
    await pair.cutReplication();
    const paid = await shop.payments.doPayment(order);
    expect([paid, await shop.payments.auth3d(callback)]).toMatchObject([ACKNOWLEDGED, ACKNOWLEDGED]);
    await takeOver(callback.conversationId);

    expect(await compare(references)).toEqual({
      movedTwice: [],
      lost: [
        `${paid.conversationId}: charged, and not in the store`,
        `${callback.conversationId}: charged, and awaiting`,
      ],
      invented: [],
    });

    // What a buyer does who is shown an unpaid order, and one who reloads the bank's page.
    const again = await shop.payments.doPayment(order);
    await shop.payments.auth3d(callback);
    const { movedTwice } = await compare(references, new Map([[paid.conversationId, order.reference!]]));
    expect(movedTwice).toEqual(
      expect.arrayContaining([
        `${callback.conversationId}: repeated-call Auth3d`,
        `${again.conversationId}: charged for ${order.reference}, as was ${paid.conversationId}`,
      ]),
    );
  });

  it('a synchronous standby lacks nothing: without it nothing is acknowledged, and nothing is sent', async () => {
    const { order, callback, references } = await start({ synchronous: true });
    await pair.cutReplication();
    // Not even when the time is up that the server gives a statement.
    await Promise.all([
      expect(shop.payments.doPayment(order)).rejects.toThrow(PaymentStoreError),
      expect(shop.payments.auth3d(callback)).rejects.toThrow(PaymentStoreError),
    ]);
    const { ledger } = simulator;
    expect([ledger.calls('DoPayment'), ledger.calls('Auth3d')]).toEqual([0, 0]);
    await takeOver(callback.conversationId);

    expect(await shop.payments.doPayment(order)).toMatchObject(ACKNOWLEDGED);
    expect(await shop.payments.auth3d(callback)).toMatchObject(ACKNOWLEDGED);
    expect([ledger.calls('DoPayment'), ledger.calls('Auth3d'), ledger.violations]).toEqual([1, 1, []]);
    expect(await compare(references)).toEqual({ movedTwice: [], lost: [], invented: [] });
  });
});

/** A 3D payment whose buyer was verified by the bank, and an order that is not paid yet; the standby knows both. */
async function start(options: { synchronous: boolean }) {
  pair = await startPostgresPair(options);
  storeUrl = await pair.createDatabase();
  shop = await startShop({ options: { ...accountAt(simulator), background: false, storeUrl } });
  const [order, atTheBank] = [sale(), sale()];
  const { conversationId } = await shop.payments.init3d(atTheBank);
  const callback = { conversationId, fields: simulator.approve(conversationId).fields };
  await pair.caughtUp();
  return { order, callback, references: [order.reference!, atTheBank.reference!] };
}

/** Kills the primary, and waits until the shop has connections to the other server, and has written what it owes. */
async function takeOver(conversationId: string): Promise<void> {
  await pair.killPrimary();
  await pair.promote();
  pair.moveAddress();
  await until(() => shop.payments.find(conversationId).then(Boolean, () => false));
  await until(async () => (await shop.app.get(PaymentHealth).report()).owedWrites === 0);
}

async function compare(references: string[], lost = new Map<string, string>()): Promise<LedgerDifferences> {
  const store = await openedStoreAt(storeUrl);
  const stored = await storedLedger(store, references);
  await store.close();
  return compareLedgers({ ledger: simulator.ledger, ...stored, references: lost });
}
