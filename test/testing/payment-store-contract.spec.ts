import assert from 'node:assert/strict';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { describePaymentStore, paymentStoreContract, type TestClock } from '../../lib/testing/index.js';

test('runs under any runner that has describe and it', async () => {
  const cases: [string, () => Promise<void>][] = [];
  describePaymentStore(
    'mine',
    { create: (clock) => Promise.resolve(new MemoryPaymentStore({ clock })) },
    { describe: (_name, define) => define(), it: (name, run) => cases.push([name, run]) },
  );
  assert.deepEqual(
    cases.map(([name]) => name),
    paymentStoreContract.map(({ name }) => name),
  );
  assert.equal(new Set(cases.map(([name]) => name)).size, cases.length);
  for (const [, run] of cases) await run();
});

test('says so where there is no runner', () => {
  const source = { create: () => Promise.resolve(new MemoryPaymentStore()) };
  expect(() => describePaymentStore('mine', source, {})).toThrow('needs a test runner');
});

test('closes both connections, also after a failure', async () => {
  const closed: string[] = [];
  class Watched extends MemoryPaymentStore {
    constructor(private readonly name: string) {
      super();
    }
    override close(): Promise<void> {
      closed.push(this.name);
      return super.close();
    }
  }
  const source = {
    create: () => Promise.resolve(new Watched('one')),
    another: () => Promise.resolve(new Watched('other')),
  };
  await expect(paymentStoreContract[0]!.run(source)).rejects.toThrow();
  expect(closed).toEqual(['other', 'one']);
});

test('a store whose time is its own is shown what to do', async () => {
  const source = { create: () => Promise.resolve(new MemoryPaymentStore()) };
  await expect(paymentStoreContract[0]!.run(source)).rejects.toThrow(
    'Give your store an option for where its time comes from, and pass this clock to it: in create and in another.',
  );
});

test('a second store with a clock of its own is found too', async () => {
  const source = {
    create: (clock: TestClock) => Promise.resolve(new MemoryPaymentStore({ clock })),
    another: () => Promise.resolve(new MemoryPaymentStore()),
  };
  await expect(paymentStoreContract[0]!.run(source)).rejects.toThrow(
    'but the clock that create(clock) was called with',
  );
});
