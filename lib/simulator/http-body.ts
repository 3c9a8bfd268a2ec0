import type { IncomingMessage } from 'node:http';

/** @returns null when the connection was lost before the body's end */
export async function receiveText(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString();
}
