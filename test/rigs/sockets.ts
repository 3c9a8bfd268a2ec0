import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A server on a loopback port. */
export interface Listener {
  readonly port: number;
  /** How many connections were made to it. */
  connections(): number;
  close(): Promise<void>;
}

/** A server below HTTP, which keeps what came over its connections: with TLS, after the handshake. */
export interface RawServer extends Listener {
  /** A text for each connection. */
  readonly texts: readonly string[];
  received(): string;
}

/** Takes connections and says nothing, not even to a TLS handshake, unless `onData` does: it is given all that came. */
export function rawServer(onData?: (socket: Socket, text: string) => unknown, secure?: TlsOptions): Promise<RawServer> {
  const texts: string[] = [];
  const server = secure ? createTlsServer(secure) : createServer();
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    const index = texts.push('') - 1;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      texts[index] += chunk.toString();
      onData?.(socket, texts[index]!);
    });
  });
  const listening = listen(server.on('tlsClientError', () => undefined));
  return listening.then((listener) => ({ ...listener, texts, received: () => texts.join('') }));
}

export function tlsServer(options: TlsOptions): Promise<RawServer> {
  return rawServer(undefined, options);
}

/** Passes bytes on to a port, once `open` resolves. */
export function gate(to: number, { port = 0, open = Promise.resolve() }: { port?: number; open?: Promise<void> } = {}) {
  const server = createServer((socket) => {
    void open.then(() => {
      const onward = connect(to, '127.0.0.1');
      onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.on('close', () => onward.destroy());
      socket.pipe(onward).pipe(socket);
    });
  });
  return listen(server, port);
}

/** Answers without end, a byte at a time. */
export function drippingServer(): Promise<RawServer> {
  const dripping = new Set<Socket>();
  return rawServer((socket) => {
    if (dripping.has(socket)) return;
    dripping.add(socket);
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n');
    const drip = setInterval(() => socket.write(' '), 20);
    socket.on('close', () => clearInterval(drip));
  });
}

/** A port that nothing listens on. */
export async function closedPort(): Promise<number> {
  const server = await rawServer();
  await server.close();
  return server.port;
}

/** Listens, by default on a free port. Its `close` ends the connections. */
export async function listen(server: Server | HttpServer, port = 0): Promise<Listener> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
