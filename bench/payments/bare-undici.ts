import { Agent, request } from 'undici';
import type { Caller, SubjectSetup } from './caller.js';
import { doPaymentBody, expectApproved, FIXED_HEADERS, FIXED_SIGN } from './sale.js';

export function startBareUndici(setup: SubjectSetup): Caller {
  return startUndici(`${setup.gatewayUrl}/v1/Payment/DoPayment`, expectApproved);
}

/** An Init3d whose page is handed over as text. */
export function startBareInit3d(setup: SubjectSetup): Caller {
  return startUndici(`${setup.gatewayUrl}/large-page/v1/Payment/Init3d`, (answer) => {
    expectApproved(answer);
    const { content } = answer as { content: string };
    if (!Buffer.from(content, 'base64').toString('utf8').startsWith('<!doctype html>')) throw new Error('no page');
  });
}

function startUndici(url: string, check: (answer: object) => void): Caller {
  const dispatcher = new Agent();
  return {
    call: async (number) => {
      const { statusCode, body } = await request(url, {
        dispatcher,
        method: 'POST',
        headers: FIXED_HEADERS,
        body: JSON.stringify({ ...doPaymentBody(number), sign: FIXED_SIGN }),
      });
      if (statusCode !== 200) throw new Error(`status ${statusCode}`);
      check((await body.json()) as object);
    },
    close: () => dispatcher.close(),
  };
}
