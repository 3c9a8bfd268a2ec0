import type { GatewayDialect, Signer, ResultCodeSets } from '../gateway-dialect.js';
import { signedFields } from '../wire-body.js';
import { readContractPage, readScatteredResult, saleBody } from './contract-fields.js';
import { newConversationId } from '../../payment/randomness.js';
import { DEFAULT_CODE_SETS } from '../result-codes.js';

/** Options of {@link standardDialect}. */
export interface StandardDialectOptions {
  /** Computes `sign`, which docs/interface.md does not explain. */
  readonly signer: Signer;
  /** Replaces some of the sets in `DEFAULT_CODE_SETS`. docs/interface.md shows the code `B0000` only. */
  readonly codes?: Partial<ResultCodeSets>;
  /**
   * The field that holds the page in an answer to Init3d. Default (unverified): the only text that is Base64 of HTML.
   */
  readonly contentField?: string;
}

/**
 * Sends what docs/interface.md shows, and nothing else. Where that page is silent, the dialect assumes the following
 * (unverified); replace it by a `GatewayDialect` of your own if it is wrong:
 *
 * - All three operations have the same five headers, and `x-Timestamp` is in UTC.
 * - The body of Init3d is that of DoPayment; the body of Auth3d is the callback's fields as received.
 * - The answer of Auth3d has the fields of DoPayment's. In both, amount and currency may be next to the code or in
 *   `paymentInfo`.
 * - No particular field is required in a callback. If it has a `conversationId`, it must be the payment's own;
 *   `InstrumentDetail` may be an object.
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
    // The body of Auth3d is what the bank sent, so there is nothing of ours to sign.
    sign: async (body, context) => (context.operation === 'auth3d' ? null : await signer(signedFields(body), context)),
    newConversationId,
  };
}
