import { type AddressInfo, Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** Every address of this machine, and those that lead to it alone: browsers know it best as localhost. */
const LOCALHOST: ReadonlySet<string> = new Set(['0.0.0.0', '::', '127.0.0.1', '::1']);

/**
 * Where a browser on this machine finds an HTTP server. One that does not listen (an application that is not started, or
 * whose tests hand it requests without a socket) has no port: then the path alone means something.
 */
export function localUrlOf(server: unknown): string {
  const scheme = server instanceof TlsServer ? 'https' : 'http';
  const address = server instanceof Server ? server.address() : null;
  if (address === null || typeof address === 'string') return `${scheme}://localhost`;
  return `${scheme}://${hostOf(address)}:${address.port}`;
}

function hostOf({ address, family }: AddressInfo): string {
  if (LOCALHOST.has(address)) return 'localhost';
  return family === 'IPv6' ? `[${address}]` : address;
}
