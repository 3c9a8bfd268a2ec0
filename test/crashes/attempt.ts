import { type DoPaymentDto, newConversationId } from 'nestjs-card-payment';

export type Flow = 'direct' | 'init3d' | 'auth3d';

/** A payment whose process was killed, as those who come after know it. */
export interface Attempt {
  readonly flow: Flow;
  readonly point: string;
  readonly sale: Sale;
  /** What the bank sent, of an `auth3d`. */
  readonly fields: object | null;
}

export type Sale = DoPaymentDto & { readonly conversationId: string; readonly reference: string };

let orders = 0;

export function newSale(): Sale {
  orders += 1;
  return {
    conversationId: newConversationId(),
    reference: `order-${orders}`,
    idempotencyKey: `key-${orders}`,
    cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
    transactionDetails: { amount: '149.90', currencyCode: 949 },
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
  };
}
