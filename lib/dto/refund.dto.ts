import { Field, IsAmount, IsNote, IsText, OptionalField } from './rules.js';

/** What every way to give money back is asked with. */
abstract class MoneyBackDto {
  /** The payment whose money is given back. */
  @Field(IsText())
  conversationId!: string;

  /**
   * The id of this attempt at the gateway, made by the module unless given; of the form of a conversationId, and that
   * of no payment. The same refundId with the same content gives the existing refund and sends nothing.
   */
  @OptionalField(IsText())
  refundId?: string;

  /**
   * The same key with the same content is the same refund, however often it is sent. An admin page makes one when it is
   * shown, so that a double click gives back once. Not sent to the gateway.
   */
  @OptionalField(IsText())
  idempotencyKey?: string;

  /** Who asks for it: up to 200 characters are kept, without card numbers. Not sent to the gateway. */
  @OptionalField(IsNote())
  by?: string;
}

/** The input of `PaymentService.void`: the whole sale is called off. **The merchant's input, never a buyer's.** */
export class VoidDto extends MoneyBackDto {
  /** Why, for whoever reads the history: up to 1,000 characters are kept, without card numbers. Not sent. */
  @OptionalField(IsNote())
  note?: string;
}

/** The input of `PaymentService.refund`. **The merchant's input, never a buyer's.** */
export class RefundDto extends VoidDto {
  /**
   * Major units: `'49.90'` or 49.9, a plain decimal above 0, of at most 15 digits, with no more decimals than the
   * payment's currency has. Without it, all that is left is given back.
   */
  @OptionalField(IsAmount())
  amount?: string | number;
}

/**
 * The input of `PaymentService.recordRefund`: a refund that was made at the gateway's own panel. It needs a `refundId`
 * or an `idempotencyKey`, so that it is written down once.
 */
export class RecordRefundDto extends MoneyBackDto {
  /** Major units, as in {@link RefundDto}. */
  @Field(IsAmount())
  amount!: string | number;

  /** Where it was made, and why: up to 1,000 characters are kept, without card numbers. */
  @Field(IsNote())
  note!: string;
}
