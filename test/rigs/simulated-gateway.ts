import type { PaymentOptions } from 'nestjs-card-payment';
import { type Simulator, type SimulatorOptions, startSimulator } from 'nestjs-card-payment/simulator';

/** A simulator for shops whose clocks are set ahead: it takes requests of any time. */
export function startTimelessGateway(options: SimulatorOptions = {}): Promise<Simulator> {
  return startSimulator({ dialect: 'morpos', timestampToleranceMs: Infinity, ...options });
}

/** The options of a shop that pays at this simulator; as variables, see {@link variablesOf}. */
export function accountAt({ url, credentials }: Simulator) {
  return { baseUrl: url, ...credentials, dialect: 'morpos' } as const satisfies PaymentOptions;
}

export function variablesOf({ url, credentials }: Pick<Simulator, 'url' | 'credentials'>): Record<string, string> {
  return {
    PAYMENT_DIALECT: 'morpos',
    PAYMENT_BASE_URL: url,
    PAYMENT_MERCHANT_ID: credentials.merchantId,
    PAYMENT_CLIENT_ID: credentials.clientId,
    PAYMENT_CLIENT_SECRET: credentials.clientSecret,
    PAYMENT_API_KEY: credentials.apiKey,
  };
}
