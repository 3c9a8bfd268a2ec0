import type { PaymentStore } from '../payment-store.js';
import { importDriver } from './import-driver.js';

/**
 * The store of a URL: `sqlite:FILE` or `postgres://…`. It is connected by its `open`. Kysely and the drivers are loaded here and there only.
 * @throws Error that names the packages to install, or what is wrong with the URL; it never shows the URL
 */
export async function openSqlStore(url: string): Promise<PaymentStore> {
  if (url.startsWith('sqlite:')) {
    const file = url.slice('sqlite:'.length).replace(/^\/\//, '');
    if (file === '') throw new Error('sqlite: needs a file: sqlite:payments.db');
    const packages = 'kysely better-sqlite3';
    const { sqlitePaymentStore } = await importDriver(packages, () => import('./sqlite-payment-store.js'));
    return sqlitePaymentStore({ file });
  }
  if (/^postgres(ql)?:/.test(url)) {
    if (!URL.canParse(url)) throw new Error('a PostgreSQL URL looks like postgres://user:password@host:5432/database');
    const { postgresPaymentStore } = await importDriver('kysely pg', () => import('./postgres-payment-store.js'));
    return postgresPaymentStore({ connectionString: url });
  }
  throw new Error('a SQL store is sqlite:FILE or postgres://…');
}
