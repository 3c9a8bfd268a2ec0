import { Agent, type IncomingMessage, request } from 'node:http';
import type { Caller, SubjectSetup } from './caller.js';
import { doPaymentBody, expectApproved, FIXED_HEADERS, FIXED_SIGN } from './sale.js';

export function startBareHttp({ gatewayUrl }: SubjectSetup): Caller {
  const agent = new Agent({ keepAlive: true });
  return {
    call: async (number) => {
      const body = JSON.stringify({ ...doPaymentBody(number), sign: FIXED_SIGN });
      const headers = { ...FIXED_HEADERS, 'content-length': Buffer.byteLength(body) };
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request(`${gatewayUrl}/v1/Payment/DoPayment`, { agent, method: 'POST', headers }, resolve)
          .on('error', reject)
          .end(body);
      });
      if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
      expectApproved(JSON.parse(await textOf(response)) as object);
    },
    close: () => Promise.resolve(agent.destroy()),
  };
}

function textOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => (text += chunk));
    response.on('end', () => resolve(text)).on('error', reject);
  });
}
