import type { Payment } from '../payment/payment.js';
import type { ReplyFields } from './readings/reply-fields.js';
import type { SignedFields, WireObject } from './wire-body.js';

/** The name of what is asked of a gateway. */
export type GatewayOperation = keyof DialectOperations;

/** Who the merchant is to the gateway. Secrets: never log it. */
export interface GatewayCredentials {
  readonly merchantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** null where none is configured. */
  readonly apiKey: string | null;
  readonly grantType: string;
  readonly scope: string;
}

/** A sale with every default filled in: what DoPayment and Init3d carry (docs/interface.md). Holds the card. */
export interface SaleRequest {
  readonly conversationId: string;
  readonly returnUrl: string;
  readonly failUrl: string;
  readonly paymentMethod: string;
  readonly language: string;
  readonly paymentInstrumentType: string;
  readonly cardDetails: { readonly cardNo: string; readonly expDate: string; readonly cvv: string };
  readonly transactionType: string;
  readonly installmentCount: number;
  /** Major units, canonical decimal text: the body and the sign both carry exactly this. */
  readonly amount: string;
  /** ISO 4217 numeric. */
  readonly currencyCode: number;
  readonly vftFlag?: boolean;
  readonly cardHolderInfo: { readonly cardHolderName: string; readonly buyerGsm: string };
  readonly pfSubMerchantId?: string;
}

type CallbackScalar = string | number | boolean | null;

/** What the bank sent to the return or fail URL: single values, and objects of them where the dialect names any. */
export interface CallbackFields {
  readonly [field: string]: CallbackScalar | { readonly [field: string]: CallbackScalar };
}

/** What a dialect signs with. */
export interface SignContext {
  readonly operation: GatewayOperation;
  readonly apiKey: string | null;
}

/** What Auth3d is asked with: the payment, and what the bank sent for it. */
export interface Auth3dRequest {
  readonly payment: Payment;
  /** As received. */
  readonly fields: CallbackFields;
  /** The same fields, with each of the dialect's `callbackObjectFields` as one object, however the form wrote it. */
  readonly gathered: CallbackFields;
}

/**
 * Makes the `sign` of a request. `fields` is the body without `sign`, nested as in docs/interface.md, with the
 * amount as its canonical text. How the service computes it is not shown in the interface.
 */
export type Signer = (fields: SignedFields, context: SignContext) => string | Promise<string>;

/** The fields of an answer that decide its outcome. */
export type DecidingField = 'code' | 'resultCode' | 'conversationId' | 'amount' | 'currency' | 'transactionType';

/** What an answer to DoPayment or Auth3d says, its texts as received. */
export interface GatewayResult {
  readonly code: string | null;
  /** The second code (`resultCode`), which must not disagree. */
  readonly resultCode: string | null;
  readonly message: string | null;
  readonly conversationId: string | null;
  /** Decimal text as it stood in the JSON. */
  readonly amount: string | null;
  readonly currency: string | null;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  readonly bankUniqueReferenceNumber: string | null;
  readonly authCode: string | null;
  readonly transactionDate: string | null;
  /** Not stored: a payment's mask is made of its request. */
  readonly maskedCardNumber: string | null;
  readonly commissionRate: string | null;
  readonly commissionAmount: string | null;
  /**
   * Fields that the answer has, but not as one text: a list, a boolean, two different values. No approval with such a
   * field is believed. May be left out where there are none.
   */
  readonly unreadable?: readonly DecidingField[];
}

/** What an answer to Init3d says. */
export interface Init3dResult extends GatewayResult {
  /** The Base64 page as received, or null when there is not exactly one. */
  readonly content: string | null;
  /** Its text, where reading the answer has decoded it; otherwise it is decoded then. */
  readonly html?: string;
}

/** What an answer to CheckPayment says. */
export interface InquiryResult extends GatewayResult {
  /** `SALE`, `VOID`, …; null where the answer does not say. */
  readonly transactionType: string | null;
  /**
   * Whether the answer says, beside its code, that the transaction succeeded. Where the two differ, the answer says
   * nothing. Null or left out where it does not say.
   */
  readonly isSuccessful?: boolean | null;
}

/** A question about the first digits of a card number (BIN), which names no card and moves nothing. */
export interface BinRequest {
  readonly conversationId: string;
  readonly language: string;
  /** Six to eight digits. */
  readonly bin: string;
}

/** One thing that a gateway does: where it is asked, with what, and how its answer is read. */
export interface DialectOperation<Request, Result> {
  /** Below the base URL. */
  readonly path: string;
  /** The body without its `sign`. */
  body(request: Request, merchantId: string): WireObject;
  read(fields: ReplyFields): Result;
}

/** Everything that the module can ask of a gateway. */
export interface DialectOperations {
  readonly doPayment: DialectOperation<SaleRequest, GatewayResult>;
  readonly init3d: DialectOperation<SaleRequest, Init3dResult>;
  readonly auth3d: DialectOperation<Auth3dRequest, GatewayResult>;
  /** Asks what became of a payment and changes nothing; absent where the gateway has no such operation. */
  readonly checkPayment?: DialectOperation<Payment, InquiryResult>;
  /** Asks about a BIN: shows whether the gateway takes the credentials. Absent where the gateway has no such operation. */
  readonly checkBin?: DialectOperation<BinRequest, GatewayResult>;
}

/** How a gateway differs from others. Whatever the interface does not show can be replaced here. */
export interface GatewayDialect {
  readonly name: string;
  readonly operations: DialectOperations;
  readonly codes: ResultCodeSets;
  /** Whether `sign` needs the option `apiKey`. Default false. */
  readonly requiresApiKey?: boolean;
  /** What the option `scope` is where it is not given. Default `pf_write`. */
  readonly defaultScope?: string;
  /**
   * Fields that a callback must have, in any case, and not empty; where none is named, it must have at least one field.
   */
  readonly requiredCallbackFields: readonly string[];
  /** The callback's field, in any case, with the conversationId: where it is sent, it must be the payment's own. */
  readonly callbackIdField: string;
  /**
   * Fields of a callback that are objects, however a form writes them: `Field.Member`, `Field[Member]` or one JSON
   * text.
   */
  readonly callbackObjectFields: readonly string[];
  headers(context: { credentials: GatewayCredentials; operation: GatewayOperation; now: Date }): Record<string, string>;
  /** The sign of a body; null where the operation carries none. */
  sign(body: WireObject, context: SignContext): Promise<string | null>;
  /** Whether the sign of an answer is good; absent where the dialect does not know how it is made. */
  verifySign?(fields: ReplyFields, context: { apiKey: string | null }): boolean;
  /** A fresh id for one attempt. */
  newConversationId(): string;
}

/** Which codes mean what. Every set can be overridden in a dialect's options. */
export interface ResultCodeSets {
  /** Money was taken. */
  readonly approvedCodes: ReadonlySet<string>;
  /** Kinds of approval that are not the whole sale: partial, conditional, VIP. */
  readonly approvalVariantCodes: ReadonlySet<string>;
  /** Do not say whether money moved. */
  readonly indeterminateCodes: ReadonlySet<string>;
  /** No money was taken. */
  readonly declinedCodes: ReadonlySet<string>;
  /** How codes begin that count as declined, too: those of the gateway's own validation. */
  readonly declinedPrefixes: readonly string[];
  /** In a CheckPayment: the card was declined. Only codes that speak of the card, never of the inquiry itself. */
  readonly inquiryDeclinedCodes: ReadonlySet<string>;
  /** In a CheckPayment: the gateway does not know the payment. Believed when said twice, ten minutes apart. */
  readonly notFoundCodes: ReadonlySet<string>;
  /**
   * In a CheckPayment: texts that say, beside an approved code, that the sale was approved. Case, dotted and dotless i,
   * and UTF-8 that was read as Latin-1 make no difference.
   */
  readonly approvedTexts: ReadonlySet<string>;
}

/** How strictly an approved amount is compared: see the option `verifyAmount`. */
export type AmountCheck = 'notLess' | 'exact' | 'off';

/** What the client needs to know of the merchant's options. */
export interface GatewaySettings {
  /** For spans and metrics. */
  readonly account?: string;
  readonly baseUrl: string;
  readonly credentials: GatewayCredentials;
  readonly dialect: GatewayDialect;
  readonly verifyAmount: AmountCheck;
  readonly verifySign: boolean;
  /** Whether an approval by Auth3d that does not name the payment is believed. */
  readonly trustUnbound: boolean;
}
