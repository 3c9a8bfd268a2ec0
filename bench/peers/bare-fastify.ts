import formbody from '@fastify/formbody';
import fastify from 'fastify';
import { Agent, request } from 'undici';
import type { CallbackServer, SubjectSetup } from '../payments/caller.js';
import { bankFields, conversationIdOf, expectApproved, FIXED_HEADERS, PAID_URL } from '../payments/sale.js';

/** A route that does what cannot be left out: parse the form, make the one upstream call, send the buyer on. */
export async function startBareFastify({ gatewayUrl }: SubjectSetup): Promise<CallbackServer> {
  const dispatcher = new Agent();
  const app = fastify();
  await app.register(formbody);
  app.post('/payments/:token/return', async (received, reply) => {
    const fields = received.body as Record<string, string>;
    const { statusCode, body } = await request(`${gatewayUrl}/v1/Payment/Auth3d`, {
      dispatcher,
      method: 'POST',
      headers: FIXED_HEADERS,
      body: JSON.stringify(fields),
    });
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    expectApproved((await body.json()) as object);
    return reply.redirect(`${PAID_URL}?conversationId=${fields.conversationId}`, 303);
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const token = 'A'.repeat(22);
  return {
    open: (number) =>
      Promise.resolve({ url: `${url}/payments/${token}/return`, fields: bankFields(conversationIdOf(number)) }),
    close: async () => {
      await app.close();
      await dispatcher.close();
    },
  };
}
