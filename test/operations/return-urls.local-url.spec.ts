import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localUrlOf } from '../../lib/operations/return-urls.js';

async function whileListening<T>(server: Server, address: object, look: (port: number) => T): Promise<T> {
  await new Promise<void>((resolve) => server.listen(address, resolve));
  try {
    return look((server.address() as AddressInfo).port);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

it.each(['0.0.0.0', '127.0.0.1', 'localhost'])('the local URL is localhost for a server on %s', async (host) => {
  const server = createServer();
  await whileListening(server, { port: 0, host }, (port) =>
    expect(localUrlOf(server)).toBe(`http://localhost:${port}`),
  );
});

it('the local URL is localhost for a server without a host', async () => {
  const server = createServer();
  await whileListening(server, { port: 0 }, (port) => expect(localUrlOf(server)).toBe(`http://localhost:${port}`));
});

it('the local URL has the address of a server that listens on that address only', async () => {
  const server = createServer();
  await whileListening(server, { port: 0, host: '127.0.0.2' }, (port) =>
    expect(localUrlOf(server)).toBe(`http://127.0.0.2:${port}`),
  );
});

it.each([
  ['fd00::7', 'IPv6', 'http://[fd00::7]:81'],
  ['192.0.2.7', 'IPv4', 'http://192.0.2.7:81'],
  ['::', 'IPv6', 'http://localhost:81'],
  ['::1', 'IPv6', 'http://localhost:81'],
])('the local URL for a server on %s (%s) is %s', (address, family, url) => {
  const server = Object.assign(createServer(), { address: () => ({ address, family, port: 81 }) });
  expect(localUrlOf(server)).toBe(url);
});

it('the local URL is https for a server with TLS', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'local-url-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-keyout',
    key,
    '-out',
    cert,
  ];
  execFileSync('openssl', args, { stdio: 'ignore' });
  const server = createHttpsServer({ key: readFileSync(key), cert: readFileSync(cert) });
  rmSync(folder, { recursive: true });
  await whileListening(server, { port: 0 }, (port) => expect(localUrlOf(server)).toBe(`https://localhost:${port}`));
});

it('the local URL has no port when the server does not listen, listens on a Unix socket, or does not exist', async () => {
  const server = createServer();
  expect(localUrlOf(server)).toBe('http://localhost');
  await whileListening(createServer(), { port: 0 }, () => expect(localUrlOf(undefined)).toBe('http://localhost'));
  const folder = mkdtempSync(join(tmpdir(), 'local-url-'));
  await new Promise<void>((resolve) => server.listen(join(folder, 'shop.sock'), resolve));
  expect(localUrlOf(server)).toBe('http://localhost');
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});
