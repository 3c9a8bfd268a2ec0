import { PaymentStoreError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { WHOLE } from '../rigs/extent.js';
import { sale } from '../rigs/sale.js';
import { type Shop, startShop } from '../rigs/shop.js';
import { accountAt } from '../rigs/simulated-gateway.js';
import { MAX_OUTAGE_MS, StoreLoad } from '../rigs/store-load.js';
import { type Galera, startGalera } from '../services/galera.js';
import { startTcpProxy, type TcpProxy } from '../services/tcp-proxy.js';
import { until } from '../services/until.js';

let galera: Galera;
let urls: readonly string[];

// Nodes wait for each other, and copy all data when one is started again: each limit is three minutes.
describe('nodes', () => {
  beforeAll(async () => {
    galera = await startGalera();
  }, 180_000);
  beforeEach(async () => {
    await until(async () => (await Promise.all(galera.nodes.map((node) => node.isSynced()))).every(Boolean), 180_000);
    urls = await galera.createDatabase();
  }, 180_000);
  afterAll(() => galera.stop());

  const portOf = (node: number) => ({ port: Number(new URL(urls[node]!).port) });

  describe('two shops, of which one is at a node that is cut off', () => {
    let simulator: Simulator;
    let cutOff: Shop;
    let other: Shop;

    beforeEach(async () => {
      simulator = await startSimulator({ dialect: 'morpos' });
      const [first, second] = urls.map((storeUrl) => ({ ...accountAt(simulator), storeUrl, background: false }));
      [cutOff, other] = await Promise.all([startShop({ options: first! }), startShop({ options: second! })]);
    });
    afterEach(async () => {
      await galera.nodes[0]!.heal();
      await Promise.all([cutOff.app.close(), other.app.close()]);
      await simulator.close();
    }, 180_000);

    it('are asked for the same 3D payment: one sends it, and the other has a store that fails', async () => {
      const { conversationId } = await other.payments.init3d(sale());
      const callback = { conversationId, fields: simulator.approve(conversationId).fields };
      expect(await cutOff.payments.find(conversationId)).toMatchObject({ state: 'awaiting' });
      await galera.nodes[0]!.partition();
      // The node does not know yet that it is cut off.
      const refused = expect(cutOff.payments.auth3d(callback)).rejects.toThrow(PaymentStoreError);
      await until(async () => (await other.payments.auth3d(callback).catch(() => null))?.state === 'succeeded', 30_000);
      await refused;
      // It knows now.
      await until(async () => !(await galera.nodes[0]!.isSynced()), 30_000);
      await expect(cutOff.payments.auth3d(callback)).rejects.toThrow(PaymentStoreError);
      await expect(cutOff.payments.doPayment(sale())).rejects.toThrow(PaymentStoreError);
      const { ledger } = simulator;
      expect([ledger.calls('Auth3d'), ledger.calls('DoPayment'), ledger.violations]).toEqual([1, 0, []]);

      await galera.nodes[0]!.heal();
      await until(async () => {
        const payment = await cutOff.payments.auth3d(callback).catch(() => null);
        return payment?.state === 'succeeded';
      }, 30_000);
      expect(await cutOff.payments.doPayment(sale())).toMatchObject({ state: 'succeeded', stored: true });
      expect([ledger.calls('Auth3d'), ledger.violations]).toEqual([1, []]);
    }, 180_000);
  });

  describe('three shops under load, each at a node of its own', () => {
    let load: StoreLoad;
    /** The address of each shop, which a test leads to another node. */
    let addresses: readonly TcpProxy[];

    beforeEach(async () => {
      addresses = await Promise.all(galera.nodes.map((_node, index) => startTcpProxy(portOf(index))));
      load = await StoreLoad.start(
        addresses.map(({ port }, index) => {
          const url = new URL(urls[index]!);
          url.port = `${port}`;
          return url.href;
        }),
      );
    }, 180_000);
    afterEach(async () => {
      await load.stop();
      await Promise.all(addresses.map((address) => address.stop()));
    }, 180_000);

    async function goOn(shops: readonly number[]): Promise<void> {
      expect(await load.untilItGoesOn(performance.now(), shops)).toBeLessThan(MAX_OUTAGE_MS);
    }

    async function expectNoDifference(): Promise<void> {
      expect(await load.differences(urls[0]!)).toEqual([]);
      expect(load.longestMs).toBeLessThan(MAX_OUTAGE_MS);
    }

    it('a node is frozen: two go on, and so does the third one when its address moves, and after the thaw', async () => {
      await galera.nodes[1]!.freeze();
      await goOn([0, 2]);
      addresses[1]!.moveTo(portOf(2), { breaks: false });
      await goOn([1]);
      await galera.nodes[1]!.thaw();
      addresses[1]!.moveTo(portOf(1));
      await goOn([0, 1, 2]);
      await expectNoDifference();
    }, 180_000);

    it('a node is cut off: two go on, the third one takes no payment, and goes on by itself when the node is back', async () => {
      await galera.nodes[0]!.partition();
      await goOn([1, 2]);
      await load.untilItFails();
      await galera.nodes[0]!.heal();
      await goOn([0, 1, 2]);
      await expectNoDifference();
    }, 180_000);

    // The last one, because otherwise the node has to come back.
    it('a node is killed: two go on, and the third one at another node', async () => {
      await galera.nodes[2]!.kill();
      await goOn([0, 1]);
      addresses[2]!.moveTo(portOf(0));
      await goOn([2]);
      // It copies all data.
      if (WHOLE) {
        await galera.nodes[2]!.restart();
        addresses[2]!.moveTo(portOf(2));
        await goOn([0, 1, 2]);
      }
      await expectNoDifference();
    }, 180_000);
  });
});
