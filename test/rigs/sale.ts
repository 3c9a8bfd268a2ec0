import type { DoPaymentDto } from 'nestjs-card-payment';

let orders = 0;

/** A sale of a new order, with a published test card. The simulator answers by the amount: .51 is declined, for example. */
export function sale(amount = '149.90', more: Partial<DoPaymentDto> = {}): DoPaymentDto {
  orders += 1;
  return {
    reference: `order-${orders}`,
    cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
    transactionDetails: { amount, currencyCode: 949, installmentCount: 1 },
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
    ...more,
  };
}
