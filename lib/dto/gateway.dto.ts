import type { CallbackFields } from '../gateway/gateway-dialect.js';
import { type CardDetails, CardDetailsDto } from './card.dto.js';
import {
  Field,
  IsAmount,
  IsAnObject,
  IsANumber,
  IsBase64Text,
  IsCurrencyCode,
  IsCurrencyText,
  IsDateTimeText,
  IsInstallmentCount,
  IsNested,
  IsObjectOrText,
  IsReceivedText,
  IsText,
  IsTrueOrFalse,
  IsWebUrl,
  OptionalField,
  ReceivedField,
} from './rules.js';
import { CardHolderInfoDto, ExtraParameterDto } from './sale.dto.js';

/**
 * The input of `PaymentService.auth3d`: the payment's id, and the fields that the bank sent to its return or fail URL.
 */
export class Auth3dDto {
  @Field(IsText())
  conversationId!: string;

  /** The parsed form, JSON or query as received. Auth3d sends it to the gateway. */
  @Field(IsAnObject())
  fields!: CallbackFields;
}

/**
 * The fields that the bank sends to the return or fail URL. The interface (docs/interface.md) does not show them; these
 * are the ones that the service's public documentation names, so all of them are optional and unverified, and their
 * case may differ. To read a callback in a controller of your own, use `@PaymentCallback()`, which accepts all fields;
 * a pipe with `whitelist` would drop or refuse the others.
 */
export class PaymentCallbackDto {
  @ReceivedField()
  Code?: string;

  @ReceivedField()
  Message?: string;

  @ReceivedField()
  EftCode?: string;

  /** Opaque; never test it for a value. */
  @ReceivedField()
  MdStatus?: string;

  @ReceivedField()
  MdStatusMessage?: string;

  @ReceivedField()
  conversationId?: string;

  @ReceivedField()
  OrderId?: string;

  @ReceivedField()
  PaymentId?: string;

  @ReceivedField()
  TransactionDate?: string;

  @ReceivedField()
  Currency?: string;

  @ReceivedField()
  PaymentInstrumentType?: string;

  @ReceivedField()
  MerchantId?: string;

  /** An object, or its JSON text; how a form carries it is unverified. */
  @ReceivedField(IsObjectOrText())
  InstrumentDetail?: string | Readonly<Record<string, unknown>>;
}

/**
 * The body of Auth3d as it is sent: the callback's fields as received. The interface (docs/interface.md) says no more
 * than that.
 */
export class Auth3dRequestDto extends PaymentCallbackDto {}

/** `transactionDetails` as it is sent, with every default filled in (docs/interface.md). */
export class TransactionDetailsRequestDto {
  @Field(IsText())
  transactionType!: string;

  @Field(IsInstallmentCount())
  installmentCount!: number;

  /** Major units, a JSON number. */
  @Field(IsAmount(), IsANumber())
  amount!: number;

  /** The number of a currency in use, by ISO 4217. */
  @Field(IsCurrencyCode())
  currencyCode!: number;

  @OptionalField(IsTrueOrFalse())
  vftFlag?: boolean;
}

/**
 * The body of DoPayment as it is sent, with every field of docs/interface.md. The module writes it; your code does not
 * need it.
 */
export class DoPaymentRequestDto {
  @Field(IsText())
  merchantId!: string;

  @Field(IsWebUrl())
  returnUrl!: string;

  @Field(IsWebUrl())
  failUrl!: string;

  @Field(IsText())
  paymentMethod!: string;

  @Field(IsText())
  language!: string;

  @Field(IsText())
  conversationId!: string;

  @Field(IsText())
  sign!: string;

  @Field(IsText())
  paymentInstrumentType!: string;

  @Field(IsNested(() => CardDetailsDto))
  cardDetails!: CardDetails;

  @Field(IsNested(() => TransactionDetailsRequestDto))
  transactionDetails!: TransactionDetailsRequestDto;

  @Field(IsNested(() => CardHolderInfoDto))
  cardHolderInfo!: CardHolderInfoDto;

  @OptionalField(IsNested(() => ExtraParameterDto))
  extraParameter?: ExtraParameterDto;
}

/**
 * The body of Init3d as it is sent. The interface (docs/interface.md) does not show its fields; they are taken to be
 * DoPayment's.
 */
export class Init3dRequestDto extends DoPaymentRequestDto {}

/** `instrumentDetail` of an answer (docs/interface.md). */
export class InstrumentDetailDto {
  /** With its middle digits masked. */
  @ReceivedField()
  maskedCardNumber?: string | null;

  /** `CARD` in the approved result. */
  @ReceivedField()
  cardType?: string | null;
}

/** `paymentInfo` of an answer (docs/interface.md). Amounts in major units. */
export class PaymentInfoDto {
  @ReceivedField(IsANumber({ maxDecimalPlaces: 0 }))
  installmentCount?: number | null;

  /** Commission rate of the payment facilitator. */
  @ReceivedField(IsANumber())
  payFacCommissionRate?: number | null;

  @ReceivedField(IsANumber())
  amount?: number | null;

  /** Shown with four decimals in the interface. */
  @ReceivedField(IsANumber())
  payFacCommissionAmount?: number | null;
}

/**
 * An answer to DoPayment (docs/interface.md), for hosts that also talk to the gateway themselves, and for fakes in
 * tests. Every answer has the two codes and the two texts; the interface shows the other fields in an approval only.
 */
export class DoPaymentResponseDto {
  /** `B0000` is an approval. */
  @Field(IsReceivedText())
  code!: string;

  @Field(IsReceivedText())
  message!: string;

  /** Repeats `code` in the approved result. */
  @Field(IsReceivedText())
  resultCode!: string;

  /** Repeats `message` in the approved result. */
  @Field(IsReceivedText())
  resultDescription!: string;

  /**
   * Two digits, two digits, four digits, HH:mm:ss. The interface does not show whether the day or the month is first.
   */
  @ReceivedField(IsDateTimeText())
  responseDate?: string | null;

  @ReceivedField()
  conversationId?: string | null;

  @ReceivedField()
  orderId?: string | null;

  @ReceivedField()
  paymentId?: string | null;

  @ReceivedField()
  bankUniqueReferenceNumber?: string | null;

  /** In the form of `responseDate`. */
  @ReceivedField(IsDateTimeText())
  transactionDate?: string | null;

  /** ISO 4217 numeric, as text. */
  @ReceivedField(IsCurrencyText())
  currency?: string | null;

  @ReceivedField()
  authCode?: string | null;

  /** `CARDPAYMENT` in the approved result. */
  @ReceivedField()
  paymentInstrumentType?: string | null;

  @ReceivedField()
  sign?: string | null;

  @ReceivedField(IsNested(() => InstrumentDetailDto))
  instrumentDetail?: InstrumentDetailDto | null;

  @ReceivedField(IsNested(() => PaymentInfoDto))
  paymentInfo?: PaymentInfoDto | null;

  /** null in the approved result. */
  @ReceivedField(IsWebUrl())
  okUrl?: string | null;

  /** null in the approved result. */
  @ReceivedField(IsWebUrl())
  failUrl?: string | null;
}

/**
 * An answer to Auth3d. The interface (docs/interface.md) does not show its fields; they are taken to be DoPayment's
 * (unverified).
 */
export class Auth3dResponseDto extends DoPaymentResponseDto {}

/**
 * An answer to Init3d. The interface (docs/interface.md) says only that it returns the 3D page in Base64; all of these
 * names are unverified, and `htmlForm` is what a related answer of the same service is known to call it.
 */
export class Init3dResponseDto {
  @ReceivedField()
  code?: string | null;

  @ReceivedField()
  message?: string | null;

  @ReceivedField()
  resultCode?: string | null;

  @ReceivedField()
  resultDescription?: string | null;

  @ReceivedField()
  conversationId?: string | null;

  /** The page for the buyer's browser, in Base64. */
  @ReceivedField(IsBase64Text())
  htmlForm?: string | null;
}
