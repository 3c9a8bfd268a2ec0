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

/** The variables of a shop that pays at this simulator. */
export function variablesAt({ url, credentials }: Simulator, prefix = 'PAYMENT'): Record<string, string> {
  const { merchantId, clientId, clientSecret, apiKey } = credentials;
  return {
    [`${prefix}_DIALECT`]: 'morpos',
    [`${prefix}_BASE_URL`]: url,
    [`${prefix}_MERCHANT_ID`]: merchantId,
    [`${prefix}_CLIENT_ID`]: clientId,
    [`${prefix}_CLIENT_SECRET`]: clientSecret,
    [`${prefix}_API_KEY`]: apiKey,
  };
}

/** The options of a shop that pays at this simulator. */
export function accountAt({ url, credentials }: Simulator) {
  return { baseUrl: url, ...credentials, dialect: 'morpos' } as const satisfies PaymentOptions;
}
