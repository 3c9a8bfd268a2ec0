import { Logger } from '@nestjs/common';
import { TimeoutError } from '../../payment/with-timeout.js';
import { unprotectedStoreText } from '../../options/setting-hints.js';
import type { PaymentStore } from '../../store/payment-store.js';
import { engineOfUrl } from '../../store/sql/engines.js';
import { shownUrl } from '../../store/shown-url.js';
import { openExisting } from '../payments/account-store.js';
import { CommandFailedError } from '../command-failed.error.js';
import { StderrLogger } from '../stderr-logger.js';
import { failed, type Finding, ok, skipped } from './finding.js';
import type { Patient } from './patient.js';
import { withinTime } from './time-limit.js';

export interface CheckedStore {
  /** Open; null where it is not. */
  readonly store: PaymentStore | null;
  /** Whether it has a time of its own, not this process's. */
  readonly hasOwnTime: boolean;
  readonly findings: readonly Finding[];
}

export const NO_STORE: CheckedStore = { store: null, hasOwnTime: false, findings: [] };

/** Whether the store is there, answers, and has the schema of this release. It makes and migrates nothing. */
export async function checkStore(patient: Patient): Promise<CheckedStore> {
  const { values, variable, environment } = patient;
  const { findings, ...checked } = await openedStore(patient);
  const warning = values.storeUrl && unprotectedStoreText(values.storeUrl, variable('storeUrl'), environment);
  return { ...checked, findings: warning ? [...findings, skipped('store', warning)] : findings };
}

async function openedStore({ values: { storeUrl }, variable, limitMs }: Patient): Promise<CheckedStore> {
  const name = variable('storeUrl');
  if (storeUrl === undefined) {
    return { ...NO_STORE, findings: [skipped('store', `not looked at: ${name} is wrong`)] };
  }
  if (storeUrl === 'memory:') {
    const advice = `Set ${name} before real money.`;
    return { ...NO_STORE, findings: [skipped('store', 'payments are kept in memory: a restart forgets them', advice)] };
  }
  const warnings: string[] = [];
  Logger.overrideLogger(new WarningCollector(warnings));
  try {
    const store = await withinTime(limitMs, () => openExisting(storeUrl, name));
    const good = ok('store', `${shownUrl(storeUrl)} answers, and its schema is right`);
    return {
      store,
      hasOwnTime: engineOfUrl(storeUrl)?.time !== null,
      findings: [good, ...warnings.map((warning) => failed('store', warning, null))],
    };
  } catch (error) {
    if (error instanceof TimeoutError) {
      const advice = `Is it running, and reachable from here? See ${name}.`;
      return { ...NO_STORE, findings: [failed('store', `${shownUrl(storeUrl)} gives no answer`, advice)] };
    }
    if (!(error instanceof CommandFailedError)) throw error;
    const advice = 'A store that does not exist yet is made by the application when it starts.';
    return { ...NO_STORE, findings: [failed('store', error.message, advice)] };
  } finally {
    Logger.overrideLogger(new StderrLogger());
  }
}

/** A store warns of settings that would lose payments. */
class WarningCollector extends StderrLogger {
  constructor(private readonly warnings: string[]) {
    super();
  }

  override warn(message: unknown): void {
    this.warnings.push(String(message));
  }
}
