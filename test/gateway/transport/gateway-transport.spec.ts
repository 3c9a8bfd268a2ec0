import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { replyText } from '../../../lib/gateway/transport/attempt.js';
import { selfSigned } from '../../rigs/certificates.js';
import { agentOf, closeAll, gateway, postEach, requestTo, transportOf, wiretap } from './gateways.js';

const failedBy = (errorCode: string) => ({ sent: false, cause: 'connection_failed', errorCode });
const CONNECTION_LOST = { sent: true, reply: null, cause: 'connection_lost' };
/** Which code it is depends on what the system had read by then. */
const SOCKET_CODES = /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|UND_ERR_HEADERS_OVERFLOW|HTTPParserError)$/;
const SOCKET_LOST = { ...CONNECTION_LOST, errorCode: expect.stringMatching(SOCKET_CODES) as string };
const DEADLINE = { sent: true, reply: null, cause: 'deadline' };
const TOO_LARGE = { sent: true, reply: null, cause: 'reply_too_large' };

describe('gateway transport', () => {
  afterEach(closeAll);

  describe('what is written', () => {
    it('carries what an interceptor of the host adds, and nothing that would change the rest', async () => {
      const { url, arrivals } = await gateway();
      const transport = transportOf();
      transport.http.axiosRef.interceptors.request.use((config) => {
        config.headers.set({
          traceparent: '00-1-2-01',
          'X-CLIENTSECRET': 'forged',
          'Content-Length': '3',
          'Transfer-Encoding': 'chunked',
          'Content-Type': 'text/plain',
          'Accept-Encoding': 'zstd',
        });
        const elsewhere = { url: 'http://elsewhere.example/', baseURL: 'http://x.example' };
        return { ...config, ...elsewhere, data: 'forged', method: 'get' };
      });
      expect(await transport.post(requestTo(url))).toMatchObject({ sent: true, reply: { status: 200 } });
      const [{ request, body } = { request: undefined, body: '' }] = arrivals;
      expect([request?.method, body]).toEqual(['POST', requestTo(url).body]);
      expect(request?.headers).toMatchObject({
        traceparent: '00-1-2-01',
        'x-clientsecret': 'sesame',
        'content-length': '41',
        'content-type': 'application/json',
        'accept-encoding': 'gzip',
      });
      expect(request?.headers['transfer-encoding']).toBeUndefined();
    });

    it('is the same once someone has taken the axios instance, whose interceptors are then heard', async () => {
      const { url, arrivals } = await gateway((response) => void response.end('{"code":"B0000"}'));
      const transport = transportOf();
      const before = await transport.post(requestTo(url));
      transport.http.axiosRef.interceptors.request.use((config) => {
        config.headers.set('x-shop', 'ours');
        return config;
      });
      expect(await transport.post(requestTo(url))).toEqual(before);
      const [one, other] = arrivals.map(({ request, body }) => [request.method, request.url, request.headers, body]);
      expect(other).toEqual([one?.[0], one?.[1], { ...(one?.[2] as object), 'x-shop': 'ours' }, one?.[3]]);
    });

    it('goes straight to the gateway, whatever the environment says of proxies', async () => {
      const { url, arrivals } = await gateway();
      const proxy = await gateway();
      const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
      const before = { ...process.env };
      try {
        for (const name of names) process.env[name] = proxy.url;
        await postEach(transportOf(), [requestTo(url), requestTo(url.replace('http:', 'https:'))]);
      } finally {
        for (const name of names) delete process.env[name];
        Object.assign(process.env, before);
      }
      expect([arrivals.length, proxy.arrivals.length]).toEqual([1, 0]);
    });
  });

  describe('an answer', () => {
    const TEXT = '{"code":"B0000","message":"Onaylandı, Şükrü"}';
    const [latin1, utf8] = [Buffer.from([0x22, 0xe9, 0x22]), Buffer.from(TEXT)];

    it.each<[body: Buffer, encoding: string, type: string, text: string | null]>([
      [utf8, '', '', TEXT],
      [Buffer.from(`\uFEFF${TEXT}`), 'identity', 'text/plain', TEXT],
      [utf8, '', 'text/json; charset=iso-8859-1', TEXT],
      [gzipSync(TEXT), 'gzip', 'application/json', TEXT],
      [latin1, '', 'x; charset=nonsense', '"é"'],
      [latin1, '', 'x; charset=utf-8', '"é"'],
      [Buffer.from([0xde, 0xfe]), '', 'application/json; charset="windows-1254"', 'Şş'],
      [utf8, 'gzip', '', null],
      [gzipSync(TEXT).subarray(0, 20), 'gzip', '', null],
      [utf8, 'br', '', null],
    ])('is decoded: %# (%s, %s, %s)', (body, encoding, type, text) => {
      const reply = replyText(body, { 'content-encoding': encoding, 'content-type': type });
      expect(reply).toEqual(text === null ? { cause: 'reply_unreadable' } : { text });
    });
  });

  describe('connections', () => {
    const announcing = (header: string) => (response: ServerResponse) => {
      if (header !== '') response.setHeader('Keep-Alive', header);
      response.end('{}');
    };

    it.each([
      ['are kept alive', 4_000, '', 1],
      ['are used once where keepAliveMs is 0', 0, '', 3],
      ['are not used again where the gateway announces that it will close them', 4_000, 'timeout=1', 3],
    ])('%s', async (_how, keepAliveMs, header, connections) => {
      const { url, arrivals } = await gateway(announcing(header));
      await postEach(transportOf({ keepAliveMs }), [requestTo(url), requestTo(url), requestTo(url)]);
      expect(new Set(arrivals.map(({ port }) => port)).size).toBe(connections);
    });

    it('are kept no longer than keepAliveMs, whatever the gateway announces', async () => {
      const { url, arrivals } = await gateway(announcing('timeout=600'));
      const transport = transportOf({ keepAliveMs: 200 });
      await transport.post(requestTo(url));
      const socket = arrivals[0]?.request.socket;
      if (socket && !socket.destroyed) await once(socket, 'close');
      await transport.post(requestTo(url));
      expect(new Set(arrivals.map(({ port }) => port)).size).toBe(2);
    });
  });

  describe('not sent', () => {
    it('is what goes to an address that is none, or after the end', async () => {
      const { url, arrivals } = await gateway();
      const transport = transportOf();
      expect(await transport.post(requestTo('no address'))).toEqual(failedBy('ERR_INVALID_URL'));
      await transport.close();
      expect(await transport.post(requestTo(url))).toEqual(failedBy('UND_ERR_DESTROYED'));
      expect(arrivals).toHaveLength(0);
    });

    it('is what meets a certificate for another name', async () => {
      const other = selfSigned('other.example');
      const { url, received } = await wiretap(undefined, other);
      const dispatcher = agentOf({ connect: { ca: other.cert } });
      const post = transportOf({ dispatcher }).post(requestTo(url));
      expect(await post).toEqual(failedBy('ERR_TLS_CERT_ALTNAME_INVALID'));
      expect(received()).toBe('');
    });

    it('is what meets a certificate that nobody vouches for, whatever the environment says', async () => {
      const { url, received } = await wiretap(undefined, selfSigned('127.0.0.1'));
      await runInNode("process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'");
      const post = transportOf().post(requestTo(url));
      const clear = (): Promise<void> => runInNode('delete process.env.NODE_TLS_REJECT_UNAUTHORIZED');
      expect(await post.finally(clear)).toEqual(failedBy('DEPTH_ZERO_SELF_SIGNED_CERT'));
      expect(received()).toBe('');
    });
  });

  describe('sent and lost', () => {
    it.each<[string, answer: string]>([
      ['closed in the middle of the headers', 'HTTP/1.1 200 OK\r\ncontent-le'],
      ['answered with something else than HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
      ['upgraded', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ])('%s', async (_how, answer) => {
      const { url, received } = await wiretap((socket, text) => text.endsWith('}') && socket.end(answer));
      expect(await transportOf().post(requestTo(url))).toEqual(SOCKET_LOST);
      expect(received().split('POST /pay')).toHaveLength(2);
    });

    it('reset in the middle of the request', async () => {
      const { url, received } = await wiretap((socket) => socket.resetAndDestroy());
      const body = 'x'.repeat(32 * 1024 * 1024);
      expect(await transportOf().post({ ...requestTo(url), body })).toEqual(SOCKET_LOST);
      expect(received().split('POST /pay')).toHaveLength(2);
      expect(received().length).toBeLessThan(body.length);
    });

    it('because the application ends', async () => {
      const transport = transportOf();
      const { url } = await gateway(() => void transport.close());
      expect(await transport.post(requestTo(url))).toEqual({ ...CONNECTION_LOST, errorCode: 'UND_ERR_DESTROYED' });
    });

    it('ends at the deadline, though hints came, hangs up, and a late answer changes nothing', async () => {
      let hungUp: Promise<unknown> = Promise.resolve();
      const { url, arrivals } = await gateway((response) => {
        response.writeEarlyHints({ link: '</x>; rel=preload' });
        hungUp = once(response, 'close').then(() => response.end('{"code":"B0000"}'));
      });
      const posting = transportOf({ timeoutMs: 300 }).post(requestTo(url));
      expect(await posting).toEqual(DEADLINE);
      await hungUp;
      expect(await posting).toEqual(DEADLINE);
      expect(arrivals).toHaveLength(1);
    });
  });

  describe('too large an answer', () => {
    it('without end is cut off', async () => {
      let cut: Promise<unknown> = Promise.resolve();
      const { url } = await gateway((response) => {
        cut = once(response, 'close');
        const more = (): boolean => response.destroyed || (response.write(' '.repeat(65_536)) && more());
        response.on('drain', more);
        more();
      });
      expect(await transportOf().post(requestTo(url))).toEqual(TOO_LARGE);
      await cut;
    });

    const most = 'x'.repeat(1_048_576);
    it.each<[string, encoding: string, body: Buffer, outcome: object]>([
      ['a byte too many, packed', 'gzip', gzipSync(`${most}x`), TOO_LARGE],
      ['not a byte too many, packed', 'gzip', gzipSync(most), { sent: true, reply: { status: 200, text: most } }],
    ])('%s', async (_what, encoding, body, outcome) => {
      const { url } = await gateway((response) => response.writeHead(200, { 'content-encoding': encoding }).end(body));
      expect(await transportOf().post(requestTo(url))).toEqual(outcome);
    });
  });
});

/** Runs it in the real environment, which Node reads itself; Jest gives tests a copy. */
async function runInNode(code: string): Promise<void> {
  await once(new Worker(code, { eval: true, env: SHARE_ENV }), 'exit');
}
