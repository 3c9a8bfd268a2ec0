import type { GatewayDialect, Signer } from '../gateway-dialect.js';
import { DEFAULT_CODE_SETS, type ResultCodeSets } from '../result-codes.js';
import { signedFields } from '../wire-body.js';
import { findBankPage } from './bank-page.js';
import { readContractResult, saleBody } from './contract-fields.js';
import { newConversationId } from './conversation-id.js';

export interface StandardDialectOptions {
  /** How `sign` is computed; the contract does not show it. */
  readonly signer: Signer;
  /** Overrides of what the result codes mean (the contract shows `B0000` alone). */
  readonly codes?: Partial<ResultCodeSets>;
  /** The field of the Init3d answer that carries the page; by default the one text that is Base64 of HTML. */
  readonly contentField?: string;
}

/**
 * The contract and nothing else on the wire. Where it says "not shown", these readings are taken, and can be replaced by a `GatewayDialect` of
 * one's own: the five headers go on all three endpoints; Init3d's body is DoPayment's; Auth3d's body is the callback's fields
 * as received, and its answer has the shape of DoPayment's; `x-Timestamp` is ISO 8601 in UTC.
 */
export function standardDialect({ signer, codes, contentField }: StandardDialectOptions): GatewayDialect {
  return {
    name: 'standard',
    paths: { doPayment: '/v1/Payment/DoPayment', init3d: '/v1/Payment/Init3d', auth3d: '/v1/Payment/Auth3d' },
    codes: { ...DEFAULT_CODE_SETS, ...codes },
    requiredCallbackFields: [],
    headers: ({ credentials, now }) => ({
      'x-ClientID': credentials.clientId,
      'x-ClientSecret': credentials.clientSecret,
      'x-GrantType': credentials.grantType,
      'x-Scope': credentials.scope,
      'x-Timestamp': now.toISOString(),
    }),
    // The callback's fields go back as received, so there is nothing of ours to sign.
    sign: async (body, context) => (context.operation === 'auth3d' ? null : await signer(signedFields(body), context)),
    doPaymentBody: saleBody,
    init3dBody: saleBody,
    auth3dBody: (_payment, fields) => fields,
    readInit3d: (fields) => findBankPage(fields, contentField),
    readResult: readContractResult,
    newConversationId,
  };
}
