import { createHash } from 'node:crypto';
import { isJsonObject, JsonNumber, type JsonObject, type JsonValue } from './exact-json.js';

/** The order in which morpos signs a sale; unverified for DoPayment and Init3d (taken from its hosted page). */
const SALE_ORDER = [
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
  'extraParameter.pfSubMerchantId',
];

const INQUIRY_ORDER = ['conversationId', 'merchantId'];

/** The order in which morpos signs a reply; unverified (commented-out code of its WooCommerce plugin). */
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

export function morposSaleSign(body: JsonObject, apiKey: string): string {
  return morposSign(body, SALE_ORDER, apiKey);
}

export function morposInquirySign(body: JsonObject, apiKey: string): string {
  return morposSign(body, INQUIRY_ORDER, apiKey);
}

export function morposReplySign(reply: JsonObject, apiKey: string): string {
  return morposSign(reply, REPLY_ORDER, apiKey);
}

/** The `x-ClientSecret` of a morpos request. */
export function morposClientSecret(secret: string, timestamp: string): string {
  const digest = createHash('sha256').update(Buffer.from(secret, 'base64')).update(timestamp).digest('hex');
  return Buffer.from(digest).toString('base64');
}

function morposSign(fields: JsonObject, order: readonly string[], apiKey: string): string {
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
