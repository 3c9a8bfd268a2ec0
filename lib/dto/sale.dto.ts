import { type CardDetails, CardDetailsDto } from './card.dto.js';
import {
  Field,
  IsAmount,
  IsCardFree,
  IsCurrencyCode,
  IsInstallmentCount,
  IsNested,
  IsOneOf,
  IsPhoneNumber,
  IsText,
  IsTrueOrFalse,
  IsWebUrl,
  OptionalField,
} from './rules.js';

/** Who pays (docs/interface.md). */
export class CardHolderInfoDto {
  @Field(IsText(), IsCardFree())
  cardHolderName!: string;

  /** The buyer's mobile number: 7 to 15 digits, optionally with +, spaces, dashes or brackets. Sent as given. */
  @Field(IsPhoneNumber())
  buyerGsm!: string;
}

/**
 * The part of a payment that a buyer's browser may send: the class for `@Body()`. Everything else (amount, currency,
 * `reference`, URLs, `allowRepeat`) comes from your own order. Pass the fields on one by one, so that you pass on
 * nothing that a buyer has added:
 *
 * ```ts
 * init3d({
 *   reference: order.id,
 *   cardDetails: checkout.cardDetails,
 *   cardHolderInfo: checkout.cardHolderInfo,
 *   transactionDetails: { amount: order.total, currencyCode: TRY, installmentCount: checkout.installmentCount },
 * });
 * ```
 *
 * It works with or without a `ValidationPipe`'s `transform`, `whitelist`, `forbidNonWhitelisted` and
 * `enableImplicitConversion`; `whitelist` and `forbidNonWhitelisted` are a good choice. A pipe's messages are English;
 * its `exceptionFactory` finds each of them in both languages, `{ en, tr }`, in the error's `contexts` under the name
 * of the rule. The errors that it is given are class-validator's, whose `value` and `target` hold the card: never log
 * them.
 */
export class CheckoutDto {
  @Field(IsNested(() => CardDetailsDto))
  cardDetails!: CardDetails;

  @Field(IsNested(() => CardHolderInfoDto))
  cardHolderInfo!: CardHolderInfoDto;

  /** 1 unless given. Check it against the instalments that you offer. */
  @OptionalField(IsInstallmentCount())
  installmentCount?: number;
}

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
  @OptionalField(IsOneOf(['SALE'], SALE_ALONE))
  transactionType?: string;

  /** 1 unless given. The interface shows no bounds; 999 is ours. */
  @OptionalField(IsInstallmentCount())
  installmentCount?: number;

  /**
   * Major units: `'149.90'` or 149.9, a plain decimal above 0, of at most 15 digits, with no more decimals than its
   * currency has (ISO 4217).
   */
  @Field(IsAmount())
  amount!: string | number;

  /**
   * The ISO 4217 number of a currency in use: 949 is the Turkish lira (TRY). Letters and text are refused, and so are
   * the numbers of gold, tests (963), "no currency" (999) and currencies of the past.
   */
  @Field(IsCurrencyCode())
  currencyCode!: number;

  @OptionalField(IsTrueOrFalse())
  vftFlag?: boolean;
}

/** Fields that only some merchants send (docs/interface.md). */
export class ExtraParameterDto {
  /** Sub-merchant identifier. */
  @OptionalField(IsText())
  pfSubMerchantId?: string;
}

/** What every way to take a payment is asked with, besides the card. */
abstract class SaleDto {
  @Field(IsNested(() => TransactionDetailsDto))
  transactionDetails!: TransactionDetailsDto;

  @OptionalField(IsNested(() => ExtraParameterDto))
  extraParameter?: ExtraParameterDto;

  /** The option `language` unless given; the interface shows `tr`. */
  @OptionalField(IsText())
  language?: string;

  /** `CARD` unless given; the interface shows no other value. */
  @OptionalField(IsText())
  paymentInstrumentType?: string;

  /**
   * The id of this attempt at the gateway, made by the module unless given. Each attempt needs a new one. An id that
   * you give is refused while its payment is stored, and for `idempotencyTtlMs` after it was deleted.
   */
  @OptionalField(IsText())
  conversationId?: string;

  /** Where the gateway sends the buyer after success; the callback's address unless given. Never a buyer's choice. */
  @OptionalField(IsWebUrl())
  returnUrl?: string;

  /** Where the gateway sends the buyer after a failure; the callback's address unless given. Never a buyer's choice. */
  @OptionalField(IsWebUrl())
  failUrl?: string;

  /** Your own id, an order number for example: at most one attempt of it can succeed. Not sent to the gateway. */
  @OptionalField(IsText())
  reference?: string;

  /** Whether `reference` may be charged more than once; never a buyer's choice. Default false. */
  @OptionalField(IsTrueOrFalse())
  allowRepeat?: boolean;

  /**
   * The same key with the same sale is the same payment, however often it is sent; with another sale, or another card,
   * it is refused. Not sent to the gateway. If a client makes the key, put the customer's id before it: otherwise a
   * customer could name another customer's payment.
   */
  @OptionalField(IsText())
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
  @Field(IsNested(() => CardDetailsDto))
  cardDetails!: CardDetails;

  @Field(IsNested(() => CardHolderInfoDto))
  cardHolderInfo!: CardHolderInfoDto;

  /** `CARDPAYMENT` unless given; the interface shows no other value. */
  @OptionalField(IsText())
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
  @OptionalField(IsOneOf(['page', 'embedded']))
  form?: 'page' | 'embedded';
}
