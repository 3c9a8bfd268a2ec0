import type { CommandOptions } from './command.js';

export const HELP_OPTION = {
  help: { type: 'boolean', short: 'h', about: 'Shows this.' },
} as const satisfies CommandOptions;

/** Of every command that reads settings. */
export const SETTINGS_OPTIONS = {
  account: {
    type: 'string',
    value: 'NAME',
    about: 'A named account, which reads PAYMENT_<NAME>_*; without it the unnamed one, which reads PAYMENT_*.',
  },
  env: { type: 'string', value: 'FILE', about: 'Reads variables from FILE instead of .env; those that are set win.' },
} as const satisfies CommandOptions;

export const JSON_OPTION = {
  json: { type: 'boolean', about: 'Prints JSON, and nothing else, on standard output.' },
} as const satisfies CommandOptions;

/** Of every command that looks into a store. */
export const STORE_OPTIONS = {
  store: { type: 'string', value: 'URL', about: 'The store, instead of PAYMENT_STORE_URL.' },
  ...SETTINGS_OPTIONS,
  ...JSON_OPTION,
} as const satisfies CommandOptions;

export const LIMIT_OPTION = {
  limit: { type: 'string', value: 'N', about: 'How many at most, 1 to 10000; 100 by default.' },
} as const satisfies CommandOptions;
