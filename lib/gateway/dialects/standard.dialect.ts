import type { GatewayDialect, Signer, ResultCodeSets } from '../gateway-dialect.js';
import { signedFields } from '../wire-body.js';
import { readContractPage, readScatteredResult, saleBody } from './contract-fields.js';
import { newConversationId } from '../../payment/randomness.js';
import { DEFAULT_CODE_SETS } from './default-code-sets.js';

export interface StandardDialectOptions {
  /** How `sign` is computed; the interface does not show it. */
  readonly signer: Signer;
  /** Overrides of what the result codes mean (the interface shows `B0000` alone). */
  readonly codes?: Partial<ResultCodeSets>;
  /** The field of the Init3d answer that carries the page; by default the one text that is Base64 of HTML. */
  readonly contentField?: string;
}

/**
 * The interface (docs/interface.md) and nothing else on the wire. Where it says "not shown", these readings are taken,
 * which a `GatewayDialect` of one's own can replace: the five headers go on all three endpoints; Init3d's body is
 * DoPayment's; Auth3d's body is the callback's fields as received, and its answer has the shape of DoPayment's; in
 * both, amount and currency may also stand in another of their places; `x-Timestamp` is ISO 8601 in UTC. Of a callback
 * nothing is required, but a `conversationId` in it must be the payment's, and `InstrumentDetail` may be an object.
 */
export function standardDialect({ signer, codes, contentField }: StandardDialectOptions): GatewayDialect {
  return {
    name: 'standard',
    operations: {
      doPayment: { path: '/v1/Payment/DoPayment', body: saleBody, read: readScatteredResult },
      init3d: {
        path: '/v1/Payment/Init3d',
        body: saleBody,
        read: (fields) => readContractPage(fields, contentField),
      },
      auth3d: { path: '/v1/Payment/Auth3d', body: ({ fields }) => fields, read: readScatteredResult },
    },
    codes: { ...DEFAULT_CODE_SETS, ...codes },
    requiredCallbackFields: [],
    callbackIdField: 'conversationId',
    callbackObjectFields: ['InstrumentDetail'],
    headers: ({ credentials, now }) => ({
      'x-ClientID': credentials.clientId,
      'x-ClientSecret': credentials.clientSecret,
      'x-GrantType': credentials.grantType,
      'x-Scope': credentials.scope,
      'x-Timestamp': now.toISOString(),
    }),
    // The callback's fields go back as received, so there is nothing of ours to sign.
    sign: async (body, context) => (context.operation === 'auth3d' ? null : await signer(signedFields(body), context)),
    newConversationId,
  };
}
