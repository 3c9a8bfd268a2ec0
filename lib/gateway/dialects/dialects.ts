import type {
  DialectOperation,
  DialectOperations,
  GatewayDialect,
  GatewayOperation,
  Signer,
} from '../gateway-dialect.js';
import { morposDialect } from './morpos.dialect.js';
import { standardDialect } from './standard.dialect.js';

/** A dialect that can be chosen by its name: it is made from the options, or says what is wrong with them. */
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
              'is missing: the dialect "standard" does not know how the service computes sign; ' +
              'give a signer in code, or choose the dialect "morpos"',
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

type PartCheck = (value: unknown) => boolean;

const A_METHOD: PartCheck = (value) => typeof value === 'function';
const A_TEXT: PartCheck = (value) => typeof value === 'string';
const AN_OBJECT: PartCheck = (value) => typeof value === 'object' && value !== null;
const A_LIST: PartCheck = (value) => Array.isArray(value);

const DIALECT_PARTS = {
  headers: A_METHOD,
  sign: A_METHOD,
  newConversationId: A_METHOD,
  operations: AN_OBJECT,
  codes: AN_OBJECT,
  requiredCallbackFields: A_LIST,
  callbackIdField: A_TEXT,
  callbackObjectFields: A_LIST,
} satisfies Partial<Record<keyof GatewayDialect, PartCheck>>;
const OPERATION_PARTS = {
  path: A_TEXT,
  body: A_METHOD,
  read: A_METHOD,
} satisfies Record<keyof DialectOperation<never, unknown>, PartCheck>;
const REQUIRED_OPERATIONS: readonly GatewayOperation[] = ['doPayment', 'init3d', 'auth3d'];
const OPTIONAL_OPERATIONS: readonly GatewayOperation[] = ['checkPayment', 'checkBin'];

/** What a host's own dialect lacks, or null. Hosts in plain JavaScript get no help from the types. */
export function dialectProblem(dialect: GatewayDialect): string | null {
  const missing = missingParts(dialect, DIALECT_PARTS);
  if (!missing.includes('operations')) missing.push(...missingOperations(dialect.operations));
  return missing.length === 0 ? null : `is no GatewayDialect: it lacks ${missing.join(', ')}`;
}

function missingOperations(operations: DialectOperations): string[] {
  const given = OPTIONAL_OPERATIONS.filter((name) => operations[name] !== undefined);
  return [...REQUIRED_OPERATIONS, ...given].flatMap((name) => {
    const operation: unknown = operations[name];
    if (!AN_OBJECT(operation)) return [`operations.${name}`];
    return missingParts(operation as object, OPERATION_PARTS).map((part) => `operations.${name}.${part}`);
  });
}

function missingParts(whole: object, parts: Readonly<Record<string, PartCheck>>): string[] {
  const values = whole as Readonly<Record<string, unknown>>;
  return Object.entries(parts).flatMap(([part, isGood]) => (isGood(values[part]) ? [] : [part]));
}
