import { type CardDetails, CardDetailsDto } from './card-details.dto.js';
import { CardHolderInfoDto } from './checkout.dto.js';
import { IsTrueOrFalse } from './rules/reading.rules.js';
import { IsNested, IsRequired, MayBeAbsent } from './rules/rule.js';
import { IsAmount, IsCurrencyCode, IsOneOf, IsText, IsWebUrl, IsWholeNumber } from './rules/value.rules.js';

const SALE_ALONE = {
  en:
    '$property must be SALE, or left out: money is given back by `refund`, a sale is called off by `void` of ' +
    'PaymentService; there is no pre-authorization',
  tr:
    '$property SALE olmalı ya da verilmemeli: para iadesi PaymentService’in `refund`, satışın iptali `void` metoduyla ' +
    'yapılır; ön provizyon yoktur',
};

/** The sale (docs/interface.md). It comes from the merchant's order, never from a buyer's browser. */
export class TransactionDetailsDto {
  /** `SALE` and nothing else, given or not: the answer to another type would be read as that of a sale. */
  @IsOneOf(['SALE'], SALE_ALONE)
  @MayBeAbsent()
  transactionType?: string;

  /** 1 unless given. The interface shows no bounds; 999 is ours. */
  @IsWholeNumber(1, 999)
  @MayBeAbsent()
  installmentCount?: number;

  /**
   * Major units: `'149.90'` or 149.9, a plain decimal above 0, of at most 15 digits, with no more decimals than its
   * currency has (ISO 4217).
   */
  @IsAmount()
  @IsRequired()
  amount!: string | number;

  /**
   * The ISO 4217 number of a currency in use: 949 is the Turkish lira (TRY). Letters and text are refused, and so are
   * the numbers of gold, tests (963), "no currency" (999) and currencies of the past.
   */
  @IsCurrencyCode()
  @IsRequired()
  currencyCode!: number;

  @IsTrueOrFalse()
  @MayBeAbsent()
  vftFlag?: boolean;
}

/** Fields that only some merchants send (docs/interface.md). */
export class ExtraParameterDto {
  /** Sub-merchant identifier. */
  @IsText()
  @MayBeAbsent()
  pfSubMerchantId?: string;
}

/** What every way to take a payment is asked with, besides the card. */
abstract class SaleDto {
  @IsNested(() => TransactionDetailsDto)
  @IsRequired()
  transactionDetails!: TransactionDetailsDto;

  @IsNested(() => ExtraParameterDto)
  @MayBeAbsent()
  extraParameter?: ExtraParameterDto;

  /** The option `language` unless given; the interface shows `tr`. */
  @IsText()
  @MayBeAbsent()
  language?: string;

  /** `CARD` unless given; the interface shows no other value. */
  @IsText()
  @MayBeAbsent()
  paymentInstrumentType?: string;

  /**
   * The id of this attempt at the gateway, made by the module unless given. Each attempt needs a new one. An id that
   * you give is refused while its payment is stored, and for `idempotencyTtlMs` after it was deleted.
   */
  @IsText()
  @MayBeAbsent()
  conversationId?: string;

  /** Where the gateway sends the buyer after success; the callback's address unless given. Never a buyer's choice. */
  @IsWebUrl()
  @MayBeAbsent()
  returnUrl?: string;

  /** Where the gateway sends the buyer after a failure; the callback's address unless given. Never a buyer's choice. */
  @IsWebUrl()
  @MayBeAbsent()
  failUrl?: string;

  /** Your own id, an order number for example: at most one attempt of it can succeed. Not sent to the gateway. */
  @IsText()
  @MayBeAbsent()
  reference?: string;

  /** Whether `reference` may be charged more than once; never a buyer's choice. Default false. */
  @IsTrueOrFalse()
  @MayBeAbsent()
  allowRepeat?: boolean;

  /**
   * The same key with the same sale is the same payment, however often it is sent; with another sale, or another card,
   * it is refused. Not sent to the gateway. If a client makes the key, put the customer's id before it: otherwise a
   * customer could name another customer's payment.
   */
  @IsText()
  @MayBeAbsent()
  idempotencyKey?: string;
}

/**
 * The input of `PaymentService.doPayment`: the fields of docs/interface.md under the same names, without `merchantId`
 * and `sign`. The module fills in these two and every other field that is absent.
 *
 * **The merchant's input, never a `@Body()`**: it sets the amount, the currency, the reference, the return URLs and
 * `allowRepeat`. These come from your own order; from a buyer, accept no more than a {@link CheckoutDto}.
 */
export class DoPaymentDto extends SaleDto {
  @IsNested(() => CardDetailsDto)
  @IsRequired()
  cardDetails!: CardDetails;

  @IsNested(() => CardHolderInfoDto)
  @IsRequired()
  cardHolderInfo!: CardHolderInfoDto;

  /** `CARDPAYMENT` unless given; the interface shows no other value. */
  @IsText()
  @MayBeAbsent()
  paymentMethod?: string;
}

/**
 * The input of `PaymentService.init3d`: **the merchant's input, never a `@Body()`**, see {@link DoPaymentDto}. The
 * interface (docs/interface.md) does not show Init3d's fields; they are taken to be DoPayment's.
 */
export class Init3dDto extends DoPaymentDto {}

/**
 * The input of `PaymentService.startHosted`: **the merchant's input, never a `@Body()`**, see {@link DoPaymentDto}. It
 * has no card, since the buyer types it at the gateway; card fields are refused.
 *
 * @experimental
 */
export class HostedPaymentDto extends SaleDto {
  /** `page`: the buyer goes to the gateway. `embedded`: your page shows the gateway's form. `page` unless given. */
  @IsOneOf(['page', 'embedded'])
  @MayBeAbsent()
  form?: 'page' | 'embedded';
}
