import type { GatewayDialect, Signer } from '../gateway-dialect.js';
import { morposDialect } from './morpos.dialect.js';
import { standardDialect } from './standard.dialect.js';

/** A dialect that can be chosen by its name: how it is made of the options, or what is wrong with them. */
export interface NamedDialect {
  make(options: { readonly signer?: Signer }): GatewayDialect | SignerProblem;
}

export interface SignerProblem {
  readonly signerProblem: string;
}

/** Every dialect that PAYMENT_DIALECT can name. */
export const DIALECTS = {
  standard: {
    make: ({ signer }) =>
      signer
        ? standardDialect({ signer })
        : {
            signerProblem:
              'is missing: the dialect "standard" does not know how the service computes sign; give a signer in code, or choose the dialect "morpos"',
          },
  },
  morpos: {
    make: ({ signer }) =>
      signer
        ? { signerProblem: 'is for the dialect "standard"; give dialect: morposDialect({ signOrder }) instead' }
        : morposDialect(),
  },
} as const satisfies Readonly<Record<string, NamedDialect>>;

export type DialectName = keyof typeof DIALECTS;

const METHODS = [
  'headers',
  'sign',
  'doPaymentBody',
  'init3dBody',
  'auth3dBody',
  'readInit3d',
  'readResult',
  'newConversationId',
] as const satisfies readonly (keyof GatewayDialect)[];
const FACTS = ['paths', 'codes', 'requiredCallbackFields'] as const satisfies readonly (keyof GatewayDialect)[];

/** What a dialect of a host's own lacks, or null. Hosts in plain JavaScript get no help from the types. */
export function dialectProblem(dialect: GatewayDialect): string | null {
  const missing = [
    ...METHODS.filter((method) => typeof dialect[method] !== 'function'),
    ...FACTS.filter((fact) => typeof dialect[fact] !== 'object' || dialect[fact] === null),
  ];
  return missing.length === 0 ? null : `is no GatewayDialect: it lacks ${missing.join(', ')}`;
}
