import { PaymentConfigurationError } from '../../errors/payment-errors.js';
import { resolveSettings } from '../../options/resolve-settings.js';
import { simulatorHint } from '../../options/setting-hints.js';
import type { PaymentSettings } from '../../options/payment-settings.js';
import { variablePrefix } from '../../payment/account.js';
import { failed, type Finding, ok } from './finding.js';
import { isEmbeddedSimulator, type Patient } from './patient.js';

const SIMULATED = 'complete: the simulator inside the application, with a dialect and credentials of its own';

export interface CheckedSettings {
  /** Null where there is a problem. */
  readonly settings: PaymentSettings | null;
  readonly findings: readonly Finding[];
}

/** Every setting that is wrong or missing, by name. */
export function checkSettings(patient: Patient): CheckedSettings {
  const { account, name, environment, values } = patient;
  // It can be given in code alone, and is not needed for what is asked here.
  const signer = values.dialect === 'standard' ? () => '' : undefined;
  try {
    const settings = resolveSettings({ background: false, signer }, { name }, environment);
    if (isEmbeddedSimulator(patient)) return { settings, findings: [ok('settings', SIMULATED)] };
    const note = signer ? 'The dialect "standard" also needs a signer, in code.' : null;
    return { settings, findings: [ok('settings', `complete, dialect ${settings.dialect.name}`, note)] };
  } catch (error) {
    if (!(error instanceof PaymentConfigurationError)) throw error;
    const hints = simulatorHint(error.problems, {}, environment, account);
    const advice = [adviceFor(account, environment), ...hints].join(' ');
    const findings = error.problems.map(({ option, variable, message }, index) => {
      const isLast = index === error.problems.length - 1;
      return failed('settings', `${option}${variable ? ` (${variable})` : ''} ${message}`, isLast ? advice : null);
    });
    return { settings: null, findings };
  }
}

function adviceFor(account: string, environment: Patient['environment']): string {
  const prefix = variablePrefix(account);
  return Object.keys(environment).some((variable) => variable.startsWith(prefix))
    ? 'Set the variables that are named; what your application sets in code is not seen from here.'
    : `There is no variable ${prefix}… at all: was .env loaded? Options that are set in code are not seen from here.`;
}
