import { PaymentConfigurationError } from '../../lib/errors/payment-errors.js';
import type { PaymentOptions, PaymentStructure } from '../../lib/options/payment-options.js';
import type { Environment, PaymentSettings } from '../../lib/options/payment-settings.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';

export const REQUIRED_OPTIONS: PaymentOptions = {
  baseUrl: 'https://gateway.example',
  merchantId: 'M-1',
  clientId: 'client-1',
  clientSecret: 'secret-1',
  publicUrl: 'https://shop.example',
  signer: () => 'S',
};
export const REQUIRED_VARIABLES: Environment = {
  PAYMENT_BASE_URL: 'https://gateway.example',
  PAYMENT_MERCHANT_ID: 'M-1',
  PAYMENT_CLIENT_ID: 'client-1',
  PAYMENT_CLIENT_SECRET: 'secret-1',
  PAYMENT_PUBLIC_URL: 'https://shop.example',
  PAYMENT_DIALECT: 'morpos',
  PAYMENT_API_KEY: 'key-1',
};

/** The settings of these options, with what is required where they leave it out. */
export function resolve(
  options: object = {},
  environment: Environment = {},
  structure: PaymentStructure = {},
): PaymentSettings {
  return resolveSettings({ ...REQUIRED_OPTIONS, ...options }, structure, environment);
}

export function refusal(run: () => unknown): PaymentConfigurationError {
  try {
    run();
  } catch (error) {
    if (error instanceof PaymentConfigurationError) return error;
    throw error;
  }
  throw new Error('not refused');
}

/** `option (variable)` of every problem. */
export function named(run: () => unknown): string[] {
  return refusal(run).problems.map(({ option, variable }) => (variable ? `${option} (${variable})` : option));
}
