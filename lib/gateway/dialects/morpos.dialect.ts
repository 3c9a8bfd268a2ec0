import { createHash } from 'node:crypto';
import type {
  BinRequest,
  BinResult,
  GatewayDialect,
  GatewayOperation,
  GatewayResult,
  HostedRequest,
  HostedResult,
  InquiryResult,
  InstallmentRow,
  RefundRequest,
  SaleRequest,
  SignContext,
  ResultCodeSets,
} from '../gateway-dialect.js';
import type { ReplyFields } from '../readings/reply-fields.js';
import { CARD_TYPES } from '../../payment/card-bin.js';
import { WireDecimal, type WireObject } from '../wire-body.js';
import { readPage, readResult, saleBody } from './standard.dialect.js';
import { newConversationId } from '../../runtime/randomness.js';
import { DEFAULT_CODE_SETS } from '../result-codes.js';

/** More rows than any card has. A long list must not hold up the process. */
const MAX_INSTALLMENT_ROWS = 100;

/** Options of {@link morposDialect}. */
export interface MorposDialectOptions {
  /**
   * Which values of the body are signed, as dotted paths in their order; the API key always comes last. Unverified for
   * DoPayment and Init3d, where it is taken from the vendor's hosted page, and for refund and void, where it is ours.
   */
  readonly signOrder?: Partial<Record<GatewayOperation, readonly string[]>>;
  /** Hours that `x-Timestamp` is ahead of UTC. Default 0, as in the official plugins; one sample in the docs has 3. */
  readonly timestampOffsetHours?: number;
  /** The field with the page in an answer to Init3d. Default (unverified): the only text that is Base64 of HTML. */
  readonly contentField?: string;
  /** Replaces some of the sets in `DEFAULT_CODE_SETS`: what the result codes mean, and the texts that say approved. */
  readonly codes?: Partial<ResultCodeSets>;
  /**
   * Values of `transactionStatus` (their case is ignored) by which an inquiry says that the sale succeeded. Unverified:
   * only `SUCCESS` has been seen.
   */
  readonly successStatuses?: readonly string[];
  /** Which values of an answer are signed, in order. Unverified: from commented-out code of an official plugin. */
  readonly answerSignOrder?: readonly string[];
}

const SALE_SIGN_ORDER = names(`
  conversationId merchantId returnUrl failUrl paymentMethod language paymentInstrumentType
  transactionDetails.transactionType transactionDetails.vftFlag transactionDetails.installmentCount
  transactionDetails.amount transactionDetails.currencyCode extraParameter.pfSubMerchantId`);
const HOSTED_SIGN_ORDER = [...SALE_SIGN_ORDER.slice(0, -1), 'extraParameter.pFSubMerchantId'];
const REFUND_SIGN_ORDER = names(`
  conversationId merchantId language orderId paymentId
  transactionDetails.transactionType transactionDetails.currencyCode transactionDetails.amount`);
/** Which values are signed, by operation; null for an operation without a sign. */
const SIGN_ORDER: Readonly<Record<GatewayOperation, readonly string[] | null>> = {
  doPayment: SALE_SIGN_ORDER,
  init3d: SALE_SIGN_ORDER,
  // The body of Auth3d is what the bank sent, so there is nothing of ours to sign.
  auth3d: null,
  checkPayment: ['conversationId', 'merchantId'],
  checkBin: ['conversationId', 'merchantId', 'language', 'bin'],
  refund: REFUND_SIGN_ORDER,
  // The currency of a void is under another name.
  void: REFUND_SIGN_ORDER.map((path) => path.replace('currencyCode', 'currency')),
  // Seen in the vendor's WooCommerce plugin.
  hostedPage: HOSTED_SIGN_ORDER,
  embeddedForm: HOSTED_SIGN_ORDER,
};
const ANSWER_SIGN_ORDER = names(`
  conversationId orderId paymentId bankUniqueReferenceNumber transactionDate currency authCode paymentInstrumentType
  instrumentDetail.maskedCardNumber instrumentDetail.cardType paymentInfo.installmentCount paymentInfo.amount
  paymentInfo.payFacCommissionAmount paymentInfo.payFacCommissionRate`);
const SUCCESS_STATUSES = names('SUCCESS SUCCESSFUL SUCCEEDED APPROVED COMPLETED PAID');
/** Statuses that say that a page has not been paid so far: all of them are guesses. */
const UNPAID_STATUSES = names(`
  PENDING WAITING NEW CREATED INITIATED FAILED FAIL DECLINED REJECTED CANCELLED CANCELED EXPIRED NOT_FOUND`);

/**
 * Mor Para's MorPOS, as its public documentation and official plugins show it. Unverified: which values are signed in
 * DoPayment, in Init3d, in refunds and voids and in answers, the field with the page in Init3d's answer, the fields of
 * Auth3d's answer, that a refund may be of a part of the payment, what an answer about a BIN tells and the amount in
 * its request, and every answer about the gateway's own page.
 */
export function morposDialect(options: MorposDialectOptions = {}): GatewayDialect {
  const { timestampOffsetHours = 0, contentField, codes, answerSignOrder = ANSWER_SIGN_ORDER } = options;
  const successStatuses = (options.successStatuses ?? SUCCESS_STATUSES).map((status) => status.toUpperCase());
  const signOrder = { ...SIGN_ORDER, ...options.signOrder };
  const sign = (order: readonly string[], read: (path: string) => string, apiKey: string | null): string =>
    createHash('sha256')
      .update([...order.map(read), apiKey ?? ''].join(';'))
      .digest('base64')
      .toUpperCase();

  return {
    name: 'morpos',
    requiresApiKey: true,
    // With `pf_write` only, the gateway may refuse an inquiry.
    defaultScope: 'pf_write pf_read',
    operations: {
      doPayment: { path: '/v1/Payment/DoPayment', body: flaggedSaleBody, read: readResult },
      init3d: { path: '/v1/Payment/Init3d', body: flaggedSaleBody, read: (fields) => readPage(fields, contentField) },
      auth3d: { path: '/v1/Payment/Auth3d', body: ({ gathered }) => gathered, read: readResult },
      checkPayment: {
        path: '/v1/Payment/CheckPayment',
        body: (payment, merchantId) => ({ merchantId, conversationId: payment.conversationId }),
        read: (fields) => readInquiry(fields, successStatuses),
      },
      checkBin: { path: '/v1/BinList/CheckBin', body: binBody, read: readBinAnswer },
      refund: { path: '/v1/Payment/DoPayment', body: refundBody, read: readResult },
      void: { path: '/v1/Payment/DoPayment', body: voidBody, read: readResult },
      hostedPage: {
        path: '/v1/HostedPayment/HostedPaymentRedirect',
        body: (sale, merchantId) => hostedBody(sale, merchantId, 'HOSTEDPAYMENT'),
        read: readHosted,
      },
      embeddedForm: {
        path: '/v1/EmbeddedPayment/CreatePaymentForm',
        body: (sale, merchantId) => hostedBody(sale, merchantId, 'EMBEDDEDPAYMENT'),
        read: readHosted,
      },
    },
    codes: { ...DEFAULT_CODE_SETS, ...codes },
    // Banks and the vendor's hosted page send different fields, and may leave out any other.
    requiredCallbackFields: ['conversationId'],
    callbackIdField: 'conversationId',
    callbackObjectFields: ['InstrumentDetail'],
    headers: ({ credentials, operation, now }) => {
      const timestamp = compactTimestamp(now, timestampOffsetHours);
      const isHosted = operation === 'hostedPage' || operation === 'embeddedForm';
      return {
        'x-ClientID': credentials.clientId,
        'x-ClientSecret': hashedSecret(credentials.clientSecret, timestamp),
        'x-GrantType': credentials.grantType,
        // The gateway's own page has a scope of its own, whatever the option says.
        'x-Scope': isHosted ? 'payment' : credentials.scope,
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

/** The flag is one of the signed values, so it is always sent. */
function flaggedSaleBody(sale: SaleRequest, merchantId: string): WireObject {
  return saleBody({ ...sale, vftFlag: sale.vftFlag ?? false }, merchantId);
}

/**
 * As the vendor's WooCommerce plugin sends it: amount and currency as text, 0 instalments for one, and the flag and the
 * sub-merchant even where there is none.
 */
function hostedBody(sale: HostedRequest, merchantId: string, paymentMethod: string): WireObject {
  const { conversationId, returnUrl, failUrl, language, paymentInstrumentType, installmentCount } = sale;
  const named = { merchantId, returnUrl, failUrl, paymentMethod, language, conversationId, paymentInstrumentType };
  return {
    ...named,
    transactionDetails: {
      transactionType: sale.transactionType,
      installmentCount: installmentCount === 1 ? 0 : installmentCount,
      amount: sale.amount,
      currencyCode: currencyText(sale),
      vftFlag: sale.vftFlag ?? false,
    },
    extraParameter: { pFSubMerchantId: sale.pfSubMerchantId ?? '' },
  };
}

/** The page's address is under `returnUrl`, which an answer about a form repeats. */
function readHosted(fields: ReplyFields): HostedResult {
  return {
    ...readResult(fields),
    redirectUrl: fields.text('returnUrl'),
    form: fields.text('paymentFormContent'),
    endsAt: fields.text('paymentFormExpireTime'),
  };
}

/** The vendor's documentation shows the currency as text under `currencyCode`, and the amount as a number. */
function refundBody(refund: RefundRequest, merchantId: string): WireObject {
  const { language, conversationId, orderId, paymentId, amount } = refund;
  const currencyCode = currencyText(refund);
  const transactionDetails = { transactionType: 'REFUND', currencyCode, amount: new WireDecimal(amount) };
  return { merchantId, language, conversationId, orderId, paymentId, transactionDetails };
}

/** A void names no order and no amount, and its currency is under `currency`. */
function voidBody(refund: RefundRequest, merchantId: string): WireObject {
  const { language, conversationId, paymentId } = refund;
  const transactionDetails = { transactionType: 'VOID', currency: currencyText(refund) };
  return { merchantId, paymentId, conversationId, language, transactionDetails };
}

/** ISO 4217 codes have three digits: `048`. */
function currencyText({ currencyCode }: Pick<RefundRequest, 'currencyCode'>): string {
  return String(currencyCode).padStart(3, '0');
}

function readInquiry(fields: ReplyFields, successStatuses: readonly string[]): InquiryResult {
  const result = readResponse(fields, fields.text('responseCode'));
  const status = fields.text('transactionStatus')?.trim().toUpperCase() ?? '';
  const isSuccess = successStatuses.includes(status);
  const isUnpaid = UNPAID_STATUSES.includes(status);
  // An inquiry has a code of its own. Any other code in the answer must be the same.
  const unreadable = (result.unreadable ?? []).map((name) => (name === 'code' ? 'resultCode' : name));
  if (fields.isNotText('transactionType')) unreadable.push('transactionType');
  // It may say that the sale was paid, whatever the code: CAPTURED.
  if (fields.has('transactionStatus') && !isSuccess && !isUnpaid) unreadable.push('transactionStatus');
  return {
    ...result,
    transactionType: fields.text('transactionType'),
    installmentCount: (fields.object('paymentInfo') ?? fields).text('installmentCount'),
    isSuccessful: fields.has('transactionStatus') ? isSuccess : null,
    isUnpaid,
    unreadable,
  };
}

/** Reads an answer whose code and text have names of their own; the other code differs from that one, or repeats it. */
function readResponse(fields: ReplyFields, code: string | null): GatewayResult {
  const result = readResult(fields);
  const others = [result.code, result.resultCode].filter((other) => other !== null);
  const resultCode = others.find((other) => other !== code) ?? others[0] ?? null;
  const hasText = fields.has('responseDescription');
  return { ...result, code, resultCode, message: hasText ? fields.text('responseDescription') : result.message };
}

/**
 * As the vendor's plugins send it. An amount is added only if the caller gives one, and is not signed: both are
 * unverified, since the plugins send none.
 */
function binBody({ bin, language, conversationId, amount, currencyCode }: BinRequest, merchantId: string): WireObject {
  const body = { bin, language, conversationId, merchantId };
  if (amount === null || currencyCode === null) return body;
  return { ...body, amount, currencyCode: currencyText({ currencyCode }) };
}

/**
 * One name a field, all unverified: those of the instalments and `cardBrand` are of a like answer of the vendor's
 * panel. The fields of an error differ from those of an answer: `Code` and `Message`.
 */
function readBinAnswer(fields: ReplyFields): BinResult {
  const cardType = fields.text('cardType')?.toLowerCase();
  return {
    ...readResponse(fields, fields.text('responseCode') ?? fields.text('code')),
    bin: fields.text('bin'),
    bank: fields.text('bankName'),
    type: CARD_TYPES.find((type) => type === cardType) ?? null,
    brand: fields.text('cardBrand'),
    commercial: fields.flag('isCommercial'),
    installments: fields.list('installmentList', MAX_INSTALLMENT_ROWS)?.map(installmentRow) ?? null,
  };
}

function installmentRow(row: ReplyFields | null): InstallmentRow {
  return { count: row?.text('installmentCount') ?? null, total: row?.text('installmentTotalAmount') ?? null };
}

function names(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** `yyyyMMddHHmmss`. */
function compactTimestamp(now: Date, offsetHours: number): string {
  return new Date(now.getTime() + offsetHours * 3_600_000).toISOString().replace(/\D/g, '').slice(0, 14);
}

/** Base64( lowercase hex( SHA-256( base64-decode(secret) + timestamp ) ) ). */
function hashedSecret(secret: string, timestamp: string): string {
  const digest = createHash('sha256').update(secret, 'base64').update(timestamp).digest('hex');
  return Buffer.from(digest).toString('base64');
}

/** A value as it is signed: a boolean is `True` or `False`, an absent value an empty text. */
function signText(body: WireObject, path: string): string {
  const value = path
    .split('.')
    .reduce<unknown>((object, name) => (object as WireObject | null | undefined)?.[name], body);
  if (value instanceof WireDecimal) return value.text;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function answerText(fields: ReplyFields, path: string): string {
  const [name = '', member] = path.split('.');
  return (member === undefined ? fields.text(name) : fields.object(name)?.text(member)) ?? '';
}
