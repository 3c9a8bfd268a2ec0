import type { GatewayCredentials, GatewayDialect } from '../gateway/gateway-dialect.js';
import type { OptionValues } from './option-table.js';

/** The options that the settings take over unchanged. */
type UnchangedOptions = Omit<
  OptionValues,
  keyof GatewayCredentials | 'dialect' | 'signer' | 'retentionMs' | 'maxInFlight' | 'formerBaseUrls'
>;

/** Exists only for the type: settings are plain objects, and this class is never instantiated. */
const UnchangedSettings = class {} as unknown as abstract new () => UnchangedOptions;

/**
 * The options, checked and complete. This is a class so that it can be its own injection token. Printed, the settings
 * show no credentials and no store.
 */
export abstract class PaymentSettings extends UnchangedSettings {
  abstract readonly account: string;
  abstract readonly credentials: GatewayCredentials;
  abstract readonly dialect: GatewayDialect;
  /** The id of the gateway, then those that it had at its former addresses. */
  abstract readonly gateways: readonly [string, ...string[]];
  /** Null keeps settled payments forever. */
  abstract readonly retentionMs: number | null;
  /** Null sets no limit. */
  abstract readonly maxInFlight: number | null;
}
