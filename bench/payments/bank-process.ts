// The bank's side of callbacks: what buyers' browsers post, from a process of its own.
import { Agent, request } from 'undici';
import { serveTasks } from '../../test/rigs/tasks.mjs';
import type { Callback } from './caller.js';
import { type Figures, latencyOf } from './figures.js';
import { repeat } from './repeat.js';
import { PAID_URL } from './sale.js';

const dispatcher = new Agent();

serveTasks({
  post: async ({ callbacks, atOnce }: { callbacks: Callback[]; atOnce: number }): Promise<Omit<Figures, 'cpu'>> => {
    const began = performance.now();
    const took = await repeat((number) => post(callbacks[number]!), { from: 0, count: callbacks.length, atOnce });
    return { wall: ((performance.now() - began) * 1000) / callbacks.length, latency: latencyOf(took) };
  },
  end: () => dispatcher.close(),
});

/** Throws unless the buyer is sent to the page for paid orders. */
async function post({ url, fields }: Callback): Promise<void> {
  const { statusCode, headers, body } = await request(url, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  await body.dump();
  const { location } = headers;
  if (statusCode !== 303 || location !== `${PAID_URL}?conversationId=${fields.conversationId}`) {
    throw new Error(`the callback was answered by ${statusCode} to ${String(location)}`);
  }
}
