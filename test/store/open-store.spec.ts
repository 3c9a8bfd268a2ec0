import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { inspect } from 'node:util';
import { PaymentConfigurationError } from '../../lib/errors/payment-errors.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { openStore, releaseStore } from '../../lib/store/open-store.js';
import { TestClock } from '../../lib/testing/index.js';
import { suiteStore } from '../rigs/suite-stores.js';

const SETTINGS = {
  store: null,
  storeUrl: 'memory:',
  variable: 'PAYMENT_SHOP_STORE_URL',
  background: true,
  clock: new TestClock(),
};

let warnings: string[];

describe('open store', () => {
  beforeEach(() => {
    warnings = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((text: unknown) => void warnings.push(String(text)));
  });

  test('in memory, with a warning that names the variable', async () => {
    await expect(openStore(SETTINGS)).resolves.toBeInstanceOf(MemoryPaymentStore);
    await openStore({ ...SETTINGS, background: false });
    expect(warnings).toEqual([
      expect.stringContaining(
        'Set PAYMENT_SHOP_STORE_URL (sqlite:FILE, postgres://…, mysql://…, mariadb://…) before you take real payments.',
      ),
      expect.stringContaining('nothing reconciles them either'),
    ]);
    expect(warnings[0]).not.toContain('reconciles');
  });

  test('a store of several accounts stays open for those that have it, or are opening it, where another cannot', async () => {
    const store = new MemoryPaymentStore();
    const [close, open] = [jest.spyOn(store, 'close'), jest.spyOn(store, 'open')];
    let opened!: () => void;
    open.mockImplementationOnce(() => new Promise<void>((resolve) => (opened = resolve)));
    open.mockRejectedValueOnce(new Error('no'));
    const first = openStore({ ...SETTINGS, store });
    await problemOf({ store });
    opened();
    await first;
    expect(close).not.toHaveBeenCalled();
    await releaseStore(store);
    expect(close).toHaveBeenCalledTimes(1);
  });

  test('a store without a server of its own goes by the clock of the process', async () => {
    for (const storeUrl of ['memory:', await (await suiteStore('SQLite')).create()]) {
      const store = await openStore({ ...SETTINGS, storeUrl });
      await expect(store.now()).resolves.toEqual(SETTINGS.clock.now());
      await store.close();
    }
  });

  test('what cannot be opened is closed, and the variable is named', async () => {
    await expect(problemOf({ storeUrl: 'postgres://ada:geheim@127.0.0.1:1/shop' })).resolves.toEqual({
      option: 'storeUrl',
      variable: 'PAYMENT_SHOP_STORE_URL',
      message:
        'cannot be opened: PostgreSQL does not answer; is it running, and reachable from here? (ECONNREFUSED) ' +
        '(host 127.0.0.1, port 1, database shop)',
    });
    const store = new MemoryPaymentStore();
    store.open = () => Promise.reject(new Error('cannot connect to mysql://ada:geheim@host'));
    const close = jest.spyOn(store, 'close');
    await expect(problemOf({ store, storeUrl: 'mysql://ada:geheim@host' })).resolves.toEqual({
      option: 'store',
      variable: null,
      message: 'cannot be opened: it gave no reason',
    });
    expect(close).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['mysql://ada:geheim50%@127.0.0.1:1/shop', 'must have each % in its user and password written as %25'],
    ['oracle://ada:geheim@host/shop', 'must be memory:, sqlite:FILE, postgres://…, mysql://…, mariadb://…'],
  ])('%s is a setting that is wrong, like any other: it %s', async (storeUrl, message) => {
    const setting = { option: 'storeUrl', variable: 'PAYMENT_SHOP_STORE_URL' };
    await expect(problemOf({ storeUrl })).resolves.toEqual({ ...setting, message });
    // A store of the host's own does not care.
    const store = new MemoryPaymentStore();
    await expect(openStore({ ...SETTINGS, store, storeUrl })).resolves.toBe(store);
  });
});

async function problemOf(settings: Partial<Parameters<typeof openStore>[0]>) {
  const error: unknown = await openStore({ ...SETTINGS, ...settings }).catch((reason: unknown) => reason);
  if (!(error instanceof PaymentConfigurationError)) throw new Error(`not refused: ${inspect(error)}`);
  expect(inspect(error, { depth: 9 })).not.toContain('geheim');
  return error.problems[0];
}
