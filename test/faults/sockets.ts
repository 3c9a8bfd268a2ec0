import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A server on a loopback port, below HTTP. */
export interface Listener {
  readonly port: number;
  /** How many connections were made to it. */
  connections(): number;
  /** The bytes that came over them, as Latin-1 text. */
  received(): string;
  close(): Promise<void>;
}

/** Takes connections and says nothing, not even to a TLS handshake. */
export function silentServer(port = 0): Promise<Listener> {
  return listen(createServer(), 'connection', port);
}

/** A TLS server: it records what came after the handshake. */
export function tlsServer(options: TlsOptions): Promise<Listener> {
  const server = createTlsServer(options);
  server.on('tlsClientError', () => undefined);
  return listen(server, 'secureConnection');
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
  return listen(server, null, port);
}

/** Answers without end, a byte at a time. */
export function drippingServer(): Promise<Listener> {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n');
      const drip = setInterval(() => socket.write(' '), 20);
      socket.on('close', () => clearInterval(drip));
    });
  });
  return listen(server, 'connection');
}

/** A port that nothing listens on. */
export async function closedPort(): Promise<number> {
  const server = await silentServer();
  await server.close();
  return server.port;
}

async function listen(server: Server, records: 'connection' | 'secureConnection' | null, port = 0): Promise<Listener> {
  const sockets = new Set<Socket>();
  const chunks: string[] = [];
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  if (records) {
    server.on(records, (socket: Socket) => {
      socket.on('error', () => undefined).on('data', (chunk: Buffer) => chunks.push(chunk.toString('latin1')));
    });
  }
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    received: () => chunks.join(''),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
