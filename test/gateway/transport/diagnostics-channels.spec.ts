import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { GatewayTransport } from '../../../lib/gateway/transport/gateway-transport.js';

const CARD = '5246776356903508';
const SECRET = 'a-client-secret';
const PAGE = 'the-page-of-the-bank';

/** What each channel shows: the headers and the body of the request, and the body of the reply. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  'undici:client:beforeConnect': [],
  'undici:client:connected': [],
  'undici:request:create': [SECRET],
  'undici:client:sendHeaders': [SECRET],
  'undici:request:bodyChunkSent': [SECRET, CARD],
  'undici:request:bodySent': [SECRET],
  'undici:request:headers': [SECRET],
  'undici:request:bodyChunkReceived': [SECRET, PAGE],
  'undici:request:trailers': [SECRET],
};
/** Channels of Node's own HTTP client, which this module does not use. */
const SILENT = ['http.client.request.created', 'http.client.request.start', 'http.client.response.finish'];

describe('what subscribers to diagnostics channels see', () => {
  let server: Server;
  let transport: GatewayTransport;
  let undo: (() => void)[];

  function watch(name: string, see: (message: unknown) => void): void {
    subscribe(name, see);
    undo.push(() => unsubscribe(name, see));
  }

  function send() {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return transport.post({ url, headers: { 'x-ClientSecret': SECRET }, body: JSON.stringify({ cardNo: CARD }) });
  }

  beforeAll(async () => {
    server = createServer((request, response) => request.resume().on('end', () => response.end(PAGE)));
    await new Promise<void>((go) => server.listen(0, '127.0.0.1', go));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    undo = [];
    transport = new GatewayTransport({ timeoutMs: 5_000, connectTimeoutMs: 5_000, keepAliveMs: 4_000 });
  });
  afterEach(async () => {
    for (const one of undo) one();
    await transport.close();
  });

  it('is what docs/internals/diagnostics.md says', async () => {
    const seen = new Map<string, string>();
    for (const name of [...Object.keys(SHOWN), ...SILENT]) {
      watch(name, (message) => seen.set(name, `${seen.get(name) ?? ''} ${textOf(message)}`));
    }
    expect(await send()).toMatchObject({ sent: true, reply: { status: 200, text: PAGE } });
    const shown = [...seen].map(([name, text]) => [name, [SECRET, CARD, PAGE].filter((part) => text.includes(part))]);
    expect(Object.fromEntries(shown)).toEqual(SHOWN);
  });

  it('may be the body, and the answer of a request whose body was taken away is lost', async () => {
    watch('undici:request:create', (message) => {
      const { request } = message as { request: { body: Iterable<Uint8Array> } };
      expect(Buffer.concat([...request.body]).toString()).toContain(CARD);
    });
    expect(await send()).toMatchObject({ sent: true, reply: null });
  });
});

/** What a subscriber can easily read in a message. */
function textOf(message: unknown): string {
  const { chunk, request, headers } = message as { chunk?: Uint8Array; request?: object; headers?: unknown };
  return [chunk ? Buffer.from(chunk).toString() : '', inspect(request, { depth: 3 }), inspect(headers)].join(' ');
}
