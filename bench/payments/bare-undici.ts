import { Agent, request } from 'undici';
import type { Caller, SubjectSetup } from './caller.js';
import { doPaymentBody, expectApproved, FIXED_HEADERS, FIXED_SIGN } from './sale.js';

export function startBareUndici({ gatewayUrl }: SubjectSetup): Caller {
  const dispatcher = new Agent();
  return {
    call: async (number) => {
      const { statusCode, body } = await request(`${gatewayUrl}/v1/Payment/DoPayment`, {
        dispatcher,
        method: 'POST',
        headers: FIXED_HEADERS,
        body: JSON.stringify({ ...doPaymentBody(number), sign: FIXED_SIGN }),
      });
      if (statusCode !== 200) throw new Error(`status ${statusCode}`);
      expectApproved((await body.json()) as object);
    },
    close: () => dispatcher.close(),
  };
}
