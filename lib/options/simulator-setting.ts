import type { ConfigurationProblem } from '../errors/payment-errors.js';
import { variableOf } from '../payment/account.js';
import type { PaymentOptions } from './payment-options.js';
import type { Environment, ReadOptions } from './payment-settings.js';
import { isLoopbackUrl, namesSimulator } from './url-checks.js';

/**
 * The options for the embedded simulator. They replace those of the project, which can keep its real settings and
 * change only `baseUrl`. The credentials are public and protect nothing.
 */
export const SIMULATOR_OPTIONS = {
  dialect: 'morpos',
  signer: undefined,
  merchantId: '100200300',
  clientId: 'embedded-simulator',
  clientSecret: 'ZW1iZWRkZWQtc2ltdWxhdG9yLXNlY3JldA==',
  apiKey: 'embedded-simulator-key',
  scope: 'pf_write pf_read',
  grantType: 'client_credentials',
  dateOrder: 'dmy',
  dispatcher: undefined,
} as const satisfies PaymentOptions;

/** The values of NODE_ENV with which no application takes real payments. */
const SAFE_ENVIRONMENTS = ['development', 'test'];
const WHAT_TO_DO =
  "no money would move, but orders would look paid; give the gateway's address or, on a developer's machine, " +
  'set NODE_ENV=development';

/** Whether `baseUrl` is the embedded simulator, perhaps mistyped. */
export function isSimulatorMeant(options: PaymentOptions, environment: Environment, account: string): boolean {
  const baseUrl: unknown = options.baseUrl ?? environment[variableOf(account, 'baseUrl')];
  return typeof baseUrl === 'string' && namesSimulator(baseUrl);
}

/** @returns the reason why the embedded simulator may not run here, or nothing */
export function simulatorProblems(
  values: ReadOptions['values'],
  { NODE_ENV }: Environment,
  account: string,
): ConfigurationProblem[] {
  const { publicUrl, callbackUrl, returnUrl, failUrl } = values;
  const isPublic = [publicUrl, callbackUrl, returnUrl, failUrl].some((url) => url && !isLoopbackUrl(url));
  if (NODE_ENV && !SAFE_ENVIRONMENTS.includes(NODE_ENV))
    return [simulatorProblem(account, 'while NODE_ENV is neither development nor test')];
  if (!NODE_ENV && isPublic)
    return [simulatorProblem(account, 'while NODE_ENV is not set and buyers come by a public address')];
  return [];
}

/** @param when the simulator may not run */
export function simulatorProblem(account: string, when: string): ConfigurationProblem {
  const message = `cannot be simulator: ${when}: ${WHAT_TO_DO}`;
  return { option: 'baseUrl', variable: variableOf(account, 'baseUrl'), message };
}
