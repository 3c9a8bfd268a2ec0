import { type CardDetails, CardDetailsDto } from './card-details.dto.js';
import { CardHolderInfoDto } from './card-holder-info.dto.js';
import { IsWholeNumber } from './rules/number.rules.js';
import { IsNested, IsRequired, MayBeAbsent } from './rules/structure.rules.js';

/**
 * The part of a payment that a buyer's browser may send: the one to take as `@Body()`. Everything else (amount,
 * currency, `reference`, URLs, `allowRepeat`) comes from your own order. Pass the fields on one by one, so that nothing
 * travels with them that a buyer has added:
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
 * A `ValidationPipe` may have `transform`, `whitelist`, `forbidNonWhitelisted` and `enableImplicitConversion` or not;
 * `whitelist` and `forbidNonWhitelisted` are a good choice. A pipe's messages are English; its `exceptionFactory` finds
 * each in both languages in the error's `contexts`, by the name of the rule: `{ en, tr }`. What it is given are
 * class-validator's errors, whose `value` and `target` hold the card: never log them.
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
