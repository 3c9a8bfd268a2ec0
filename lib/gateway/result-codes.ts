/** Which codes mean what. Every set can be overridden in a dialect's options. */
export interface ResultCodeSets {
  /** Money was taken. */
  readonly approvedCodes: ReadonlySet<string>;
  /** Kinds of approval that are not the whole sale: partial, conditional, VIP. */
  readonly approvalVariantCodes: ReadonlySet<string>;
  /** Do not say whether money moved. */
  readonly indeterminateCodes: ReadonlySet<string>;
  /** No money was taken. */
  readonly declinedCodes: ReadonlySet<string>;
  /** How codes begin that count as declined, too: those of the gateway's own validation. */
  readonly declinedPrefixes: readonly string[];
  /** In a CheckPayment: the card was declined. Only codes that speak of the card, never of the inquiry itself. */
  readonly inquiryDeclinedCodes: ReadonlySet<string>;
  /** In a CheckPayment: the gateway does not know the payment. Believed when said twice, ten minutes apart. */
  readonly notFoundCodes: ReadonlySet<string>;
  /**
   * In a CheckPayment: texts that say, beside an approved code, that the sale was approved. Case, dotted and dotless i,
   * and UTF-8 that was read as Latin-1 make no difference.
   */
  readonly approvedTexts: ReadonlySet<string>;
}
