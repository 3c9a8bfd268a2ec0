import { IsNumber } from 'class-validator';
import { type CardDetails, CardDetailsDto } from './card-details.dto.js';
import { CardHolderInfoDto } from './checkout.dto.js';
import { ExtraParameterDto } from './do-payment.dto.js';
import { IsTrueOrFalse } from './rules/reading.rules.js';
import { IsNested, IsRequired, MayBeAbsent, saying } from './rules/rule.js';
import { IsAmount, IsCurrencyCode, IsText, IsWebUrl, IsWholeNumber } from './rules/value.rules.js';

/** `transactionDetails` as it is sent, with every default filled in (docs/interface.md). */
export class TransactionDetailsRequestDto {
  @IsText()
  @IsRequired()
  transactionType!: string;

  @IsWholeNumber(1, 999)
  @IsRequired()
  installmentCount!: number;

  /** Major units, a JSON number. */
  @IsAmount()
  @IsNumber({}, saying({ en: '$property must be a number', tr: '$property bir sayı olmalı' }))
  @IsRequired()
  amount!: number;

  /** The number of a currency in use, by ISO 4217. */
  @IsCurrencyCode()
  @IsRequired()
  currencyCode!: number;

  @IsTrueOrFalse()
  @MayBeAbsent()
  vftFlag?: boolean;
}

/**
 * The body of DoPayment as it is sent, with every field of docs/interface.md. The module writes it; your code does not
 * need it.
 */
export class DoPaymentRequestDto {
  @IsText()
  @IsRequired()
  merchantId!: string;

  @IsWebUrl()
  @IsRequired()
  returnUrl!: string;

  @IsWebUrl()
  @IsRequired()
  failUrl!: string;

  @IsText()
  @IsRequired()
  paymentMethod!: string;

  @IsText()
  @IsRequired()
  language!: string;

  @IsText()
  @IsRequired()
  conversationId!: string;

  @IsText()
  @IsRequired()
  sign!: string;

  @IsText()
  @IsRequired()
  paymentInstrumentType!: string;

  @IsNested(() => CardDetailsDto)
  @IsRequired()
  cardDetails!: CardDetails;

  @IsNested(() => TransactionDetailsRequestDto)
  @IsRequired()
  transactionDetails!: TransactionDetailsRequestDto;

  @IsNested(() => CardHolderInfoDto)
  @IsRequired()
  cardHolderInfo!: CardHolderInfoDto;

  @IsNested(() => ExtraParameterDto)
  @MayBeAbsent()
  extraParameter?: ExtraParameterDto;
}

/**
 * The body of Init3d as it is sent. The interface (docs/interface.md) does not show its fields; they are taken to be
 * DoPayment's.
 */
export class Init3dRequestDto extends DoPaymentRequestDto {}
