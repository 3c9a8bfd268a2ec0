import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { Agent, type Dispatcher } from 'undici';
import { GatewayTransport, type TransportSettings } from '../../../lib/gateway/transport/gateway-transport.js';
import type { Transmission, WireRequest } from '../../../lib/gateway/transport/attempt.js';

const SETTINGS: TransportSettings = { timeoutMs: 10_000, connectTimeoutMs: 5_000, keepAliveMs: 4_000 };

/** A request to `url`, whose body shows whether it arrived as a whole. */
export function requestTo(url: string): WireRequest {
  return { url, headers: { 'x-ClientSecret': 'sesame' }, body: '{"name":"Şükrü Ağaç","amount":60.00}' };
}

const closing: (() => Promise<unknown>)[] = [];

/** What is closed at the end of the test, in reverse order. */
export function whenDone(close: () => Promise<unknown>): void {
  closing.push(close);
}

/** To be called in `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

export function transportOf(settings: Partial<TransportSettings> = {}): GatewayTransport {
  const transport = new GatewayTransport({ ...SETTINGS, ...settings });
  whenDone(() => transport.close());
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
  whenDone(() => agent.destroy());
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
  answer: (response: ServerResponse, arrivals: Arrival[]) => void = (response) => response.end('{}'),
): Promise<{ url: string; arrivals: Arrival[] }> {
  const arrivals: Arrival[] = [];
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      arrivals.push({ request, port: request.socket.remotePort, body: Buffer.concat(chunks).toString() });
      answer(response, arrivals);
    });
  });
  // Long enough that only the client ends connections.
  server.keepAliveTimeout = 60_000;
  return { url: `http://${await listening(server)}/pay`, arrivals };
}

/** What a server received: one text for each connection. */
export interface Wiretap {
  readonly url: string;
  readonly received: string[];
  /** How many requests were started. */
  posts(): number;
}

/** A TCP server that does not speak HTTP, with `secure` over TLS. `text` is all that came over the connection. */
export async function wiretap(
  onData: (socket: Socket, text: string) => unknown = () => undefined,
  secure?: TlsOptions,
): Promise<Wiretap> {
  const received: string[] = [];
  const listener = (socket: Socket): void => {
    const index = received.push('') - 1;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received[index] += chunk.toString();
      onData(socket, received[index] ?? '');
    });
  };
  const server = secure ? createTlsServer(secure, listener) : createNetServer(listener);
  const address = await listening(server.on('tlsClientError', () => undefined));
  const posts = (): number => received.join('').split('POST /pay HTTP/1.1').length - 1;
  return { url: `${secure ? 'https' : 'http'}://${address}/pay`, received, posts };
}

/** Listens on a free port until the test ends. */
export async function listening(server: Server | NetServer): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  whenDone(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An address where nothing listens. */
export async function nowhere(): Promise<string> {
  const server = createNetServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/pay`;
}
