import { morposDialect } from '../gateway/dialects/morpos.dialect.js';
import { standardDialect } from '../gateway/dialects/standard.dialect.js';
import type { GatewayDialect, GatewayOperation, ResultCodeSets, Signer } from '../gateway/gateway-dialect.js';

const NO_SIGNER =
  'is missing: the dialect "standard" does not know how the service computes sign; ' +
  'give a signer in code, or choose the dialect "morpos"';
const NEEDLESS_SIGNER = 'is for the dialect "standard"; give dialect: morposDialect({ signOrder }) instead';

interface NamedDialect {
  /** Creates the dialect from the options, or says what is wrong with them. */
  make(options: { readonly signer?: Signer }): GatewayDialect | { readonly signerProblem: string };
}

/** Every dialect that PAYMENT_DIALECT can name. */
export const DIALECTS = {
  standard: { make: ({ signer }) => (signer ? standardDialect({ signer }) : { signerProblem: NO_SIGNER }) },
  morpos: { make: ({ signer }) => (signer ? { signerProblem: NEEDLESS_SIGNER } : morposDialect()) },
} as const satisfies Readonly<Record<string, NamedDialect>>;

export type DialectName = keyof typeof DIALECTS;

type PartCheck = (value: unknown) => boolean;

const isFunction: PartCheck = (value) => typeof value === 'function';
const isText: PartCheck = (value) => typeof value === 'string';
const isObject: PartCheck = (value) => typeof value === 'object' && value !== null;
const areTexts: PartCheck = (value) => Array.isArray(value) && value.every(isText);
/** By its method, since a host may have a Set of another realm. */
const isSet: PartCheck = (value) => isObject(value) && isFunction((value as Partial<Set<string>>).has);

/** What may be left out. */
const orNone =
  (check: PartCheck): PartCheck =>
  (value) =>
    value === undefined || check(value);

const DIALECT_PARTS = {
  name: (value) => isText(value) && value !== '',
  verifySign: orNone(isFunction),
  headers: isFunction,
  sign: isFunction,
  newConversationId: isFunction,
  operations: isObject,
  codes: isObject,
  requiredCallbackFields: areTexts,
  callbackIdField: isText,
  callbackObjectFields: areTexts,
} satisfies Partial<Record<keyof GatewayDialect, PartCheck>>;

const CODE_PARTS = {
  approvedCodes: isSet,
  approvalVariantCodes: isSet,
  indeterminateCodes: isSet,
  declinedCodes: isSet,
  declinedPrefixes: areTexts,
  inquiryDeclinedCodes: isSet,
  notFoundCodes: isSet,
  approvedTexts: isSet,
  refundApprovedCodes: orNone(isSet),
  inquiryUnpaidCodes: orNone(isSet),
} satisfies Partial<Record<keyof ResultCodeSets, PartCheck>>;

const REQUIRED_OPERATIONS: readonly GatewayOperation[] = ['doPayment', 'init3d', 'auth3d'];
const OPERATION_PARTS = { path: isText, body: isFunction, read: isFunction };

/**
 * Which parts a host's own dialect lacks, as text; null if none. A host in plain JavaScript has no compiler to report
 * them.
 */
export function dialectProblem(dialect: GatewayDialect): string | null {
  const missing = missingParts(dialect, DIALECT_PARTS);
  if (!missing.includes('codes')) missing.push(...missingParts(dialect.codes, CODE_PARTS, 'codes.'));
  if (!missing.includes('operations')) {
    const names = [...REQUIRED_OPERATIONS, ...(Object.keys(dialect.operations) as GatewayOperation[])];
    for (const name of new Set(names)) {
      const operation = dialect.operations[name];
      if (operation === undefined && !REQUIRED_OPERATIONS.includes(name)) continue;
      if (!operation || !isObject(operation)) missing.push(`operations.${name}`);
      else missing.push(...missingParts(operation, OPERATION_PARTS, `operations.${name}.`));
    }
  }
  return missing.length === 0 ? null : `is no GatewayDialect: it lacks ${missing.join(', ')}`;
}

function missingParts(whole: object, parts: Readonly<Record<string, PartCheck>>, path = ''): string[] {
  const values = whole as Readonly<Record<string, unknown>>;
  return Object.keys(parts).flatMap((part) => (parts[part]!(values[part]) ? [] : [path + part]));
}
