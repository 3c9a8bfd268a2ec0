import { createHash } from 'node:crypto';
import type { SimulatorOperation } from './ledger.js';
import { isJsonObject, JsonNumber, type JsonObject, type JsonValue } from './wire-values.js';

/** How one gateway differs from others, from the gateway's side. */
export interface SimulatedDialect {
  readonly operations: readonly SimulatorOperation[];
  /** The form of a conversationId. */
  readonly conversationId: RegExp;
  /** The language of an approval's message; null if it is the buyer's. */
  readonly approvalLanguage: string | null;
  /** The time of an `x-Timestamp` in milliseconds; NaN if it has the wrong form. */
  readTimestamp(text: string): number;
  /** The `x-ClientSecret` of a request. */
  clientSecret(secret: string, timestamp: string): string;
  isSignGood(body: JsonObject, context: { readonly operation: SimulatorOperation; readonly apiKey: string }): boolean;
  /** The `sign` of a reply. */
  replySign(reply: JsonObject, apiKey: string): string;
}

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

/**
 * The interface alone (docs/interface.md). It does not show how to sign: any sign that is not empty is good, and
 * replies carry a hash that the simulator defines.
 */
export const STANDARD: SimulatedDialect = {
  operations: ['DoPayment', 'Init3d', 'Auth3d'],
  conversationId: /\S/,
  approvalLanguage: 'en',
  readTimestamp: (text) => (ISO_UTC.test(text) ? Date.parse(text) : NaN),
  clientSecret: (secret) => secret,
  isSignGood: () => true,
  replySign: (reply) => createHash('sha256').update(JSON.stringify(reply)).digest('base64'),
};

const COMMON_ORDER = [
  'conversationId',
  'merchantId',
  'returnUrl',
  'failUrl',
  'paymentMethod',
  'language',
  'paymentInstrumentType',
  'transactionDetails.transactionType',
  'transactionDetails.vftFlag',
  'transactionDetails.installmentCount',
  'transactionDetails.amount',
  'transactionDetails.currencyCode',
];

/** The order in which the vendor's plugins sign a request for the gateway's own page. */
const HOSTED_ORDER = [...COMMON_ORDER, 'extraParameter.pFSubMerchantId'];

/** The order in which a sale is signed. It is taken from {@link HOSTED_ORDER}: unverified for DoPayment and Init3d. */
const SALE_ORDER = [...COMMON_ORDER, 'extraParameter.pfSubMerchantId'];

/** Unverified: the vendor's documentation says only that it begins with these two and ends with the API key. */
const REFUND_ORDER = [
  'conversationId',
  'merchantId',
  'language',
  'orderId',
  'paymentId',
  'transactionDetails.transactionType',
];

/** The orders of operations that are not signed like a sale. A value that is absent leaves its place empty. */
const OTHER_ORDERS: Partial<Record<SimulatorOperation, readonly string[]>> = {
  CheckPayment: ['conversationId', 'merchantId'],
  CheckBin: ['conversationId', 'merchantId', 'language', 'bin'],
  refund: [...REFUND_ORDER, 'transactionDetails.currencyCode', 'transactionDetails.amount'],
  void: [...REFUND_ORDER, 'transactionDetails.currency', 'transactionDetails.amount'],
  hostedPage: HOSTED_ORDER,
  embeddedForm: HOSTED_ORDER,
};

/** The order in which a reply is signed: unverified, from unused code of the vendor's WooCommerce plugin. */
const REPLY_ORDER = [
  'conversationId',
  'orderId',
  'paymentId',
  'bankUniqueReferenceNumber',
  'transactionDate',
  'currency',
  'authCode',
  'paymentInstrumentType',
  'instrumentDetail.maskedCardNumber',
  'instrumentDetail.cardType',
  'paymentInfo.installmentCount',
  'paymentInfo.amount',
  'paymentInfo.payFacCommissionAmount',
  'paymentInfo.payFacCommissionRate',
];

const TIMESTAMP = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;

/** Mor Para's MorPOS, as its public documentation and plugins show it. */
export const MORPOS: SimulatedDialect = {
  operations: [
    'DoPayment',
    'Init3d',
    'Auth3d',
    'CheckPayment',
    'CheckBin',
    'refund',
    'void',
    'hostedPage',
    'embeddedForm',
  ],
  conversationId: /^[A-Za-z0-9]{20}$/,
  approvalLanguage: null,
  readTimestamp: (text) => (TIMESTAMP.test(text) ? Date.parse(text.replace(TIMESTAMP, '$1-$2-$3T$4:$5:$6Z')) : NaN),
  clientSecret: (secret, timestamp) => {
    const digest = createHash('sha256').update(secret, 'base64').update(timestamp).digest('hex');
    const bytes = Buffer.allocUnsafeSlow(digest.length);
    return bytes.toString('base64', 0, bytes.write(digest, 'latin1'));
  },
  isSignGood: (body, { operation, apiKey }) =>
    body.sign === signOver(body, OTHER_ORDERS[operation] ?? SALE_ORDER, apiKey),
  replySign: (reply, apiKey) => signOver(reply, REPLY_ORDER, apiKey),
};

function signOver(fields: JsonObject, order: readonly string[], apiKey: string): string {
  const values = order.map((path) => signedText(path, valueAt(fields, path)));
  return createHash('sha256')
    .update([...values, apiKey].join(';'))
    .digest('base64')
    .toUpperCase();
}

function signedText(path: string, value: JsonValue | undefined): string {
  if (value === true) return 'True';
  if (value === false || (value === undefined && path.endsWith('vftFlag'))) return 'False';
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'string' ? value : '';
}

function valueAt(fields: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = fields;
  for (const name of path.split('.')) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}
