import { Logger } from '@nestjs/common';
import { PaymentConfigurationError } from '../errors/payment-configuration.error.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import { variableOf } from '../payment/account.js';
import { MemoryPaymentStore } from './memory-payment-store.js';
import type { PaymentStore } from './payment-store.js';

/** What decides on the store. */
export type StoreSettings = Pick<PaymentSettings, 'account' | 'store' | 'storeUrl' | 'background'>;

/**
 * The store of an account, open. Drivers are loaded only for the store that is chosen.
 * @throws PaymentConfigurationError when it cannot be opened
 */
export async function openStore(settings: StoreSettings): Promise<PaymentStore> {
  let store: PaymentStore | null = null;
  try {
    store = settings.store ?? (await storeOf(settings));
    await store.open();
    return store;
  } catch (error) {
    // Connections left open would keep a process alive that cannot start.
    await store?.close().catch(() => undefined);
    const problem = settings.store
      ? { option: 'store', variable: null }
      : { option: 'storeUrl', variable: variableOf(settings.account, 'storeUrl') };
    const why = error instanceof Error ? withoutCredentials(error.message, settings.storeUrl) : 'it gave no reason';
    throw new PaymentConfigurationError([{ ...problem, message: `cannot be opened: ${why}` }]);
  }
}

async function storeOf({ storeUrl, background }: StoreSettings): Promise<PaymentStore> {
  if (/^(?:sqlite|postgres(?:ql)?):/.test(storeUrl)) {
    const { openSqlStore } = await import('./sql/open-sql-store.js');
    return openSqlStore(storeUrl);
  }
  if (/^rediss?:/.test(storeUrl)) {
    const { openRedisStore } = await import('./redis/index.js');
    return openRedisStore(storeUrl);
  }
  new Logger('PaymentModule').warn(
    'Payments are kept in memory: a restart forgets them, and a second instance does not see them. ' +
      'Set PAYMENT_STORE_URL (sqlite:FILE, postgres://…, redis://…) before real money.' +
      (background ? '' : ' PAYMENT_BACKGROUND is off, so nothing reconciles them either.'),
  );
  return new MemoryPaymentStore();
}

/** A driver may repeat the URL it was given, or its password. */
function withoutCredentials(message: string, storeUrl: string): string {
  const secrets = [storeUrl, ...secretsOf(storeUrl)].filter((secret) => secret.length > 0);
  return secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message).slice(0, 500);
}

function secretsOf(storeUrl: string): string[] {
  if (!URL.canParse(storeUrl)) return [];
  const { username, password } = new URL(storeUrl);
  return [password, decodeURIComponent(password), username, decodeURIComponent(username)].filter(
    (text) => text.length > 3,
  );
}
