import { PaymentConfigurationError } from '../errors/payment-errors.js';
import type { PaymentClock } from '../runtime/clock.js';
import { MemoryPaymentStore } from './memory/memory-payment-store.js';
import type { PaymentStore } from './payment-store.js';
import { isShown } from './sql/errors.js';
import { shownPlace, STORE_URL_FORMS, storeUrlProblem } from './store-url.js';
import { PaymentLogger } from '../telemetry/payment-logger.js';

/** Which store to open, and how. */
export interface StoreSettings {
  /** A store that was given in code. It is used instead of the URL. */
  readonly store: PaymentStore | null;
  readonly storeUrl: string;
  /** The environment variable of the URL, for messages. */
  readonly variable: string;
  /** Whether this process does the background work, for messages. */
  readonly background: boolean;
  /** Whether the store must exist already, so that nothing is made or migrated. Default false. */
  readonly mustExist?: boolean;
  /** The clock of this process, for stores without a server of their own. */
  readonly clock: PaymentClock;
}

/** How many accounts use each store, since several may be given the same one. */
const users = new WeakMap<PaymentStore, number>();

/**
 * Opens the store of an account, and loads the driver of this store only. The caller must release it by
 * {@link releaseStore}.
 * @throws PaymentConfigurationError when it cannot be opened
 */
export async function openStore(settings: StoreSettings): Promise<PaymentStore> {
  const setting = settings.store
    ? { option: 'store', variable: null }
    : { option: 'storeUrl', variable: settings.variable };
  const problem = settings.store ? null : storeUrlProblem(settings.storeUrl);
  if (problem !== null) throw new PaymentConfigurationError([{ ...setting, message: problem }]);
  let store: PaymentStore | null = null;
  try {
    store = settings.store ?? (await storeOf(settings));
    users.set(store, (users.get(store) ?? 0) + 1);
    await store.open();
    return store;
  } catch (error) {
    // Open connections would keep alive a process that cannot start.
    if (store) await releaseStore(store).catch(() => undefined);
    const why = isShown(error) ? error.message : 'it gave no reason';
    const place = settings.store ? '' : shownPlace(settings.storeUrl);
    throw new PaymentConfigurationError([{ ...setting, message: `cannot be opened: ${why}${place && ` (${place})`}` }]);
  }
}

/** Says that an account no longer uses the store, and closes it after the last one. */
export async function releaseStore(store: PaymentStore): Promise<void> {
  const left = (users.get(store) ?? 1) - 1;
  if (left > 0) {
    users.set(store, left);
    return;
  }
  users.delete(store);
  await store.close();
}

async function storeOf({ storeUrl, variable, background, mustExist, clock }: StoreSettings): Promise<PaymentStore> {
  if (storeUrl !== 'memory:') {
    const { openSqlStore } = await import('./sql/open-sql-store.js');
    return openSqlStore(storeUrl, { processClock: clock, mustExist });
  }
  new PaymentLogger().warn(
    'Payments are kept in memory: a restart loses them, and a second instance does not see them. ' +
      `Set ${variable} (${STORE_URL_FORMS.slice(1).join(', ')}) before you take real payments.` +
      (background ? '' : ' The background work is off here, so nothing reconciles them either.'),
  );
  return new MemoryPaymentStore({ clock });
}
