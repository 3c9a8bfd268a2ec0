import { hash } from 'node:crypto';
import { recoded, sha256 } from '../../payment/own-bytes.js';
import type {
  GatewayDialect,
  GatewayOperation,
  GatewayResult,
  InquiryResult,
  SaleRequest,
  SignContext,
  ResultCodeSets,
} from '../gateway-dialect.js';
import type { ReplyFields } from '../readings/reply-fields.js';
import { isWireObject, WireDecimal, type WireObject, type WireValue } from '../wire-body.js';
import { readContractPage, readScatteredResult, saleBody } from './contract-fields.js';
import { newConversationId } from '../../payment/randomness.js';
import { DEFAULT_CODE_SETS } from './default-code-sets.js';

export interface MorposDialectOptions {
  /**
   * The order of values under `sign`, dotted paths into the body; the API key always comes last. DoPayment's and
   * Init3d's are unverified: taken from the vendor's hosted page.
   */
  readonly signOrder?: Partial<Record<GatewayOperation, readonly string[]>>;
  /** Hours that `x-Timestamp` is ahead of UTC. Default 0, as in the official plugins; one sample of the docs has 3. */
  readonly timestampOffsetHours?: number;
  /**
   * The field of the Init3d answer that carries the page; by default the one text that is Base64 of HTML (unverified).
   */
  readonly contentField?: string;
  /** Overrides of what the result codes mean, and of the texts that say approved. */
  readonly codes?: Partial<ResultCodeSets>;
  /**
   * What `transactionStatus` is, in any case, in an inquiry about a sale that succeeded. Unverified: `SUCCESS` is all that
   * was seen.
   */
  readonly successStatuses?: readonly string[];
  /** The order of values under the sign of an answer. Unverified: from commented-out code of an official plugin. */
  readonly answerSignOrder?: readonly string[];
}

const SALE_SIGN_ORDER = [
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
const SIGN_ORDER: Partial<Record<GatewayOperation, readonly string[]>> = {
  doPayment: SALE_SIGN_ORDER,
  init3d: SALE_SIGN_ORDER,
  checkPayment: ['conversationId', 'merchantId'],
  checkBin: ['conversationId', 'merchantId', 'language', 'bin'],
};
const ANSWER_SIGN_ORDER = [
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
const SUCCESS_STATUSES = ['SUCCESS', 'SUCCESSFUL', 'SUCCEEDED', 'APPROVED', 'COMPLETED', 'PAID'];
const CALLBACK_ID_FIELD = 'conversationId';
const CALLBACK_OBJECT_FIELDS = ['InstrumentDetail'];

/**
 * Mor Para's MorPOS, from its public documentation and official plugins. Unverified parts: the sign order of DoPayment
 * and Init3d, the sign of answers, the name of the page's field in Init3d, the shape of the Auth3d answer.
 */
export function morposDialect(options: MorposDialectOptions = {}): GatewayDialect {
  const { timestampOffsetHours = 0, contentField, codes, answerSignOrder = ANSWER_SIGN_ORDER } = options;
  const successStatuses = new Set((options.successStatuses ?? SUCCESS_STATUSES).map((status) => status.toUpperCase()));
  const signOrder = { ...SIGN_ORDER, ...options.signOrder };

  const sign = (order: readonly string[], read: (path: string) => string, apiKey: string | null): string =>
    hash('sha256', [...order.map(read), apiKey ?? ''].join(';'), 'base64').toUpperCase();

  return {
    name: 'morpos',
    requiresApiKey: true,
    // Under `pf_write` alone an inquiry may be refused.
    defaultScope: 'pf_write pf_read',
    operations: {
      doPayment: { path: '/v1/Payment/DoPayment', body: flaggedSaleBody, read: readScatteredResult },
      init3d: {
        path: '/v1/Payment/Init3d',
        body: flaggedSaleBody,
        read: (fields) => readContractPage(fields, contentField),
      },
      auth3d: {
        path: '/v1/Payment/Auth3d',
        body: ({ gathered }) => gathered,
        read: readScatteredResult,
      },
      checkPayment: {
        path: '/v1/Payment/CheckPayment',
        body: (payment, merchantId) => ({ merchantId, conversationId: payment.conversationId }),
        read: (fields) => readInquiry(fields, successStatuses),
      },
      checkBin: {
        path: '/v1/BinList/CheckBin',
        body: ({ bin, language, conversationId }, merchantId) => ({ bin, language, conversationId, merchantId }),
        read: readBinAnswer,
      },
    },
    codes: { ...DEFAULT_CODE_SETS, ...codes },
    // Banks and the vendor's hosted page send different fields, and may leave any other out.
    requiredCallbackFields: [CALLBACK_ID_FIELD],
    callbackIdField: CALLBACK_ID_FIELD,
    callbackObjectFields: CALLBACK_OBJECT_FIELDS,
    headers: ({ credentials, now }) => {
      const timestamp = compactTimestamp(now, timestampOffsetHours);
      return {
        'x-ClientID': credentials.clientId,
        'x-ClientSecret': hashedSecret(credentials.clientSecret, timestamp),
        'x-GrantType': credentials.grantType,
        'x-Scope': credentials.scope,
        'x-Timestamp': timestamp,
      };
    },
    sign: (body, { operation, apiKey }: SignContext) => {
      const order = signOrder[operation];
      return Promise.resolve(order ? sign(order, (path) => signText(body, path), apiKey) : null);
    },
    verifySign: (fields, { apiKey }) =>
      fields.text('sign') === sign(answerSignOrder, (path) => answerText(fields, path), apiKey),
    newConversationId,
  };
}

/** The flag is under the sign, so it is always sent. */
function flaggedSaleBody(sale: SaleRequest, merchantId: string): WireObject {
  return saleBody({ ...sale, vftFlag: sale.vftFlag ?? false }, merchantId);
}

function readInquiry(fields: ReplyFields, successStatuses: ReadonlySet<string>): InquiryResult {
  const { unreadable = [], ...result } = readScatteredResult(fields);
  const code = fields.text('responseCode');
  // Any other code in the answer must say the same.
  const others = [result.code, result.resultCode].filter((other) => other !== null);
  const unread = unreadable.map((name) => (name === 'code' ? 'resultCode' : name));
  return {
    ...result,
    code,
    resultCode: others.find((other) => other !== code) ?? others[0] ?? null,
    message: fields.text('responseDescription') ?? result.message,
    transactionType: fields.text('transactionType'),
    isSuccessful: fields.has('transactionStatus')
      ? successStatuses.has(fields.text('transactionStatus')?.toUpperCase() ?? '')
      : null,
    unreadable: fields.isNoText('transactionType') ? [...unread, 'transactionType'] : unread,
  };
}

/** An error has another shape than the answer: its code is `Code`, its text `Message`. */
function readBinAnswer(fields: ReplyFields): GatewayResult {
  const result = readScatteredResult(fields);
  const message = fields.text('responseDescription') ?? result.message;
  return { ...result, code: fields.text('responseCode') ?? result.code, message };
}

/** `yyyyMMddHHmmss`. */
function compactTimestamp(now: Date, offsetHours: number): string {
  return new Date(now.getTime() + offsetHours * 3_600_000).toISOString().replace(/\D/g, '').slice(0, 14);
}

/** Base64( lowercase hex( SHA-256( base64-decode(secret) + timestamp ) ) ). Neither is left in a Buffer. */
function hashedSecret(secret: string, timestamp: string): string {
  return recoded(sha256(secret, 'base64', timestamp), 'latin1', 'base64');
}

/** A value as it is signed: booleans are `True` and `False`, and what is absent leaves its place empty. */
function signText(body: WireObject, path: string): string {
  let value: WireValue | undefined = body;
  for (const name of path.split('.')) {
    value = isWireObject(value) ? value[name] : undefined;
  }
  if (value instanceof WireDecimal) return value.text;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function answerText(fields: ReplyFields, path: string): string {
  const [name = '', member] = path.split('.');
  return (member === undefined ? fields.text(name) : fields.object(name)?.text(member)) ?? '';
}
