import type { PaymentOptions } from 'nestjs-card-payment';
import { type Simulator, type SimulatorOptions, startSimulator } from 'nestjs-card-payment/simulator';

/** A simulator for shops whose clocks are set ahead: it takes requests of any time. */
export function startTimelessGateway(options: SimulatorOptions = {}): Promise<Simulator> {
  return startSimulator({ dialect: 'morpos', timestampToleranceMs: Infinity, ...options });
}

/** The options of a shop that pays at a gateway of a test's own. */
export function accountAtUrl(baseUrl: string) {
  const credentials = { merchantId: 'M-1', clientId: 'C-1', clientSecret: 'c2VjcmV0', apiKey: 'key-key-key' };
  return { baseUrl, ...credentials, dialect: 'morpos' } as const satisfies PaymentOptions;
}

/** The options of a shop that pays at this simulator; as variables, see {@link variablesOf}. */
export function accountAt({ url, credentials }: Simulator) {
  return { baseUrl: url, ...credentials, dialect: 'morpos' } as const satisfies PaymentOptions;
}

export function variablesOf(
  { url, credentials }: Pick<Simulator, 'url' | 'credentials'>,
  prefix = 'PAYMENT',
): Record<string, string> {
  return {
    [`${prefix}_DIALECT`]: 'morpos',
    [`${prefix}_BASE_URL`]: url,
    [`${prefix}_MERCHANT_ID`]: credentials.merchantId,
    [`${prefix}_CLIENT_ID`]: credentials.clientId,
    [`${prefix}_CLIENT_SECRET`]: credentials.clientSecret,
    [`${prefix}_API_KEY`]: credentials.apiKey,
  };
}
