/**
 * What kind of account a card draws on.
 *
 * @experimental
 */
export type CardType = 'credit' | 'debit' | 'prepaid';

export const CARD_TYPES: readonly CardType[] = ['credit', 'debit', 'prepaid'];

/**
 * One way to pay in instalments, as the gateway offers it for a card.
 *
 * @experimental
 */
export class CardInstallment {
  /** How many instalments; 1 is payment in full. */
  readonly count!: number;
  /** What the buyer pays in all, in major units, decimal text; null if the answer does not say. */
  readonly total!: string | null;

  constructor(fields: CardInstallment) {
    Object.assign(this, fields);
  }
}

/**
 * What a card is, by its first digits: the answer to `PaymentService.checkBin`. Null stands for what the gateway did
 * not tell. If it gave no answer, or refused, everything but `bin`, `code` and `message` is null. The names of the
 * answer's fields are unverified (docs/unverified.md).
 *
 * @experimental
 */
export class CardBin {
  /** The six to eight digits that were asked about. */
  readonly bin!: string;
  /** The bank that issued the card. The gateway's text: escape it where it is shown. */
  readonly bank!: string | null;
  readonly type!: CardType | null;
  /** Visa, Mastercard, Troy, or the bank's own card programme: the gateway's text. Escape it where it is shown. */
  readonly brand!: string | null;
  /** Whether it is a company's card. */
  readonly commercial!: boolean | null;
  /**
   * In how many instalments it can pay, in ascending order; empty if the gateway says that there are none. Null if it
   * does not say.
   */
  readonly installments!: readonly CardInstallment[] | null;
  /**
   * The gateway's result code; null if it answered without one. If there is no answer to go by, why: `unsupported` (the
   * dialect has no such operation), `not_sent`, `no_answer`, `server_error`, `refused`, `unreadable`, or
   * `conversation_mismatch` (it is about another question).
   */
  readonly code!: string | null;
  /** The gateway's text, or what happened instead. For the merchant, not for the buyer. */
  readonly message!: string | null;

  constructor(fields: CardBin) {
    Object.assign(this, fields);
  }
}
