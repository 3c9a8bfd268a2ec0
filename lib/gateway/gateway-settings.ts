import type { GatewayCredentials, GatewayDialect } from './gateway-dialect.js';

/** How strictly an approved amount is compared: see the option `verifyAmount`. */
export type AmountCheck = 'notLess' | 'exact' | 'off';

/** What the client needs to know of the merchant's options. */
export interface GatewaySettings {
  /** For spans and metrics. */
  readonly account?: string;
  readonly baseUrl: string;
  readonly credentials: GatewayCredentials;
  readonly dialect: GatewayDialect;
  readonly verifyAmount: AmountCheck;
  readonly verifySign: boolean;
  /** Whether an approval by Auth3d that does not name the payment is believed. */
  readonly trustUnbound: boolean;
}
