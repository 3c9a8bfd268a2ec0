import { type CardDetails, CardDetailsDto } from './card-details.dto.js';
import { IsCardFree } from './rules/card.rules.js';
import { IsNested, IsRequired, MayBeAbsent } from './rules/rule.js';
import { IsPhoneNumber, IsText, IsWholeNumber } from './rules/value.rules.js';

/** Who pays (docs/interface.md). */
export class CardHolderInfoDto {
  @IsText()
  @IsCardFree()
  @IsRequired()
  cardHolderName!: string;

  /** The buyer's mobile number: 7 to 15 digits, optionally with +, spaces, dashes or brackets. Sent as given. */
  @IsPhoneNumber()
  @IsRequired()
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
  @IsNested(() => CardDetailsDto)
  @IsRequired()
  cardDetails!: CardDetails;

  @IsNested(() => CardHolderInfoDto)
  @IsRequired()
  cardHolderInfo!: CardHolderInfoDto;

  /** 1 unless given. Check it against the instalments that you offer. */
  @IsWholeNumber(1, 999)
  @MayBeAbsent()
  installmentCount?: number;
}
