import Craftgate from '@craftgate/craftgate';
import type { Caller, SubjectSetup } from '../payments/caller.js';
import { AMOUNT, CARD, conversationIdOf, HOLDER, RETURN_URLS } from '../payments/sale.js';

export function startCraftgate({ gatewayUrl }: SubjectSetup): Caller {
  const payment = new Craftgate.Client({
    apiKey: 'bench-key',
    secretKey: 'bench-secret',
    baseUrl: gatewayUrl,
  }).payment();
  return {
    call: async (number) => {
      const { paymentStatus } = await payment.createPayment({
        price: Number(AMOUNT),
        paidPrice: Number(AMOUNT),
        walletPrice: 0,
        installment: 1,
        currency: 'TRY',
        paymentGroup: 'PRODUCT',
        paymentPhase: 'AUTH',
        paymentChannel: 'WEB',
        conversationId: conversationIdOf(number),
        card: {
          cardHolderName: HOLDER.cardHolderName,
          cardNumber: CARD.cardNo,
          expireMonth: '12',
          expireYear: '2036',
          cvc: CARD.cvv,
        },
        items: [{ name: 'order', price: Number(AMOUNT), externalId: '1' }],
        additionalParams: { ...RETURN_URLS, buyerGsm: HOLDER.buyerGsm },
      });
      if (paymentStatus !== 'SUCCESS') throw new Error('the payment did not succeed');
    },
    close: () => Promise.resolve(),
  };
}
