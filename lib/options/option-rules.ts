import type { ConfigurationProblem } from '../errors/payment-errors.js';
import { dialectProblem, DIALECTS } from '../gateway/dialects/dialects.js';
import type { GatewayDialect } from '../gateway/gateway-dialect.js';
import { variableOf } from '../payment/account.js';
import type { PaymentStructure } from './payment-options.js';
import type { ReadOptions } from './read-options.js';

export interface DialectChoice {
  /** Null when there is a problem, with the dialect or with what it is made of. */
  readonly dialect: GatewayDialect | null;
  readonly problems: readonly ConfigurationProblem[];
}

/** The dialect that `dialect` and `signer` give. */
export function chooseDialect({ dialect, signer }: ReadOptions['values']): DialectChoice {
  const refuse = (option: 'dialect' | 'signer', message: string): DialectChoice => ({
    dialect: null,
    problems: [{ option, variable: null, message }],
  });
  if (dialect === undefined || signer === undefined) return { dialect: null, problems: [] };
  if (typeof dialect === 'object') {
    const problem = dialectProblem(dialect);
    return problem === null ? { dialect, problems: [] } : refuse('dialect', problem);
  }
  const made = DIALECTS[dialect].make({ signer: signer ?? undefined });
  return 'signerProblem' in made ? refuse('signer', made.signerProblem) : { dialect: made, problems: [] };
}

/**
 * What options demand of each other and of the structure. A rule is silent where an option that it looks at is wrong by
 * itself (undefined).
 */
export function ruleProblems(
  { apiKey, verifySign, publicUrl, callbackUrl }: ReadOptions['values'],
  dialect: GatewayDialect | null,
  account: string,
  { callback }: PaymentStructure,
  isSimulated: boolean,
): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const report = (option: 'apiKey' | 'verifySign' | 'publicUrl', message: string): void =>
    void problems.push({ option, variable: variableOf(account, option), message });

  if (dialect?.requiresApiKey && apiKey === null) report('apiKey', 'is missing');
  if (dialect && !dialect.verifySign && verifySign) {
    report('verifySign', `cannot be true: the dialect "${dialect.name}" cannot verify the sign of an answer`);
  }
  if (callback !== false && publicUrl === null && callbackUrl === null && !isSimulated) {
    report('publicUrl', 'is missing (where buyers reach this application; or set callbackUrl, or callback: false)');
  }
  return problems;
}
