import { ModelRecord } from './model-record.js';

/** The input of a payment. */
export interface ModelSale {
  readonly kind: 'direct' | '3d';
  readonly conversationId: string;
  readonly reference: string | null;
  readonly allowRepeat: boolean;
  readonly idempotencyKey: string | null;
  readonly amount: string;
}

/** A payment as it should be. */
export class ModelPayment extends ModelRecord {
  notFoundAt: number | null = null;
  /** Whether it may have been charged while another held its reference: then the reference stays taken for good. */
  isPinning = false;
  /** What was taken, if that is not the amount. */
  takenInstead: string | null = null;
  /** Whether an answer that is certainly about it has shown the gateway's ids. */
  hasIds = false;

  constructor(
    readonly sale: ModelSale,
    readonly expiresAt: number,
    claimedAt: number,
  ) {
    super(sale.conversationId, sale.idempotencyKey, claimedAt);
  }
}
