import type { GatewayCredentials, GatewayDialect } from '../gateway/gateway-dialect.js';
import type { OptionValues } from './option-table.js';

/** The options that are in the settings as they are. */
type UnchangedOptions = Omit<OptionValues, keyof GatewayCredentials | 'dialect' | 'signer' | 'retentionMs'>;

/** Settings are plain objects, so that this class is never made; it only carries the type. */
const UnchangedSettings = class {} as unknown as abstract new () => UnchangedOptions;

/**
 * The options after start-up: checked, complete. A class so that it can be its own injection token. Printed, it shows no
 * credentials and no store.
 */
export abstract class PaymentSettings extends UnchangedSettings {
  abstract readonly account: string;
  abstract readonly credentials: GatewayCredentials;
  abstract readonly dialect: GatewayDialect;
  /** Null keeps settled payments for good. */
  abstract readonly retentionMs: number | null;
}
