import { Agent, type Dispatcher, request } from 'undici';
import { STRONG_TLS } from '../../payment/tls.js';

/** Asks for a page over a connection of its own, by the same TLS as payments, and reads of it what is wanted. */
export async function requestOnce<T>(
  url: URL | string,
  signal: AbortSignal,
  read: (response: Dispatcher.ResponseData) => T | Promise<T>,
): Promise<T> {
  const dispatcher = new Agent({ connect: { ...STRONG_TLS } });
  try {
    const response = await request(url, { signal, dispatcher });
    response.body.on('error', () => undefined);
    return await read(response);
  } finally {
    await dispatcher.destroy();
  }
}
