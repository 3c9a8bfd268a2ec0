import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { paymentsCommand } from '../../lib/cli/payments.command.js';
import { UsageError } from '../../lib/cli/usage.error.js';
import { PaymentConfigurationError } from '../../lib/errors/payment-configuration.error.js';
import { PaymentStoreError } from '../../lib/errors/payment-store.error.js';
import { SqlPaymentStore } from '../../lib/store/sql/sql-payment-store.js';
import { sqlitePaymentStore } from '../../lib/store/sql/sqlite-payment-store.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';

describe('payments', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-'));
  const file = join(folder, 'payments.sqlite');
  const storeUrl = `sqlite:${file}`;
  const { listByState } = SqlPaymentStore.prototype;

  beforeAll(async () => {
    const store = sqlitePaymentStore({ file });
    await store.open();
    await store.insert(aPaymentRecord({ state: 'unknown' }));
    await store.insert(
      aPaymentRecord({
        state: 'charging',
        conversationId: 'UNDERWAY',
        reference: null,
        referenceLock: null,
        idempotencyKey: null,
      }),
    );
    await store.insert(aPaymentRecord({ state: 'review', account: 'shop-2', conversationId: 'OTHER' }));
    await store.close();
  });

  afterEach(() => {
    SqlPaymentStore.prototype.listByState = listByState;
    delete process.env['PAYMENT_SHOP_2_STORE_URL'];
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('lists, shows and resolves what needs a person', async () => {
    const id = aPaymentRecord({ state: 'unknown' }).conversationId;
    await expect(paymentsCommand(['list', '--store', storeUrl])).resolves.toContain(`${id}  unknown`);
    await expect(paymentsCommand(['list', '--store', storeUrl])).resolves.toContain('1 under way');
    await paymentsCommand(['resolve', id, 'failed', '--note', 'not in the panel', '--store', storeUrl]);
    await expect(paymentsCommand(['show', id, '--store', storeUrl])).resolves.toContain('“not in the panel”');
  });

  it('reads the store of a named account from its own variable', async () => {
    await expect(paymentsCommand(['list', '--account', 'shop-2'])).rejects.toThrow('PAYMENT_SHOP_2_STORE_URL');
    process.env['PAYMENT_SHOP_2_STORE_URL'] = storeUrl;
    await expect(paymentsCommand(['list', '--account', 'shop-2'])).resolves.toContain('OTHER  review');
  });

  it.each(['redis://ada:geheim50%@127.0.0.1:1', 'postgres://ada:geheim%zz@127.0.0.1:1/shop'])(
    'names a stray %% in %s as the application does, and does not show it',
    async (url) => {
      const failure: unknown = await paymentsCommand(['list', '--store', url]).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(PaymentConfigurationError);
      expect((failure as Error).message).toContain('PAYMENT_STORE_URL): must have each % in its user and password');
      expect(inspect(failure, { depth: null, showHidden: true })).not.toContain('geheim');
    },
  );

  it('tells nothing of what a driver threw', async () => {
    SqlPaymentStore.prototype.listByState = () => Promise.reject(new Error('password=secret'));
    const failure: unknown = await paymentsCommand(['list', '--store', storeUrl]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PaymentStoreError);
    expect((failure as Error).message).not.toContain('secret');
  });

  it('explains itself when the words are off', async () => {
    await expect(paymentsCommand(['list', '--state', 'lost', '--store', storeUrl])).rejects.toThrow(UsageError);
    await expect(paymentsCommand(['list', '--store', 'memory:'])).rejects.toThrow(UsageError);
  });
});
