import { readFileSync } from 'node:fs';
import { PaymentHealth, PaymentStoreError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { compareLedgers, type LedgerDifferences, storedLedger } from '../rigs/ledger-comparison.js';
import { sale } from '../rigs/sale.js';
import { openedStoreAt } from '../rigs/shared-stores.js';
import { type Shop, startShop } from '../rigs/shop.js';
import { accountAt } from '../rigs/simulated-gateway.js';
import { startPostgresPair } from '../services/postgres-pair.js';
import { until } from '../services/until.js';

/** A server and another one that can take its place. */
interface Pair {
  readonly url: string;
  caughtUp(): Promise<void>;
  cutReplication(): Promise<void>;
  /** Kills the first server; the other one gets its address. */
  takeOver(): Promise<void>;
  stop(): Promise<void>;
}

async function postgresPair(synchronous: boolean): Promise<Pair> {
  const pair = await startPostgresPair({ synchronous });
  const takeOver = async () => {
    await pair.killPrimary();
    await pair.promote();
    pair.moveAddress();
  };
  return { ...pair, url: await pair.createDatabase(), takeOver };
}

const ACKNOWLEDGED = { state: 'succeeded', stored: true };

let pair: Pair;
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

  describe.each([
    ['an asynchronous standby of PostgreSQL', 'PostgreSQL, asynchronous standby', () => postgresPair(false)],
  ])('%s that takes over', (_name, row, startPair) => {
    it('lacks what was acknowledged last: the order is charged twice, and the claim is granted twice', async () => {
      pair = await startPair();
      const { order, callback, references } = await start();
      await pair.cutReplication();
      const paid = await shop.payments.doPayment(order);
      expect([paid, await shop.payments.auth3d(callback)]).toMatchObject([ACKNOWLEDGED, ACKNOWLEDGED]);
      await pair.takeOver();
      await untilItAnswers(callback.conversationId);

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

    it('is named in the page about it', () => {
      const page = readFileSync('docs/fail-over.md', 'utf8');
      const line = page.split('\n').find((text) => text.startsWith(`| ${row} `));
      expect(line).toMatch(/can be lost, and charged twice/);
    });
  });

  it('a synchronous standby of PostgreSQL lacks nothing: without it nothing is acknowledged, and nothing is sent', async () => {
    pair = await postgresPair(true);
    const { order, callback, references } = await start();
    await pair.cutReplication();
    // Not even when the time is up that the server gives a statement.
    await Promise.all([
      expect(shop.payments.doPayment(order)).rejects.toThrow(PaymentStoreError),
      expect(shop.payments.auth3d(callback)).rejects.toThrow(PaymentStoreError),
    ]);
    const { ledger } = simulator;
    expect([ledger.calls('DoPayment'), ledger.calls('Auth3d')]).toEqual([0, 0]);
    await pair.takeOver();
    await untilItAnswers(callback.conversationId);

    expect(await shop.payments.doPayment(order)).toMatchObject(ACKNOWLEDGED);
    expect(await shop.payments.auth3d(callback)).toMatchObject(ACKNOWLEDGED);
    expect([ledger.calls('DoPayment'), ledger.calls('Auth3d'), ledger.violations]).toEqual([1, 1, []]);
    expect(await compare(references)).toEqual({ movedTwice: [], lost: [], invented: [] });
  });
});

/** A 3D payment whose buyer was verified by the bank, and an order that is not paid yet; the other server knows both. */
async function start() {
  shop = await startShop({ options: { ...accountAt(simulator), background: false, storeUrl: pair.url } });
  const [order, atTheBank] = [sale(), sale()];
  const { conversationId } = await shop.payments.init3d(atTheBank);
  const callback = { conversationId, fields: simulator.approve(conversationId).fields };
  await pair.caughtUp();
  return { order, callback, references: [order.reference!, atTheBank.reference!] };
}

async function compare(references: string[], lost = new Map<string, string>()): Promise<LedgerDifferences> {
  const store = await openedStoreAt(pair.url);
  const stored = await storedLedger(store, references);
  await store.close();
  return compareLedgers({ ledger: simulator.ledger, ...stored, references: lost });
}

/** Waits until the shop has connections to the other server, and has written what it owes. */
async function untilItAnswers(conversationId: string): Promise<void> {
  const answers = () => shop.payments.find(conversationId).then(Boolean, () => false);
  await until(answers);
  await until(async () => (await shop.app.get(PaymentHealth).report()).owedWrites === 0);
}
