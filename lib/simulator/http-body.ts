import type { IncomingMessage } from 'node:http';

/** @returns null when the connection was lost before the body's end */
export async function receiveText(request: IncomingMessage): Promise<string | null> {
  // Not joined as a Buffer, which would leave the card in memory that all small Buffers share.
  request.setEncoding('utf8');
  let text = '';
  try {
    for await (const part of request) text += String(part);
  } catch {
    return null;
  }
  return text;
}
