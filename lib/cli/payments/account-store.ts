import { PaymentConfigurationError, PaymentError } from '../../errors/payment-errors.js';
import type { Environment } from '../../options/read-options.js';
import { DEFAULT_ACCOUNT, variableOf } from '../../payment/account.js';
import { SystemClock } from '../../runtime/clock.js';
import { openStore, releaseStore } from '../../store/open-store.js';
import type { PaymentStore } from '../../store/payment-store.js';
import { STORE_URL_FORMS, storeUrlProblem } from '../../store/store-url.js';
import { CommandFailedError, UsageError } from '../command.js';

/** An open store, and the account that the command is for. */
export interface AccountStore {
  readonly store: PaymentStore;
  readonly account: string;
}

interface StoreCall {
  readonly values: { readonly store?: string; readonly account?: string };
  readonly environment: Environment;
}

/**
 * Opens the application's store, which must exist already, runs the work and closes it. It creates and migrates
 * nothing.
 * @throws UsageError if no store is named, CommandFailedError if the store cannot be opened or fails
 */
export async function withAccountStore<T>(
  { values, environment }: StoreCall,
  work: (opened: AccountStore) => Promise<T>,
): Promise<T> {
  const account = values.account ?? DEFAULT_ACCOUNT;
  const variable = variableOf(account, 'storeUrl');
  const source = values.store === undefined ? variable : '--store';
  const store = await openExisting(storeUrlOf(values.store ?? environment[variable], source), source);
  try {
    return await work({ store, account });
  } catch (error) {
    if (error instanceof PaymentError || error instanceof UsageError || error instanceof CommandFailedError)
      throw error;
    // A driver's error may hold a statement's values or an address.
    throw new CommandFailedError('The payment store failed; is it running, and reachable from here?');
  } finally {
    await releaseStore(store).catch(() => undefined);
  }
}

/** The error for an id that neither a payment nor a refund has. */
export function noSuch(id: string, { account }: AccountStore): CommandFailedError {
  return new CommandFailedError(`There is no payment or refund ${id} in the account "${account}".`);
}

function storeUrlOf(url: string | undefined, source: string): string {
  const forms = STORE_URL_FORMS.slice(1).join(', ');
  if (!url) {
    throw new UsageError(
      source === '--store'
        ? `--store is empty: it takes ${forms}.`
        : `No store is named: ${source} is not set. Set it (in .env, in the file of --env, or in the environment), or ` +
            `give --store URL: ${forms}.`,
    );
  }
  if (url === 'memory:') {
    throw new UsageError(
      `${source} is memory: those payments are known to the application's own process alone and cannot be seen from ` +
        `here. Payments in another store (${forms}) can be seen.`,
    );
  }
  const problem = storeUrlProblem(url);
  if (problem !== null) throw new UsageError(`${source} ${problem}.`);
  return url;
}

/** @throws CommandFailedError that says why it cannot be opened */
export async function openExisting(storeUrl: string, source: string): Promise<PaymentStore> {
  const clock = new SystemClock();
  try {
    return await openStore({ storeUrl, variable: source, clock, store: null, background: false, mustExist: true });
  } catch (error) {
    const [problem] = error instanceof PaymentConfigurationError ? error.problems : [];
    throw new CommandFailedError(`The store (${source}) ${problem?.message ?? 'cannot be opened'}`);
  }
}
