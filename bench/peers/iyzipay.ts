import Iyzipay from 'iyzipay';
import type { Caller, SubjectSetup } from '../payments/caller.js';
import { AMOUNT, CARD, conversationIdOf, HOLDER, RETURN_URLS } from '../payments/sale.js';

export function startIyzipay({ gatewayUrl }: SubjectSetup): Caller {
  const iyzipay = new Iyzipay({ apiKey: 'bench-key', secretKey: 'bench-secret', uri: gatewayUrl });
  return {
    call: (number) =>
      new Promise((resolve, reject) => {
        const request = {
          locale: 'tr',
          conversationId: conversationIdOf(number),
          price: AMOUNT,
          paidPrice: AMOUNT,
          currency: 'TRY',
          installment: 1,
          paymentChannel: 'WEB',
          paymentGroup: 'PRODUCT',
          callbackUrl: RETURN_URLS.returnUrl,
          paymentCard: {
            cardHolderName: HOLDER.cardHolderName,
            cardNumber: CARD.cardNo,
            expireMonth: '12',
            expireYear: '2036',
            cvc: CARD.cvv,
          },
          buyer: { name: 'ADA', surname: 'YILMAZ', gsmNumber: HOLDER.buyerGsm },
          basketItems: [{ id: '1', name: 'order', itemType: 'PHYSICAL', price: AMOUNT }],
        };
        iyzipay.payment.create(request, (error, result) => {
          if (error) reject(error);
          else if (result.status !== 'success') reject(new Error('the payment did not succeed'));
          else resolve();
        });
      }),
    close: () => Promise.resolve(),
  };
}
