import type { PaymentClock } from '../../runtime/clock.js';
import type { SqlPaymentStore, SqlStoreOptions } from './sql-payment-store.js';
import { choiceOf, engineOfUrl } from './engines.js';
import { importDriver, ShownError } from './errors.js';

/** What {@link openSqlStore} takes besides the URL. */
export interface OpenSqlStoreOptions extends Pick<SqlStoreOptions, 'clock'> {
  /** This process's clock, for databases that have no time of their own (SQLite); the system's by default. */
  readonly processClock?: PaymentClock;
  /** Whether the store must exist already: no file and no table is created or changed. Default false. */
  readonly mustExist?: boolean;
}

/**
 * The store of a URL: `sqlite:FILE`, `postgres://…`, `mysql://…` or `mariadb://…`. Its `open` connects. Kysely and the
 * drivers are loaded only when they are needed.
 * @throws Error that names the packages to install, or says what is wrong with the URL; it never shows the URL
 */
export async function openSqlStore(
  url: string,
  { clock, processClock, mustExist = false }: OpenSqlStoreOptions = {},
): Promise<SqlPaymentStore> {
  const engine = engineOfUrl(url);
  if (!engine) throw new ShownError(`a SQL store is ${choiceOf(({ urlForm }) => urlForm)}`);
  const kysely = await importDriver(engine.driver, () => import('kysely'));
  const { dialect, ...access } = engine.access(kysely, url, mustExist);
  const { SqlPaymentStore } = await import('./sql-payment-store.js');
  return new SqlPaymentStore(new kysely.Kysely({ dialect }), engine, {
    ...access,
    clock: clock ?? (engine.time === null ? processClock : undefined),
    migrate: !mustExist,
    // The command line may look at a replica.
    mustWrite: !mustExist,
    isOwner: true,
  });
}
