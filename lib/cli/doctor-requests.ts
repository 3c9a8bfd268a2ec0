import { Agent, request } from 'undici';
import { SystemClock, TimeoutError, withTimeout } from '../runtime/clock.js';
import { STRONG_TLS } from '../runtime/network.js';

/** What a server answered. */
export interface Reply {
  readonly status: number;
  readonly date: Date;
  /** As much of its text as was wanted. */
  readonly text: string;
}

/**
 * Requests a page over a separate connection, with the same TLS as payments.
 *
 * @param maxBytes about how much of the page is read: it may never end
 */
export async function requestOnce(url: URL | string, signal: AbortSignal, maxBytes = 0): Promise<Reply> {
  // As strict as for payments, whatever NODE_TLS_REJECT_UNAUTHORIZED says.
  const dispatcher = new Agent({ connect: { ...STRONG_TLS, rejectUnauthorized: true } });
  try {
    const { statusCode: status, headers, body } = await request(url, { signal, dispatcher });
    body.on('error', () => undefined);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of maxBytes === 0 ? [] : (body as AsyncIterable<Buffer>)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= maxBytes) break;
    }
    const text = Buffer.concat(chunks).subarray(0, maxBytes).toString();
    return { status, date: new Date(String(headers['date'])), text };
  } finally {
    await dispatcher.destroy();
  }
}

/**
 * Waits for the work, but no longer than this. Then the signal aborts, so that the work can close what it has opened.
 *
 * @throws TimeoutError
 */
export async function withinTime<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  try {
    return await withTimeout(ms, () => work(stop.signal), new SystemClock());
  } finally {
    stop.abort();
  }
}

/** The reason of a failure on the network: the error's code. No other part of the error is shown. */
export function causeOf(error: unknown): string {
  if (error instanceof TimeoutError) return 'no answer in time';
  return codeOf(error) ?? codeOf((Object(error) as { cause?: unknown }).cause) ?? 'no reason was given';
}

function codeOf(error: unknown): string | null {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_/]{1,60}$/.test(code) ? code : null;
}
