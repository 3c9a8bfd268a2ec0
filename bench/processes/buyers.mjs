// Brings the bank's answers to the shop's processes in turn, in a process of its own.
import { Agent, request } from 'undici';
import { serveTasks } from '../../test/rigs/tasks.mjs';

const dispatcher = new Agent({ keepAliveTimeout: 60_000 });
const headers = { 'content-type': 'application/x-www-form-urlencoded' };

serveTasks({
  /** @returns how long each callback took, in milliseconds */
  bring: async ({ callbacks, shops, atOnce }) => {
    const took = [];
    const queue = callbacks.map((callback, turn) => ({ ...callback, shop: shops[turn % shops.length] }));
    const work = async () => {
      for (let next = queue.pop(); next; next = queue.pop()) {
        const began = performance.now();
        const body = `Code=B0000&conversationId=${next.conversationId}&PaymentId=7000000001`;
        const reply = await request(next.shop + next.path, { method: 'POST', headers, body, dispatcher });
        await reply.body.dump();
        const { location } = reply.headers;
        if (!location?.startsWith('https://shop.example/paid')) throw new Error(`a buyer was sent to ${location}`);
        took.push(performance.now() - began);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return took;
  },
  end: () => dispatcher.destroy(),
});
