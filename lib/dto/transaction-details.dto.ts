import { IsAmount, IsCurrencyCode, IsWholeNumber } from './rules/number.rules.js';
import { IsTrueOrFalse } from './rules/reading.rules.js';
import { IsRequired, MayBeAbsent } from './rules/structure.rules.js';
import { IsText } from './rules/text.rules.js';

/** What is paid (docs/interface.md): the merchant's own, never taken from a buyer's browser. */
export class TransactionDetailsDto {
  /** `SALE` unless given; the interface shows no other value. */
  @IsText()
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
   * The number of a currency in use, by ISO 4217: 949 is the Turkish lira (TRY). Neither letters nor text are taken, nor
   * numbers of what no amount is of: gold, tests (963), no currency (999), money of the past.
   */
  @IsCurrencyCode()
  @IsRequired()
  currencyCode!: number;

  @IsTrueOrFalse()
  @MayBeAbsent()
  vftFlag?: boolean;
}
