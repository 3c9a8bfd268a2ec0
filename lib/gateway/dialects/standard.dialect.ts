import { compareAmounts } from '../../payment/amount.js';
import { newConversationId } from '../../runtime/randomness.js';
import type {
  DecidingField,
  GatewayDialect,
  GatewayResult,
  Init3dResult,
  ResultCodeSets,
  SaleRequest,
  Signer,
} from '../gateway-dialect.js';
import { findBankPage } from '../readings/pages.js';
import type { ReplyFields } from '../readings/reply-fields.js';
import { DEFAULT_CODE_SETS } from '../result-codes.js';
import { signedFields, WireDecimal, type WireObject } from '../wire-body.js';

/** Options of {@link standardDialect}. */
export interface StandardDialectOptions {
  /** Computes `sign`, which docs/interface.md does not explain. */
  readonly signer: Signer;
  /** Replaces some of the sets in `DEFAULT_CODE_SETS`. docs/interface.md shows the code `B0000` only. */
  readonly codes?: Partial<ResultCodeSets>;
  /** The field with the page in an answer to Init3d. Default (unverified): the only text that is Base64 of HTML. */
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
      doPayment: { path: '/v1/Payment/DoPayment', body: saleBody, read: readResult },
      init3d: { path: '/v1/Payment/Init3d', body: saleBody, read: (fields) => readPage(fields, contentField) },
      auth3d: { path: '/v1/Payment/Auth3d', body: ({ fields }) => fields, read: readResult },
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

/** The body of DoPayment as in docs/interface.md, without `sign`. */
export function saleBody(sale: SaleRequest, merchantId: string): WireObject {
  const { cardNo, expDate, cvv } = sale.cardDetails;
  const { cardHolderName, buyerGsm } = sale.cardHolderInfo;
  return {
    merchantId,
    returnUrl: sale.returnUrl,
    failUrl: sale.failUrl,
    paymentMethod: sale.paymentMethod,
    language: sale.language,
    conversationId: sale.conversationId,
    paymentInstrumentType: sale.paymentInstrumentType,
    cardDetails: { cardNo, expDate, cvv },
    transactionDetails: {
      transactionType: sale.transactionType,
      installmentCount: sale.installmentCount,
      amount: new WireDecimal(sale.amount),
      currencyCode: sale.currencyCode,
      vftFlag: sale.vftFlag,
    },
    cardHolderInfo: { cardHolderName, buyerGsm },
    extraParameter: sale.pfSubMerchantId === undefined ? undefined : { pfSubMerchantId: sale.pfSubMerchantId },
  };
}

/**
 * Reads an answer: its fields where docs/interface.md shows them, but amount and currency beside the code or in
 * `paymentInfo`, and the currency also under its name in requests (unverified: the interface does not show their places
 * in other answers than DoPayment's). Values that differ are unreadable.
 */
export function readResult(fields: ReplyFields): GatewayResult {
  const info = fields.object('paymentInfo');
  const places = info ? [info, fields] : [fields];
  const amounts = valuesIn(places, 'amount');
  const currencies = [...valuesIn(places, 'currency'), ...valuesIn(places, 'currencyCode')];
  const unreadable: DecidingField[] = SINGLE_TEXTS.filter((name) => fields.isNotText(name));
  // If `paymentInfo` is not an object, or there are two of them, the amount in it cannot be read.
  const isAmountHidden = !info && fields.has('paymentInfo');
  if (isAmountHidden || !areSame(amounts, (one, other) => compareAmounts(one, other) === 0)) unreadable.push('amount');
  // Two codes are the same with or without leading zeros: `36` is `036`.
  if (!areSame(currencies, (one, other) => one.padStart(3, '0') === other.padStart(3, '0')))
    unreadable.push('currency');
  return {
    code: fields.text('code'),
    resultCode: fields.text('resultCode'),
    message: fields.text('message') ?? fields.text('resultDescription'),
    conversationId: fields.text('conversationId'),
    amount: unreadable.includes('amount') ? null : (amounts[0] ?? null),
    currency: unreadable.includes('currency') ? null : (currencies[0] ?? null),
    orderId: fields.text('orderId'),
    paymentId: fields.text('paymentId'),
    bankUniqueReferenceNumber: fields.text('bankUniqueReferenceNumber'),
    authCode: fields.text('authCode'),
    transactionDate: fields.text('transactionDate'),
    commissionRate: info?.text('payFacCommissionRate') ?? null,
    commissionAmount: info?.text('payFacCommissionAmount') ?? null,
    ...(unreadable.length > 0 && { unreadable }),
  };
}

const SINGLE_TEXTS = ['code', 'resultCode', 'conversationId'] as const;

/** The values of a field, one for each place that has it; null for a value that cannot be read. */
function valuesIn(places: readonly ReplyFields[], name: string): (string | null)[] {
  return places.filter((place) => place.has(name)).map((place) => place.text(name));
}

/** Whether all values can be read, and are the same as the first. */
function areSame(values: readonly (string | null)[], isSame: (one: string, other: string) => boolean): boolean {
  return values.every((value) => value !== null && isSame(value, values[0]!));
}

/**
 * Reads an answer to Init3d: the fields of DoPayment's answer (unverified), but no amount was charged; and the page.
 */
export function readPage(fields: ReplyFields, contentField: string | undefined): Init3dResult {
  return { ...readResult(fields), amount: null, ...(findBankPage(fields, contentField) ?? { content: null }) };
}
