import { sale } from '../rigs/sale.js';
import { interceptCalls } from '../rigs/store-calls.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { HOUR_MS, type Instance, Journal, Merchant, MINUTE_MS } from './merchant.js';

type Write = 'replace' | 'acknowledge';

/** A store whose writes can be made to fail. */
class FailingStore {
  private readonly failures = new Map<string, number>();
  readonly store: PaymentStore;

  constructor(sound: PaymentStore) {
    this.store = interceptCalls(sound, ({ method, proceed }) =>
      this.fails(method) ? Promise.reject(new Error('disk full')) : proceed(),
    );
  }

  /** The next writes of this kind fail. */
  fail(write: Write, times = 1): void {
    this.failures.set(write, times);
  }

  private fails(method: string): boolean {
    const left = this.failures.get(method) ?? 0;
    if (left > 0) this.failures.set(method, left - 1);
    return left > 0;
  }
}

/** That nothing is sent while it fails, and that an outcome is written later, is in test/faults. */
describe('a store that fails', () => {
  let merchant: Merchant;
  let failing: FailingStore;
  let instance: Instance;
  const journal = new Journal();

  beforeEach(async () => {
    merchant = await Merchant.open();
    failing = new FailingStore(await merchant.connect());
    instance = await merchant.start({ store: failing.store, providers: [{ provide: Journal, useValue: journal }] });
    journal.told.length = 0;
  });
  afterEach(() => merchant.close());

  it('an outcome is written over what another instance found out meanwhile, and handlers hear it once', async () => {
    const other = await merchant.start();
    failing.fail('replace', Infinity);
    const { conversationId } = await instance.payments.doPayment(sale());
    await merchant.clock.advance(10 * MINUTE_MS);
    expect(await other.payments.reconcile()).toMatchObject({ settled: 1 });
    failing.fail('replace', 0);
    expect(await instance.payments.reconcile()).toMatchObject({ written: 1 });
    expect(journal.told).toEqual([`${conversationId} payment.unknown`, `${conversationId} payment.succeeded`]);
  });

  it('an outcome is written by itself once the store is back, though the background work is off', async () => {
    failing.fail('replace', 5);
    const { conversationId } = await instance.payments.doPayment(sale());
    await merchant.clock.advance(MINUTE_MS);
    expect((await merchant.store.find('default', conversationId))?.state).toBe('succeeded');
  });

  it('a shutdown writes what is owed', async () => {
    failing.fail('replace');
    const { conversationId } = await instance.payments.doPayment(sale());
    await instance.close();
    expect((await merchant.store.find('default', conversationId))?.state).toBe('succeeded');
  });

  it('an event whose acknowledgement is lost comes again', async () => {
    failing.fail('acknowledge');
    const { conversationId } = await instance.payments.doPayment(sale());
    await instance.payments.reconcile();
    await merchant.clock.advance(HOUR_MS);
    await instance.payments.reconcile();
    expect(journal.told).toEqual(Array.from({ length: 2 }, () => `${conversationId} payment.succeeded`));
  });
});
