import type { CardType } from '../payment/card-bin.js';
import type { Payment } from '../payment/payment.js';
import type { ReplyFields } from './readings/reply-fields.js';
import type { SignedFields, WireObject } from './wire-body.js';

/** The merchant's credentials at the gateway. They are secret: never log them. */
export interface GatewayCredentials {
  readonly merchantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly apiKey: string | null;
  readonly grantType: string;
  readonly scope: string;
}

/** The content of DoPayment and Init3d, with every default filled in. It holds the card: never log it. */
export interface SaleRequest {
  readonly conversationId: string;
  readonly returnUrl: string;
  readonly failUrl: string;
  readonly paymentMethod: string;
  readonly language: string;
  readonly paymentInstrumentType: string;
  /** `cardNo` is digits only, `expDate` is `MMyy`. */
  readonly cardDetails: { readonly cardNo: string; readonly expDate: string; readonly cvv: string };
  readonly transactionType: string;
  readonly installmentCount: number;
  /** In major units, as canonical decimal text. The body and the sign both carry exactly this text. */
  readonly amount: string;
  /** ISO 4217 numeric code. */
  readonly currencyCode: number;
  readonly vftFlag?: boolean;
  readonly cardHolderInfo: { readonly cardHolderName: string; readonly buyerGsm: string };
  readonly pfSubMerchantId?: string;
}

/**
 * A sale whose card the buyer types at the gateway's own page. `paymentMethod` is the dialect's.
 *
 * @experimental
 */
export type HostedRequest = Omit<SaleRequest, 'cardDetails' | 'cardHolderInfo' | 'paymentMethod'>;

type CallbackScalar = string | number | boolean | null;

/** What the bank sent: single values, and under the names in `callbackObjectFields` also objects of single values. */
export interface CallbackFields {
  readonly [field: string]: CallbackScalar | { readonly [field: string]: CallbackScalar };
}

/** What Auth3d is called with. */
export interface Auth3dRequest {
  readonly payment: Payment;
  /** What the bank sent for it, as received. */
  readonly fields: CallbackFields;
  /** The same, with each of the dialect's `callbackObjectFields` as one object, however the form wrote it. */
  readonly gathered: CallbackFields;
}

/**
 * A question about the first digits of a card number (BIN), which must not be logged. It moves no money.
 *
 * @experimental
 */
export interface BinRequest {
  readonly conversationId: string;
  readonly language: string;
  /** Six to eight digits. */
  readonly bin: string;
  /** What the buyer is to pay, in major units, as canonical decimal text; null if the caller did not say. */
  readonly amount: string | null;
  readonly currencyCode: number | null;
}

/**
 * Money back: a refund of a part or the whole, or a void of the whole sale. Its conversationId is the refundId.
 *
 * @experimental
 */
export interface RefundRequest {
  readonly conversationId: string;
  readonly language: string;
  /** This and `paymentId` are the gateway's ids of the payment. */
  readonly orderId: string;
  readonly paymentId: string;
  /** In major units, as canonical decimal text; of a void, all that was taken. */
  readonly amount: string;
  readonly currencyCode: number;
}

/** What a sign is made with, besides the body. `apiKey` is null if none is configured. */
export interface SignContext {
  readonly operation: GatewayOperation;
  readonly apiKey: string | null;
}

/**
 * Makes the `sign` of a request; docs/interface.md does not show how the service computes it. If it throws, or takes
 * longer than eight seconds, nothing is sent.
 */
export type Signer = (fields: SignedFields, context: SignContext) => string | Promise<string>;

/** The fields of an answer that decide its outcome. */
export type DecidingField =
  'code' | 'resultCode' | 'conversationId' | 'amount' | 'currency' | 'transactionType' | 'transactionStatus';

/** What an answer to DoPayment or Auth3d says. Texts are as received; null stands for what the answer does not show. */
export interface GatewayResult {
  readonly code: string | null;
  /** The second code. An approval is believed only if this is the same as `code`, or absent. */
  readonly resultCode: string | null;
  readonly message: string | null;
  readonly conversationId: string | null;
  /** In major units, the decimal text as it stood in the JSON. */
  readonly amount: string | null;
  /** ISO 4217 numeric code, as text. */
  readonly currency: string | null;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  readonly bankUniqueReferenceNumber: string | null;
  readonly authCode: string | null;
  readonly transactionDate: string | null;
  /** Of the payment facilitator, decimal text; the amount in major units. */
  readonly commissionRate: string | null;
  readonly commissionAmount: string | null;
  /**
   * Fields whose value is not a single text, but a list, a boolean, or two different values; or a status that nobody
   * knows. An approval with one is not believed.
   */
  readonly unreadable?: readonly DecidingField[];
}

/** What an answer to Init3d says. */
export interface Init3dResult extends GatewayResult {
  /** The page in Base64, as received; null unless the answer has exactly one. */
  readonly content: string | null;
  /** The decoded page. Left out, the module decodes `content`. */
  readonly html?: string;
}

/**
 * What an answer to a request for the gateway's own page says.
 *
 * @experimental
 */
export interface HostedResult extends GatewayResult {
  /** Where the page is; null if the answer shows no address. It is not read of an answer about a form. */
  readonly redirectUrl: string | null;
  /** The form to embed, as HTML or as Base64 of HTML; null if the answer shows none. */
  readonly form: string | null;
  /** When the page or form ends, as ISO 8601 with an offset; null if the answer does not say. */
  readonly endsAt: string | null;
}

/** What an answer to CheckPayment says. docs/interface.md does not show the operation (unverified). */
export interface InquiryResult extends GatewayResult {
  /** `SALE`, `VOID`, …; null if the answer does not say. */
  readonly transactionType: string | null;
  /**
   * Whether a status beside the code says that the transaction succeeded; null or left out if there is none. If status
   * and code contradict each other, the answer settles nothing.
   */
  readonly isSuccessful?: boolean | null;
  /** Whether a status beside the code says that nothing has been paid so far. Read of the gateway's own page only. */
  readonly isUnpaid?: boolean;
  /** In how many instalments it was paid, as text. At the gateway's own page, the buyer may choose (unverified). */
  readonly installmentCount?: string | null;
}

/**
 * A row of a list of instalments: the number, and what the buyer pays in all in major units, as written.
 *
 * @experimental
 */
export interface InstallmentRow {
  readonly count: string | null;
  readonly total: string | null;
}

/**
 * What an answer to CheckBin (unverified) says about a card; null, or left out, is what it does not show.
 *
 * @experimental
 */
export interface BinResult extends GatewayResult {
  /** The first digits that the answer is about. */
  readonly bin?: string | null;
  readonly bank?: string | null;
  readonly type?: CardType | null;
  readonly brand?: string | null;
  readonly commercial?: boolean | null;
  readonly installments?: readonly InstallmentRow[] | null;
}

/** One operation of a gateway: its path, the body of its requests, and how its answers are read. */
export interface DialectOperation<Request, Result> {
  /** Follows the base URL: `/v1/Payment/DoPayment`. */
  readonly path: string;
  /** The body without its `sign`. If this throws, nothing is sent. */
  body(request: Request, merchantId: string): WireObject;
  /** If this throws, the answer counts as unreadable. */
  read(fields: ReplyFields): Result;
}

/** The operations of a gateway. An optional one is absent if the gateway does not have it. */
export interface DialectOperations {
  readonly doPayment: DialectOperation<SaleRequest, GatewayResult>;
  readonly init3d: DialectOperation<SaleRequest, Init3dResult>;
  readonly auth3d: DialectOperation<Auth3dRequest, GatewayResult>;
  /** Asks for the outcome of a payment, and changes nothing. */
  readonly checkPayment?: DialectOperation<Payment, InquiryResult>;
  /**
   * Asks what a card is, by its first digits. It also shows whether the gateway accepts the credentials.
   *
   * @experimental
   */
  readonly checkBin?: DialectOperation<BinRequest, BinResult>;
  /**
   * Gives back a part of a payment, or all of it.
   *
   * @experimental
   */
  readonly refund?: DialectOperation<RefundRequest, GatewayResult>;
  /**
   * Calls off a whole sale that is not settled yet.
   *
   * @experimental
   */
  readonly void?: DialectOperation<RefundRequest, GatewayResult>;
  /**
   * Opens the gateway's own page, at which the buyer types the card.
   *
   * @experimental
   */
  readonly hostedPage?: DialectOperation<HostedRequest, HostedResult>;
  /**
   * Makes the gateway's own form, which the shop embeds.
   *
   * @experimental
   */
  readonly embeddedForm?: DialectOperation<HostedRequest, HostedResult>;
}

/** The name of an operation of a gateway. */
export type GatewayOperation = keyof DialectOperations;

/** How one gateway differs from others. Write one to replace what docs/interface.md does not show. */
export interface GatewayDialect {
  readonly name: string;
  readonly operations: DialectOperations;
  readonly codes: ResultCodeSets;
  /** Whether signing needs the option `apiKey`. Default false. */
  readonly requiresApiKey?: boolean;
  /** The `scope` that is sent where the option is not given. Default `pf_write`. */
  readonly defaultScope?: string;
  // The case of the names of a callback's fields is ignored.
  /** Fields that a callback must have, not empty. One without any field is refused. */
  readonly requiredCallbackFields: readonly string[];
  /** The callback's conversationId. A callback that has it must have the payment's own. */
  readonly callbackIdField: string;
  /** Fields that are objects. A form may write them as `Field.Member`, `Field[Member]` or one JSON text. */
  readonly callbackObjectFields: readonly string[];
  /** The headers of a request. If this throws, nothing is sent. */
  headers(context: { credentials: GatewayCredentials; operation: GatewayOperation; now: Date }): Record<string, string>;
  /** The sign of a body; null for an operation without one. If this throws, nothing is sent. */
  sign(body: WireObject, context: SignContext): Promise<string | null>;
  /** Whether the sign of an answer is right. Absent if the dialect does not know how it is made. */
  verifySign?(fields: ReplyFields, context: { apiKey: string | null }): boolean;
  /** A new id for one attempt at a payment. It must never repeat. */
  newConversationId(): string;
}

/** What the gateway's result codes mean for the outcome. A code that is in none of the sets settles nothing. */
export interface ResultCodeSets {
  /** Money was taken. */
  readonly approvedCodes: ReadonlySet<string>;
  /**
   * Money was given back, in an answer to a refund or void. Default: the approved codes.
   *
   * @experimental
   */
  readonly refundApprovedCodes?: ReadonlySet<string>;
  /** Approvals that are partial, conditional or of another special kind: the payment needs a review. */
  readonly approvalVariantCodes: ReadonlySet<string>;
  /** Codes that do not say whether money moved. */
  readonly indeterminateCodes: ReadonlySet<string>;
  /** No money was taken. */
  readonly declinedCodes: ReadonlySet<string>;
  /** Codes that begin with one of these count as declined, too: those of the gateway's own validation. */
  readonly declinedPrefixes: readonly string[];
  /** In an answer to CheckPayment: the card was declined. Only codes about the card, never about the inquiry itself. */
  readonly inquiryDeclinedCodes: ReadonlySet<string>;
  /** In an answer to CheckPayment: the payment is not known. Believed if said twice, at least 10 minutes apart. */
  readonly notFoundCodes: ReadonlySet<string>;
  /** In an answer to CheckPayment: nothing has been paid so far at the gateway's own page. No other code ends one. */
  readonly inquiryUnpaidCodes?: ReadonlySet<string>;
  /**
   * In an answer to CheckPayment: texts that say, with an approved code, that the sale was approved. Case, the dot of
   * an i, and UTF-8 that was read as Latin-1 make no difference.
   */
  readonly approvedTexts: ReadonlySet<string>;
}

/** How strictly the amount of an approval is compared: see the option `verifyAmount`. */
export type AmountCheck = 'notLess' | 'exact' | 'off';

/** The merchant's options, as far as the client needs them. */
export interface GatewaySettings {
  /** For spans and metrics. */
  readonly account: string;
  readonly baseUrl: string;
  readonly credentials: GatewayCredentials;
  readonly dialect: GatewayDialect;
  readonly verifyAmount: AmountCheck;
  readonly verifySign: boolean;
}
