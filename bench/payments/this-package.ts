import type { Callback, CallbackServer, Caller, SubjectSetup } from './caller.js';
import { registerDtoClasses } from './dto-classes.js';
import { startMerchantApp } from './merchant-app.js';
import { bankFields, saleOf } from './sale.js';

export interface DirectKind {
  readonly handler?: boolean;
  /** How many validated classes the host has besides. */
  readonly dtoClasses?: number;
}

/** `doPayment`: a sale that is stored, sent, judged and stored again. */
export async function startDirect(setup: SubjectSetup, { handler, dtoClasses = 0 }: DirectKind = {}): Promise<Caller> {
  registerDtoClasses(dtoClasses);
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

/** `init3d` at a gateway whose page has 64 KiB. */
export async function startInit3d(setup: SubjectSetup): Promise<Caller> {
  const gatewayUrl = `${setup.gatewayUrl}/large-page`;
  const app = await startMerchantApp({ ...setup, gatewayUrl });
  return {
    call: async (number) => {
      const { html, payment } = await app.payments.init3d(saleOf(number));
      if (payment.state !== 'awaiting' || !html.endsWith('</html>')) throw new Error(`the payment is ${payment.state}`);
    },
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
