import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** Serves a folder as GitHub Pages does, under the path of the repository. */
export async function serveSite(folder: string, base: string): Promise<{ origin: string; close: () => void }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const file = pathname.startsWith(base) ? fileOf(folder, decodeURIComponent(pathname.slice(base.length))) : null;
    const found = file ?? join(folder, '404.html');
    response.writeHead(file === null ? 404 : 200, { 'content-type': TYPES[extname(found)] ?? 'text/plain' });
    response.end(readFileSync(found));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => server.close() };
}

function fileOf(folder: string, path: string): string | null {
  const candidates = [path, `${path}.html`, join(path, 'index.html')].map((name) => join(folder, name));
  return candidates.find((name) => existsSync(name) && statSync(name).isFile()) ?? null;
}
