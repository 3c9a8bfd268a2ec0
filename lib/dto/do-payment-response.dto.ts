import { IsNumber, IsOptional, IsString } from 'class-validator';
import { IsDateTimeText } from './rules/date-time.rule.js';
import { IsNested } from './rules/nested.rule.js';
import { IsRequired } from './rules/presence.rule.js';
import { rule } from './rules/rule.js';
import { IsWebUrl } from './rules/web-url.rule.js';

const TEXT = { message: '$property must be a text' };
const NUMBER = { message: '$property must be a number' };

/** `instrumentDetail` of an answer (contract section 2.2). */
export class InstrumentDetailDto {
  /** The middle digits masked. */
  @IsString(TEXT)
  @IsOptional()
  maskedCardNumber?: string | null;

  /** `CARD` in the approved result. */
  @IsString(TEXT)
  @IsOptional()
  cardType?: string | null;
}

/** `paymentInfo` of an answer (contract section 2.2). Amounts in major units. */
export class PaymentInfoDto {
  @IsNumber({ maxDecimalPlaces: 0 }, { message: '$property must be a whole number' })
  @IsOptional()
  installmentCount?: number | null;

  /** Commission rate of the payment facilitator. */
  @IsNumber({}, NUMBER)
  @IsOptional()
  payFacCommissionRate?: number | null;

  @IsNumber({}, NUMBER)
  @IsOptional()
  amount?: number | null;

  /** Shown with four decimals in the contract. */
  @IsNumber({}, NUMBER)
  @IsOptional()
  payFacCommissionAmount?: number | null;
}

/**
 * An answer to DoPayment (contract section 2.2), for hosts that talk to the gateway beside this module, and for fakes in tests.
 * The contract says that every answer carries the two codes and the two texts (section 7); the rest is known of the approved one.
 */
export class DoPaymentResponseDto {
  /** `B0000` is an approval. */
  @IsString(TEXT)
  @IsRequired()
  code!: string;

  @IsString(TEXT)
  @IsRequired()
  message!: string;

  /** Repeats `code` in the approved result. */
  @IsString(TEXT)
  @IsRequired()
  resultCode!: string;

  /** Repeats `message` in the approved result. */
  @IsString(TEXT)
  @IsRequired()
  resultDescription!: string;

  /** Two digits, two digits, four digits, HH:mm:ss; which of the first two is the day is not shown. */
  @IsDateTimeText()
  @IsOptional()
  responseDate?: string | null;

  @IsString(TEXT)
  @IsOptional()
  conversationId?: string | null;

  @IsString(TEXT)
  @IsOptional()
  orderId?: string | null;

  @IsString(TEXT)
  @IsOptional()
  paymentId?: string | null;

  @IsString(TEXT)
  @IsOptional()
  bankUniqueReferenceNumber?: string | null;

  /** Written as `responseDate`. */
  @IsDateTimeText()
  @IsOptional()
  transactionDate?: string | null;

  /** ISO 4217 numeric, as text. */
  @rule(
    'currencyText',
    '$property must be a numeric currency code, as text',
    (value) => typeof value === 'string' && /^\d{1,3}$/.test(value),
  )
  @IsOptional()
  currency?: string | null;

  @IsString(TEXT)
  @IsOptional()
  authCode?: string | null;

  /** `CARDPAYMENT` in the approved result. */
  @IsString(TEXT)
  @IsOptional()
  paymentInstrumentType?: string | null;

  @IsString(TEXT)
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
