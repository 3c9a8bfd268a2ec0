import { type CardDetails, CardDetailsDto } from './card-details.dto.js';
import { CardHolderInfoDto } from './card-holder-info.dto.js';
import { ExtraParameterDto } from './extra-parameter.dto.js';
import { IsTrueOrFalse } from './rules/reading.rules.js';
import { IsNested, IsRequired, MayBeAbsent } from './rules/structure.rules.js';
import { IsText, IsWebUrl } from './rules/text.rules.js';
import { TransactionDetailsDto } from './transaction-details.dto.js';

/**
 * What `PaymentService.doPayment` takes: the fields of docs/interface.md under the same names, less `merchantId` and
 * `sign`, which the module fills in, as it does whatever else is absent.
 *
 * **The merchant's input, never a `@Body()`**: whoever fills it sets the amount, the currency, the reference, the
 * return URLs and `allowRepeat`. These come from your own order; of a buyer, take no more than a {@link CheckoutDto}.
 */
export class DoPaymentDto {
  @IsNested(() => CardDetailsDto)
  @IsRequired()
  cardDetails!: CardDetails;

  @IsNested(() => TransactionDetailsDto)
  @IsRequired()
  transactionDetails!: TransactionDetailsDto;

  @IsNested(() => CardHolderInfoDto)
  @IsRequired()
  cardHolderInfo!: CardHolderInfoDto;

  @IsNested(() => ExtraParameterDto)
  @MayBeAbsent()
  extraParameter?: ExtraParameterDto;

  /** `CARDPAYMENT` unless given; the interface shows no other value. */
  @IsText()
  @MayBeAbsent()
  paymentMethod?: string;

  /** The option `language` unless given; the interface shows `tr`. */
  @IsText()
  @MayBeAbsent()
  language?: string;

  /** `CARD` unless given; the interface shows no other value. */
  @IsText()
  @MayBeAbsent()
  paymentInstrumentType?: string;

  /**
   * The id of this attempt at the gateway, made by the module unless given. One per attempt, never reused; one that you
   * give is refused as long as its payment is stored, and for `idempotencyTtlMs` after it was deleted.
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
   * The same key with the same sale is the same payment, however often it is sent; with another sale, or another card, it
   * is refused. Not sent to the gateway. Where a client makes it, put the customer's id before it: otherwise one customer
   * could name another's payment.
   */
  @IsText()
  @MayBeAbsent()
  idempotencyKey?: string;
}

/**
 * What `PaymentService.init3d` takes: **the merchant's input, never a `@Body()`**, see {@link DoPaymentDto}. The
 * interface (docs/interface.md) does not show Init3d's fields; they are read as DoPayment's.
 */
export class Init3dDto extends DoPaymentDto {}
