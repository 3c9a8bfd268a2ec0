import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { GatewayTransport, type TransportSettings } from '../../../lib/gateway/transport/gateway-transport.js';
import type { Transmission, WireRequest } from '../../../lib/gateway/transport/attempt.js';
import { listen, rawServer, type RawServer } from '../../rigs/sockets.js';

const SETTINGS: TransportSettings = { timeoutMs: 10_000, connectTimeoutMs: 5_000, keepAliveMs: 4_000 };

/** A request to `url`, whose body shows whether it arrived as a whole. */
export function requestTo(url: string): WireRequest {
  return { url, headers: { 'x-ClientSecret': 'sesame' }, body: '{"name":"Şükrü Ağaç","amount":60.00}' };
}

const closing: (() => Promise<unknown>)[] = [];

/** To be called in `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

export function transportOf(settings: Partial<TransportSettings> = {}): GatewayTransport {
  const transport = new GatewayTransport({ ...SETTINGS, ...settings });
  closing.push(() => transport.close());
  return transport;
}

/** Sends one after the other. In between, undici has a turn of the event loop to take its connection back. */
export async function postEach(transport: GatewayTransport, requests: readonly WireRequest[]): Promise<Transmission[]> {
  const transmissions = [];
  for (const request of requests) {
    transmissions.push(await transport.post(request));
    await nextTurn();
  }
  return transmissions;
}

/** An agent of the host's own. */
export function agentOf(options?: Agent.Options): Agent {
  const agent = new Agent(options);
  closing.push(() => agent.destroy());
  return agent;
}

/** A dispatcher of the host's own, between the transport and undici. */
export function dispatcherOf(dispatch: Dispatcher['dispatch']): Dispatcher {
  return { dispatch } as Dispatcher;
}

export interface Arrival {
  readonly request: IncomingMessage;
  /** The client's port, which tells connections apart. */
  readonly port: number | undefined;
  readonly body: string;
}

/** An HTTP server that keeps the requests which arrive as a whole, and answers with `answer`. */
export async function gateway(
  answer: (response: ServerResponse) => void = (response) => response.end('{}'),
): Promise<{ url: string; arrivals: Arrival[] }> {
  const arrivals: Arrival[] = [];
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      arrivals.push({ request, port: request.socket.remotePort, body: Buffer.concat(chunks).toString() });
      answer(response);
    });
  });
  // Long enough that only the client ends connections.
  server.keepAliveTimeout = 60_000;
  return { url: `http://${await listening(server)}/pay`, arrivals };
}

/** A TCP or TLS server that does not speak HTTP: see {@link rawServer}. */
export async function wiretap(...given: Parameters<typeof rawServer>): Promise<RawServer & { url: string }> {
  const server = await rawServer(...given);
  closing.push(() => server.close());
  const [, secure] = given;
  return { ...server, url: `${secure ? 'https' : 'http'}://127.0.0.1:${server.port}/pay` };
}

/** Listens on a free port until the test ends. */
export async function listening(server: Server | ReturnType<typeof createHttpServer>): Promise<string> {
  const listener = await listen(server);
  closing.push(() => listener.close());
  return `127.0.0.1:${listener.port}`;
}
