import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { SimulatorOperation } from './ledger.js';

/** A request as it reached the gateway. It holds the card: it is for tests only, and is gone when the process ends. */
export interface RecordedRequest {
  /** null for a path that the gateway does not have. */
  operation: SimulatorOperation | null;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The number of its connection: requests with the same number shared one. */
  readonly connection: number;
  readonly at: Date;
  /** The body as it was received; empty when it was not read. */
  text: string;
  /** The body parsed; undefined when it is not JSON. */
  body: unknown;
  /** Why the request was refused: a code and what is wrong, without values. */
  refusal: { readonly code: string; readonly message: string; readonly problems: readonly string[] } | null;
  /** The kind of the fault that was played on it. */
  fault: string | null;
  /** What was answered; null when nothing was, or not all of it. */
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string } | null;
}

/** An answer as it is sent. */
export interface WireReply {
  readonly status: number;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** @returns null when the connection was lost before the end of the body */
export async function receiveText(request: IncomingMessage): Promise<string | null> {
  // Joined as strings: small Buffers share memory, which would keep the card.
  request.setEncoding('utf8');
  let text = '';
  try {
    for await (const part of request) text += String(part);
  } catch {
    return null;
  }
  return text;
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Answers a browser. */
export function showPage(response: ServerResponse, status: number, page: string): void {
  response.writeHead(status, PAGE_HEADERS).end(page);
}
