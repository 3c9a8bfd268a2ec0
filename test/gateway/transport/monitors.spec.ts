import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
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

let server: Server;
let transport: GatewayTransport;
let warnings: string[];
let undo: (() => void)[];

describe('monitors', () => {
  beforeAll(async () => {
    server = createServer((request, response) => request.resume().on('end', () => response.end(PAGE)));
    await new Promise<void>((go) => server.listen(0, '127.0.0.1', go));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    warnings = [];
    undo = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((text: unknown) => void warnings.push(String(text)));
    transport = new GatewayTransport({ timeoutMs: 5_000, connectTimeoutMs: 5_000, keepAliveMs: 4_000 });
  });
  afterEach(async () => {
    for (const one of undo) one();
    await transport.close();
  });

  it('channels show of a payment what docs/internals/diagnostics.md says', async () => {
    const seen = new Map<string, string>();
    for (const name of [...Object.keys(SHOWN), ...SILENT]) {
      watch(name, (message) => seen.set(name, `${seen.get(name) ?? ''} ${textOf(message)}`));
    }
    await send();
    const shown = [...seen].map(([name, text]) => [name, [SECRET, CARD, PAGE].filter((part) => text.includes(part))]);
    expect(Object.fromEntries(shown)).toEqual(SHOWN);
  });

  it('whoever takes the body away is seen as a lost answer', async () => {
    watch('undici:request:create', (message) => {
      const { request } = message as { request: { body: Iterable<Uint8Array> } };
      expect(Buffer.concat([...request.body]).toString()).toContain(CARD);
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const transmission = await transport.post({ url, headers: {}, body: JSON.stringify({ cardNo: CARD }) });
    expect(transmission).toMatchObject({ sent: true, reply: null });
  });

  it('nobody who watches is nothing to warn of', async () => {
    watch('undici:client:connected');
    for (const name of SILENT) watch(name);
    await send();
    expect(warnings).toEqual([]);
  });

  it.each(Object.entries(SHOWN).flatMap(([name, parts]) => (parts.length > 0 ? [name] : [])))(
    'whoever subscribes to %s is warned of once, by the name of the channel alone',
    async (name) => {
      watch(name);
      await send();
      watch('undici:request:error');
      await send();
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(`subscribed to ${name}: `);
      expect(warnings[0]).not.toMatch(new RegExp([CARD, SECRET, PAGE].join('|')));
    },
  );

  it('whoever subscribes after the first payment is warned of, too', async () => {
    await send();
    expect(warnings).toEqual([]);
    watch('undici:request:bodyChunkSent');
    watch('undici:request:create');
    await send();
    expect(warnings).toEqual([expect.stringContaining('undici:request:create, undici:request:bodyChunkSent: ')]);
  });
});

function watch(name: string, see: (message: unknown) => void = () => undefined): void {
  subscribe(name, see);
  undo.push(() => unsubscribe(name, see));
}

async function send(): Promise<void> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/Payment/DoPayment`;
  const headers = { 'x-ClientSecret': SECRET };
  const transmission = await transport.post({ url, headers, body: JSON.stringify({ cardNo: CARD }) });
  expect(transmission).toMatchObject({ sent: true, reply: { status: 200, text: PAGE } });
}

/** What a monitor can easily read in a message. */
function textOf(message: unknown): string {
  const { chunk, request, headers } = message as { chunk?: Uint8Array; request?: object; headers?: unknown };
  return [chunk ? Buffer.from(chunk).toString() : '', inspect(request, { depth: 3 }), inspect(headers)].join(' ');
}
