import Stripe from 'stripe';
import type { Caller, SubjectSetup } from '../payments/caller.js';
import { CARD, conversationIdOf, HOLDER, MERCHANT, RETURN_URLS } from '../payments/sale.js';

export function startStripeNode({ gatewayUrl }: SubjectSetup): Caller {
  const { hostname, port } = new URL(gatewayUrl);
  const stripe = new Stripe('sk_test_bench', { host: hostname, port, protocol: 'http' });
  return {
    call: async (number) => {
      const { status } = await stripe.paymentIntents.create({
        amount: 14995,
        currency: 'try',
        confirm: true,
        return_url: RETURN_URLS.returnUrl,
        payment_method_data: {
          type: 'card',
          card: { number: CARD.cardNo, exp_month: 12, exp_year: 2036, cvc: CARD.cvv },
          billing_details: { name: HOLDER.cardHolderName, phone: HOLDER.buyerGsm },
        },
        payment_method_options: { card: { installments: { enabled: false } } },
        metadata: {
          conversationId: conversationIdOf(number),
          merchantId: MERCHANT.merchantId,
          failUrl: RETURN_URLS.failUrl,
        },
      });
      if (status !== 'succeeded') throw new Error('the payment did not succeed');
    },
    close: () => Promise.resolve(),
  };
}
