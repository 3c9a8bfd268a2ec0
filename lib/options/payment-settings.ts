import type { PaymentStore } from '../store/payment-store.js';
import type { GatewayCredentials, GatewayDialect } from '../gateway/gateway-dialect.js';
import type { PaymentOptions, ResultUrl } from './payment-options.js';

/** The account of `PaymentModule.forRoot` without a `name`. */
export const DEFAULT_ACCOUNT = 'default';

/** The options after start-up: checked, complete. A class so that it can be its own injection token. */
export abstract class PaymentSettings {
  readonly account!: string;
  readonly baseUrl!: string;
  readonly credentials!: GatewayCredentials;
  readonly dialect!: GatewayDialect;
  readonly language!: string;
  readonly timeoutMs!: number;
  readonly connectTimeoutMs!: number;
  readonly keepAliveMs!: number;
  readonly publicUrl!: string | null;
  readonly callbackUrl!: string | null;
  readonly returnUrl!: string | null;
  readonly failUrl!: string | null;
  readonly successUrl!: ResultUrl | null;
  readonly failureUrl!: ResultUrl | null;
  readonly pendingUrl!: ResultUrl | null;
  readonly sessionTtlMs!: number;
  readonly storeUrl!: string;
  readonly store!: PaymentStore | null;
  readonly retentionMs!: number | null;
  readonly background!: boolean;
  readonly amountFormat!: 'fixed' | 'shortest';
  readonly dateOrder!: 'dmy' | 'mdy';
  readonly luhn!: boolean;
  readonly verifyAmount!: 'notLess' | 'exact' | 'off';
  readonly verifySign!: boolean;
  readonly beforeAuth3d!: PaymentOptions['beforeAuth3d'] | null;
  readonly dispatcher!: PaymentOptions['dispatcher'] | null;
}
