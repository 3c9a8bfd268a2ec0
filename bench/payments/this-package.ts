import type { Callback, CallbackServer, Caller, SubjectSetup } from './caller.js';
import { startMerchantApp } from './merchant-app.js';
import { bankFields, saleOf } from './sale.js';

/** `doPayment`: a sale that is stored, sent, judged and stored again. */
export async function startDirect(setup: SubjectSetup, { handler = false } = {}): Promise<Caller> {
  const app = await startMerchantApp(setup, { handler });
  let made = 0;
  return {
    call: async (number) => {
      const { state } = await app.payments.doPayment(saleOf(number));
      if (state !== 'succeeded') throw new Error(`the payment is ${state}`);
      made += 1;
    },
    settled: () => app.handled(made),
    close: () => app.close(),
  };
}

/** The callback of a 3D payment, at the module's own route. */
export async function startCallbacks(setup: SubjectSetup): Promise<CallbackServer> {
  const app = await startMerchantApp(setup, { listens: true });
  return {
    open: async (number): Promise<Callback> => {
      const { html, conversationId } = await app.payments.init3d(saleOf(number));
      const url = /action="([^"]+)"/.exec(html)?.[1];
      if (url === undefined) throw new Error("the bank's page has no form");
      return { url, fields: bankFields(conversationId) };
    },
    close: () => app.close(),
  };
}
