import { IsBase64, IsNumber, IsOptional } from 'class-validator';
import { IsNested, IsRequired, rule, saying } from './rules/rule.js';
import { IsDateTimeText, IsReceivedText, IsWebUrl } from './rules/value.rules.js';

const NUMBER = saying({ en: '$property must be a number', tr: '$property bir sayı olmalı' });
const WHOLE_NUMBER = saying({ en: '$property must be a whole number', tr: '$property bir tam sayı olmalı' });
const CURRENCY = {
  en: '$property must be a numeric currency code, as text',
  tr: '$property metin olarak sayısal bir para birimi kodu olmalı',
};

/** `instrumentDetail` of an answer (docs/interface.md). */
export class InstrumentDetailDto {
  /** With its middle digits masked. */
  @IsReceivedText()
  @IsOptional()
  maskedCardNumber?: string | null;

  /** `CARD` in the approved result. */
  @IsReceivedText()
  @IsOptional()
  cardType?: string | null;
}

/** `paymentInfo` of an answer (docs/interface.md). Amounts in major units. */
export class PaymentInfoDto {
  @IsNumber({ maxDecimalPlaces: 0 }, WHOLE_NUMBER)
  @IsOptional()
  installmentCount?: number | null;

  /** Commission rate of the payment facilitator. */
  @IsNumber({}, NUMBER)
  @IsOptional()
  payFacCommissionRate?: number | null;

  @IsNumber({}, NUMBER)
  @IsOptional()
  amount?: number | null;

  /** Shown with four decimals in the interface. */
  @IsNumber({}, NUMBER)
  @IsOptional()
  payFacCommissionAmount?: number | null;
}

/**
 * An answer to DoPayment (docs/interface.md), for hosts that also talk to the gateway themselves, and for fakes in
 * tests. Every answer has the two codes and the two texts; the interface shows the other fields in an approval only.
 */
export class DoPaymentResponseDto {
  /** `B0000` is an approval. */
  @IsReceivedText()
  @IsRequired()
  code!: string;

  @IsReceivedText()
  @IsRequired()
  message!: string;

  /** Repeats `code` in the approved result. */
  @IsReceivedText()
  @IsRequired()
  resultCode!: string;

  /** Repeats `message` in the approved result. */
  @IsReceivedText()
  @IsRequired()
  resultDescription!: string;

  /**
   * Two digits, two digits, four digits, HH:mm:ss. The interface does not show whether the day or the month is first.
   */
  @IsDateTimeText()
  @IsOptional()
  responseDate?: string | null;

  @IsReceivedText()
  @IsOptional()
  conversationId?: string | null;

  @IsReceivedText()
  @IsOptional()
  orderId?: string | null;

  @IsReceivedText()
  @IsOptional()
  paymentId?: string | null;

  @IsReceivedText()
  @IsOptional()
  bankUniqueReferenceNumber?: string | null;

  /** In the form of `responseDate`. */
  @IsDateTimeText()
  @IsOptional()
  transactionDate?: string | null;

  /** ISO 4217 numeric, as text. */
  @rule({ name: 'currencyText', texts: CURRENCY }, (value) => typeof value === 'string' && /^\d{1,3}$/.test(value))
  @IsOptional()
  currency?: string | null;

  @IsReceivedText()
  @IsOptional()
  authCode?: string | null;

  /** `CARDPAYMENT` in the approved result. */
  @IsReceivedText()
  @IsOptional()
  paymentInstrumentType?: string | null;

  @IsReceivedText()
  @IsOptional()
  sign?: string | null;

  @IsNested(() => InstrumentDetailDto)
  @IsOptional()
  instrumentDetail?: InstrumentDetailDto | null;

  @IsNested(() => PaymentInfoDto)
  @IsOptional()
  paymentInfo?: PaymentInfoDto | null;

  /** null in the approved result. */
  @IsWebUrl()
  @IsOptional()
  okUrl?: string | null;

  /** null in the approved result. */
  @IsWebUrl()
  @IsOptional()
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
  @IsReceivedText()
  @IsOptional()
  code?: string | null;

  @IsReceivedText()
  @IsOptional()
  message?: string | null;

  @IsReceivedText()
  @IsOptional()
  resultCode?: string | null;

  @IsReceivedText()
  @IsOptional()
  resultDescription?: string | null;

  @IsReceivedText()
  @IsOptional()
  conversationId?: string | null;

  /** The page for the buyer's browser, in Base64. */
  @IsBase64({}, saying({ en: '$property must be Base64', tr: '$property Base64 olmalı' }))
  @IsOptional()
  htmlForm?: string | null;
}
