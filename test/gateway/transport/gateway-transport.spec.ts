import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Agent, RetryAgent } from 'undici';
import { GatewayTransport, type TransportSettings } from '../../../lib/gateway/transport/gateway-transport.js';

const SETTINGS: TransportSettings = { timeoutMs: 5_000, connectTimeoutMs: 2_000, keepAliveMs: 4_000 };
const REQUEST = { headers: { 'x-test': 'yes' }, body: '{"name":"Şükrü Ağaç","amount":60.00}' };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function transportOf(settings: Partial<TransportSettings> = {}): GatewayTransport {
  const transport = new GatewayTransport({ ...SETTINGS, ...settings });
  closing.push(() => transport.close());
  return transport;
}

async function listening(server: Server | NetServer): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/pay`;
}

interface Arrival {
  readonly request: IncomingMessage;
  readonly body: string;
  readonly port: number | undefined;
}

/** A gateway that notes what arrives and answers as it is told. */
async function gateway(
  answer: (response: ServerResponse, arrivals: Arrival[]) => void = (response) => response.end('{}'),
): Promise<{ url: string; arrivals: Arrival[] }> {
  const arrivals: Arrival[] = [];
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      arrivals.push({ request, body: Buffer.concat(chunks).toString(), port: request.socket.remotePort });
      answer(response, arrivals);
    });
  });
  return { url: await listening(server), arrivals };
}

describe('what is written', () => {
  it('is the body to the byte, with its length, and the headers', async () => {
    const { url, arrivals } = await gateway((response) => response.end('{"code":"B0000"}'));
    expect(await transportOf().post({ ...REQUEST, url })).toEqual({
      sent: true,
      reply: { status: 200, text: '{"code":"B0000"}' },
    });
    const [{ body, request } = { body: '', request: undefined }] = arrivals;
    expect(body).toBe(REQUEST.body);
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(REQUEST.body)),
      'x-test': 'yes',
    });
  });

  it('carries what an interceptor of the host adds', async () => {
    const { url, arrivals } = await gateway();
    const transport = transportOf();
    transport.http.axiosRef.interceptors.request.use((config) => {
      config.headers.set('traceparent', '00-1-2-01');
      return config;
    });
    await transport.post({ ...REQUEST, url });
    expect(arrivals[0]?.request.headers).toMatchObject({ traceparent: '00-1-2-01' });
  });

  it('goes straight to the gateway, whatever the environment says of proxies', async () => {
    const { url, arrivals } = await gateway();
    const proxy = await gateway();
    process.env['HTTP_PROXY'] = process.env['http_proxy'] = proxy.url;
    try {
      await transportOf().post({ ...REQUEST, url });
    } finally {
      delete process.env['HTTP_PROXY'];
      delete process.env['http_proxy'];
    }
    expect([arrivals.length, proxy.arrivals.length]).toEqual([1, 0]);
  });

  it('is not held back by other requests', async () => {
    const waiting: ServerResponse[] = [];
    const { url } = await gateway((response) => {
      waiting.push(response);
      if (waiting.length === 100) for (const one of waiting) one.end('{}');
    });
    const transport = transportOf();
    const posts = await Promise.all(Array.from({ length: 100 }, () => transport.post({ ...REQUEST, url })));
    expect(posts.every((post) => post.sent && post.reply?.status === 200)).toBe(true);
  });
});

describe('one transmission an attempt', () => {
  it('refuses a response interceptor that sends the request again', async () => {
    const { url, arrivals } = await gateway((response) => response.destroy());
    const transport = transportOf();
    const { axiosRef } = transport.http;
    let config: Parameters<typeof axiosRef.request>[0] | undefined;
    axiosRef.interceptors.request.use((seen) => (config = seen));
    let retries = 0;
    axiosRef.interceptors.response.use(undefined, (error: Error) => {
      retries += 1;
      return retries > 3 ? Promise.reject(error) : axiosRef.request(config ?? {});
    });
    expect(await transport.post({ ...REQUEST, url })).toEqual({ sent: true, reply: null, cause: 'connection_lost' });
    await expect(axiosRef.request(config ?? {})).rejects.toThrow(/transmits each payment request once/);
    expect(arrivals).toHaveLength(1);
  });

  it.each([
    ['before an answer', (response: ServerResponse): void => void response.destroy()],
    [
      'after half an answer',
      (response: ServerResponse): void => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"code":', () => response.destroy());
      },
    ],
  ])('cuts off a retrying dispatcher %s', async (_when, answer) => {
    const { url, arrivals } = await gateway(answer);
    const agent = new Agent();
    const dispatcher = new RetryAgent(agent, { methods: ['POST'], maxRetries: 3, minTimeout: 1, maxTimeout: 5 });
    closing.push(() => agent.destroy());
    expect(await transportOf({ dispatcher }).post({ ...REQUEST, url })).toMatchObject({ sent: true, reply: null });
    const second = await transportOf().post({ ...REQUEST, url });
    expect(second).toMatchObject({ sent: true, reply: null });
    expect(arrivals.map(({ body }) => body)).toEqual([REQUEST.body, REQUEST.body]);
  });

  it('keeps the HttpService to itself', async () => {
    const { url, arrivals } = await gateway();
    await expect(transportOf().http.axiosRef.post(url, {})).rejects.toThrow(/and nothing else/);
    expect(arrivals).toHaveLength(0);
  });

  it('is proof against interceptors that throw', async () => {
    const { url, arrivals } = await gateway((response) => response.end('{"code":"B0000"}'));
    const before = transportOf();
    before.http.axiosRef.interceptors.request.use(() => {
      throw new Error('tracing is down');
    });
    expect(await before.post({ ...REQUEST, url })).toEqual({ sent: false, cause: 'interceptor_failed' });
    expect(arrivals).toHaveLength(0);

    const after = transportOf();
    after.http.axiosRef.interceptors.response.use(() => {
      throw new Error('tracing is down');
    });
    expect(await after.post({ ...REQUEST, url })).toMatchObject({ sent: true, reply: { text: '{"code":"B0000"}' } });
  });

  it('hands interceptors errors that hold neither card nor headers', async () => {
    const { url } = await gateway((response) => response.destroy());
    const transport = transportOf();
    let seen: unknown;
    transport.http.axiosRef.interceptors.response.use(undefined, (error: unknown) => {
      seen = error;
      return Promise.reject(new Error('again'));
    });
    await transport.post({ ...REQUEST, url });
    await new Promise(setImmediate);
    expect(seen).toBeInstanceOf(Error);
    expect(Object.keys(seen as object)).toEqual([]);
  });
});

describe('what was not sent', () => {
  it('is a refused connection, and a name that is not found', async () => {
    const server = createServer();
    const url = await listening(server);
    await closing.pop()?.();
    const transport = transportOf();
    expect(await transport.post({ ...REQUEST, url })).toEqual({ sent: false, cause: 'connection_failed' });
    const nowhere = await transport.post({ ...REQUEST, url: 'http://nonexistent.invalid/' });
    expect(nowhere).toEqual({ sent: false, cause: 'connection_failed' });
  });

  it('is a TLS handshake that is never answered, and nothing leaves after the deadline', async () => {
    const received: Buffer[] = [];
    const server = createServer((socket) => socket.on('data', (chunk) => received.push(chunk)));
    const url = (await listening(server)).replace('http:', 'https:');
    const transport = transportOf({ timeoutMs: 300, connectTimeoutMs: 60_000 });
    expect(await transport.post({ ...REQUEST, url })).toEqual({ sent: false, cause: 'deadline' });
    expect(Buffer.concat(received).includes('Ağaç')).toBe(false);
  });
});

describe('what is read', () => {
  const text = '{"code":"B0000","message":"Onaylandı"}';
  it.each([
    ['with a BOM', {}, Buffer.from(`\uFEFF${text}`), text],
    ['gzipped', { 'content-encoding': 'gzip' }, gzipSync(text), text],
    ['deflated', { 'content-encoding': 'deflate' }, deflateSync(text), text],
    ['as brotli', { 'content-encoding': 'br' }, brotliCompressSync(text), text],
    ['as text/plain', { 'content-type': 'text/plain' }, Buffer.from(text), text],
    [
      'in Latin-1',
      { 'content-type': 'application/json; charset=iso-8859-1' },
      Buffer.from('{"a":"é"}', 'latin1'),
      '{"a":"é"}',
    ],
    [
      'in no known character set',
      { 'content-type': 'text/x; charset=nonsense' },
      Buffer.from('{"a":"é"}', 'latin1'),
      '{"a":"é"}',
    ],
  ])('an answer %s', async (_how, headers, body, expected) => {
    const { url } = await gateway((response) => response.writeHead(201, headers).end(body));
    expect(await transportOf().post({ ...REQUEST, url })).toEqual({
      sent: true,
      reply: { status: 201, text: expected },
    });
  });

  it.each([
    ['of 2 MiB', {}, Buffer.alloc(2 * 1024 * 1024, ' '), 'reply_too_large'],
    [
      'that unpacks to 50 MiB',
      { 'content-encoding': 'gzip' },
      gzipSync(Buffer.alloc(50 * 1024 * 1024)),
      'reply_too_large',
    ],
    ['that is not what it says', { 'content-encoding': 'gzip' }, Buffer.from(text), 'reply_unreadable'],
    ['in an unknown encoding', { 'content-encoding': 'zstd9' }, Buffer.from(text), 'reply_unreadable'],
  ])('no answer %s', async (_how, headers, body, cause) => {
    const { url } = await gateway((response) => response.writeHead(200, headers).end(body));
    expect(await transportOf().post({ ...REQUEST, url })).toEqual({ sent: true, reply: null, cause });
  });

  it('no redirect is followed', async () => {
    const other = await gateway();
    const { url } = await gateway((response) => response.writeHead(307, { location: other.url }).end());
    expect(await transportOf().post({ ...REQUEST, url })).toMatchObject({ reply: { status: 307 } });
    expect(other.arrivals).toHaveLength(0);
  });
});

describe('connections', () => {
  const ports = (arrivals: Arrival[]): (number | undefined)[] => arrivals.map(({ port }) => port);

  it('are kept alive, or used once where keepAliveMs is 0', async () => {
    const { url, arrivals } = await gateway();
    const kept = transportOf();
    await kept.post({ ...REQUEST, url });
    // undici frees a connection for the next request in the next turn.
    await new Promise(setImmediate);
    await kept.post({ ...REQUEST, url });
    const once = transportOf({ keepAliveMs: 0 });
    await once.post({ ...REQUEST, url });
    await once.post({ ...REQUEST, url });
    const [first, second, third, fourth] = ports(arrivals);
    expect(first).toBe(second);
    expect(third).not.toBe(fourth);
    expect(arrivals.slice(2).map(({ request }) => request.headers.connection)).toEqual(['close', 'close']);
  });

  it('are not used again where the gateway announces that it will close them', async () => {
    const { url, arrivals } = await gateway((response) => response.setHeader('Keep-Alive', 'timeout=1').end('{}'));
    const transport = transportOf();
    await transport.post({ ...REQUEST, url });
    await transport.post({ ...REQUEST, url });
    expect(new Set(ports(arrivals)).size).toBe(2);
  });
});
