import { IsBin } from './rules/card.rules.js';
import { IsRequired } from './rules/rule.js';
import { IsAmount, IsCurrencyCode } from './rules/value.rules.js';

/**
 * The part of a question about a card that a buyer's browser may send: the class for `@Body()` of a route that calls
 * `PaymentService.checkBin`. Use POST, since addresses are logged.
 */
export class CheckBinDto {
  /** The first 6 to 8 digits of the card number, and no more of it. */
  @IsBin()
  @IsRequired()
  bin!: string;
}

/**
 * What the buyer is to pay, for `PaymentService.checkBin`. **It comes from the merchant's order, never from a buyer's
 * browser.**
 */
export interface BinSale {
  /** Major units: `'149.90'` or 149.9, as in a payment. */
  readonly amount: string | number;
  /** The ISO 4217 number of a currency in use: 949 is the Turkish lira (TRY). */
  readonly currencyCode: number;
}

/** The rules of {@link BinSale}. */
export class BinSaleRules implements BinSale {
  @IsAmount()
  @IsRequired()
  readonly amount!: string | number;

  @IsCurrencyCode()
  @IsRequired()
  readonly currencyCode!: number;
}
