import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Lets the next request through, and breaks the connection when its answer arrives. */
  loseNextAnswer(): void;
  /** Withholds every byte of the server from the client, on old and new connections. */
  freeze(): void;
  /** Ends the freeze for new connections; what was withheld is lost. */
  thaw(): void;
  /**
   * Holds what comes over the connections that are open now, and does not notice when a side closes; new connections
   * work. With `answers`, requests still get through.
   */
  hold(what?: 'everything' | 'answers'): void;
  /** Also holds everything on new connections. */
  holdNew(): void;
  /** Lets through what was held, however late it is. */
  release(): void;
  /** Breaks all connections and refuses new ones. */
  goDown(): Promise<void>;
  comeUp(): Promise<void>;
  /**
   * Leads new connections to another server. By default it breaks the others; without that they stay as they are, as
   * when an address moves to another host.
   */
  moveTo(target: Target, move?: Move): void;
  stop(): Promise<void>;
}

export interface Target {
  readonly port: number;
  readonly host?: string;
}

export interface Move {
  /** Default: true. */
  readonly breaks?: boolean;
}

/**
 * Stands between a client and a server, to break the connections between them.
 *
 * @param first the server, or what chooses one for each connection
 */
export async function startTcpProxy(first: Target | (() => Target)): Promise<TcpProxy> {
  let targetOf = typeof first === 'function' ? first : () => first;
  const sockets = new Set<Socket>();
  const upstreams = new WeakSet<Socket>();
  let holdsNew = false;
  let frozen = false;
  let losing = false;
  let lose = false;

  const server = createServer((client) => {
    let cutOff = frozen;
    const { port, host = '127.0.0.1' } = targetOf();
    const upstream = connect(port, host);
    upstreams.add(upstream);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    if (holdsNew) [client, upstream].forEach((socket) => socket.pause());
    client.on('data', (chunk) => {
      [losing, lose] = [losing || lose, false];
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (losing) {
        losing = false;
        client.destroy();
      } else if (!(cutOff ||= frozen)) {
        client.write(chunk);
      }
    });
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const goDown = async () => {
    if (server.listening) {
      const closed = once(server, 'close');
      server.close();
      sockets.forEach((socket) => socket.destroy());
      await closed;
    }
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;

  return {
    port,
    loseNextAnswer: () => void (lose = true),
    freeze: () => void (frozen = true),
    thaw: () => void (frozen = false),
    hold: (what = 'everything') =>
      sockets.forEach((socket) => (what === 'everything' || upstreams.has(socket)) && socket.pause()),
    holdNew: () => void (holdsNew = true),
    release: () => {
      holdsNew = false;
      sockets.forEach((socket) => socket.resume());
    },
    goDown,
    comeUp: () => listen(port),
    moveTo: (next, { breaks = true } = {}) => {
      targetOf = () => next;
      if (breaks) sockets.forEach((socket) => socket.destroy());
    },
    stop: goDown,
  };
}
