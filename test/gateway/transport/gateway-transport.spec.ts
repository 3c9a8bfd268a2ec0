import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Agent, type Dispatcher } from 'undici';
import { replyText } from '../../../lib/gateway/transport/attempt.js';
import { closeAll, gateway, postEach, requestTo, transportOf, wiretap } from './gateways.js';

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

    it('is the same whether or not someone has taken the axios instance', async () => {
      const { url, arrivals } = await gateway((response) => void response.end('{"code":"B0000"}'));
      const [untouched, taken] = [transportOf(), transportOf()];
      expect(taken.http.axiosRef.interceptors).toBeDefined();
      expect(await untouched.post(requestTo(url))).toEqual(await taken.post(requestTo(url)));
      const [one, other] = arrivals.map(({ request, body }) => [request.method, request.url, request.headers, body]);
      expect(one).toEqual(other);
    });

    it('is seen by an interceptor that is added after payments', async () => {
      const { url, arrivals } = await gateway();
      const transport = transportOf();
      await transport.post(requestTo(url));
      transport.http.axiosRef.interceptors.request.use((config) => {
        config.headers.set('x-shop', 'ours');
        return config;
      });
      await transport.post(requestTo(url));
      expect(arrivals.map(({ request }) => request.headers['x-shop'])).toEqual([undefined, 'ours']);
    });

    it.each([
      ['a dialect', { Accept: 'application/vnd.gateway+json' }, {}],
      ['an interceptor', {}, { accept: 'application/vnd.gateway+json' }],
    ])('asks for the form of answer that %s names', async (_who, own, added) => {
      const { url, arrivals } = await gateway();
      const transport = transportOf();
      transport.http.axiosRef.interceptors.request.use((config) => {
        config.headers.set(added);
        return config;
      });
      const request = requestTo(url);
      await transport.post({ ...request, headers: { ...request.headers, ...own } });
      expect(arrivals[0]?.request.headers.accept).toBe('application/vnd.gateway+json');
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

    it('is bound by the deadline alone, which may be longer than undici waits by default', async () => {
      const seen: Dispatcher.DispatchOptions[] = [];
      class Watching extends Agent {
        override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
          seen.push(options);
          return super.dispatch(options, handler);
        }
      }
      const { url } = await gateway();
      const dispatcher = new Watching();
      await transportOf({ dispatcher }).post(requestTo(url));
      await dispatcher.destroy();
      expect(seen).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0, idempotent: false }]);
    });

    it('is not held back by other requests', async () => {
      const waiting: ServerResponse[] = [];
      const { url } = await gateway((response) => {
        waiting.push(response);
        if (waiting.length === 100) for (const one of waiting) one.end('{}');
      });
      const transport = transportOf();
      const posts = await Promise.all(Array.from({ length: 100 }, () => transport.post(requestTo(url))));
      expect(posts.every((post) => post.sent && post.reply?.status === 200)).toBe(true);
    });
  });

  describe('an answer', () => {
    it('comes after hints, or before the request was read in full', async () => {
      const { url } = await gateway((response) => {
        response.writeEarlyHints({ link: '</x>; rel=preload' });
        response.writeHead(402).end('{}');
      });
      expect(await transportOf().post(requestTo(url))).toEqual({ sent: true, reply: { status: 402, text: '{}' } });
      const hasty = await wiretap((socket) => socket.end('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}'));
      const post = transportOf().post({ ...requestTo(hasty.url), body: 'x'.repeat(8 * 1024 * 1024) });
      expect(await post).toMatchObject({ sent: true });
    });

    const TEXT = '{"code":"B0000","message":"Onaylandı, Şükrü"}';
    const [latin1, utf8] = [Buffer.from([0x22, 0xe9, 0x22]), Buffer.from(TEXT)];

    it.each<[body: Buffer, encoding: string, type: string, text: string | null]>([
      [utf8, '', '', TEXT],
      [Buffer.from(`\uFEFF${TEXT}`), 'identity', 'text/plain', TEXT],
      [utf8, '', 'text/json; charset=iso-8859-1', TEXT],
      [gzipSync(TEXT), 'gzip', 'application/json', TEXT],
      [Buffer.alloc(0), 'gzip', '', ''],
      ...['', 'x; charset=iso-8859-1', 'x; charset=nonsense', 'x; charset=utf-8'].map(
        (type): [Buffer, string, string, string] => {
          return [latin1, '', type, '"é"'];
        },
      ),
      [Buffer.from([0xde, 0xfe]), '', 'application/json; charset="windows-1254"', 'Şş'],
      [utf8, 'gzip', '', null],
      [gzipSync(TEXT).subarray(0, 20), 'gzip', '', null],
      [utf8, 'br', '', null],
      [utf8, '__proto__', '', null],
    ])('is decoded: %# (%s, %s, %s)', (body, encoding, type, text) => {
      const reply = replyText(body, { 'content-encoding': encoding, 'content-type': type });
      expect(reply).toEqual(text === null ? { cause: 'reply_unreadable' } : { text });
    });

    it('is decoded without a throw, whatever it is', () => {
      const encodings = fc.constantFrom(undefined, 'gzip', 'br', '');
      const types = fc.oneof(fc.string(), fc.constantFrom('x; charset=utf-16', 'x; charset=shift_jis', 'x; charset='));
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), encodings, types, (bytes, encoding, type) => {
          const reply = replyText(Buffer.from(bytes), { 'content-encoding': encoding, 'content-type': type });
          expect('text' in reply ? typeof reply.text : reply.cause).toMatch(/^(?:string|reply_unreadable)$/);
        }),
      );
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
});
