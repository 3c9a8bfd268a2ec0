import type { PaymentStore } from '../payment-store.js';
import { engineOfUrl, SQL_ENGINES } from './engines.js';

/**
 * The store of a URL: `sqlite:FILE` or `postgres://…`. Its `open` connects. Kysely and the drivers are not loaded
 * before these are called.
 * @throws Error that names the packages to install, or says what is wrong with the URL; it never shows the URL
 */
export async function openSqlStore(url: string): Promise<PaymentStore> {
  const engine = engineOfUrl(url);
  if (!engine) throw new Error(`a SQL store is ${SQL_ENGINES.map(({ urlForm }) => urlForm).join(' or ')}`);
  const dialect = await engine.open(url);
  const [{ Kysely }, { SqlPaymentStore }] = await Promise.all([import('kysely'), import('./sql-payment-store.js')]);
  return new SqlPaymentStore(new Kysely({ dialect }), engine, {}, true);
}
