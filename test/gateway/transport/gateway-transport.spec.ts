import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import { type Arrival, closeAll, gateway, postEach, requestTo, transportOf, wiretap } from './gateways.js';

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
        return {
          ...config,
          url: 'http://elsewhere.example/',
          data: 'forged',
          method: 'get',
          baseURL: 'http://x.example',
        };
      });
      expect(await transport.post(requestTo(url))).toMatchObject({ sent: true, reply: { status: 200 } });
      const [{ request, body } = { request: undefined, body: '' }] = arrivals;
      expect(body).toBe(requestTo(url).body);
      expect(request?.method).toBe('POST');
      expect(request?.headers).toMatchObject({
        traceparent: '00-1-2-01',
        'x-clientsecret': 'sesame',
        'content-length': '41',
        'content-type': 'application/json',
        'accept-encoding': 'gzip, deflate, br',
      });
      expect(request?.headers['transfer-encoding']).toBeUndefined();
    });

    it.each([
      ['a dialect', { Accept: 'application/vnd.gateway+json' }, {}],
      ['an interceptor', {}, { accept: 'application/vnd.gateway+json' }],
    ])('asks for the form of answer that %s names', async (_who, own, added) => {
      const { url, arrivals } = await gateway();
      const transport = transportOf();
      if ('accept' in added) {
        transport.http.axiosRef.interceptors.request.use((config) => {
          config.headers.set(added);
          return config;
        });
      }
      const request = requestTo(url);
      await transport.post({ ...request, headers: { ...request.headers, ...own } });
      expect(arrivals[0]?.request.headers.accept).toBe('application/vnd.gateway+json');
    });

    it('goes straight to the gateway, whatever the environment says of proxies', async () => {
      const { url, arrivals } = await gateway();
      const proxy = await gateway();
      const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
      const before = names.map((name) => [name, process.env[name]] as const);
      for (const name of names) process.env[name] = proxy.url;
      try {
        await transportOf().post(requestTo(url));
        await transportOf().post(requestTo(url.replace('http:', 'https:')));
      } finally {
        for (const [name, value] of before) {
          if (value === undefined) delete process.env[name];
          else process.env[name] = value;
        }
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
    it('comes after hints', async () => {
      const { url } = await gateway((response) => {
        response.writeEarlyHints({ link: '</x>; rel=preload' });
        response.writeHead(402).end('{}');
      });
      expect(await transportOf().post(requestTo(url))).toEqual({ sent: true, reply: { status: 402, text: '{}' } });
    });

    it('comes before the request was read in full', async () => {
      const { url } = await wiretap((socket) => socket.end('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}'));
      const transmission = await transportOf().post({ ...requestTo(url), body: 'x'.repeat(8 * 1024 * 1024) });
      expect(transmission).toMatchObject({ sent: true });
    });
  });

  describe('connections', () => {
    const ports = (arrivals: Arrival[]): Set<number | undefined> => new Set(arrivals.map(({ port }) => port));

    it('are kept alive', async () => {
      const { url, arrivals } = await gateway();
      await postEach(transportOf(), [requestTo(url), requestTo(url), requestTo(url)]);
      expect(ports(arrivals).size).toBe(1);
    });

    it('are used once where keepAliveMs is 0', async () => {
      const { url, arrivals } = await gateway();
      await postEach(transportOf({ keepAliveMs: 0 }), [requestTo(url), requestTo(url), requestTo(url)]);
      expect(ports(arrivals).size).toBe(3);
      expect(arrivals.map(({ request }) => request.headers.connection)).toEqual(['close', 'close', 'close']);
    });

    it('are not used again where the gateway announces that it will close them', async () => {
      const { url, arrivals } = await gateway((response) => response.setHeader('Keep-Alive', 'timeout=1').end('{}'));
      await postEach(transportOf(), [requestTo(url), requestTo(url), requestTo(url)]);
      expect(ports(arrivals).size).toBe(3);
    });

    it('are kept no longer than keepAliveMs, whatever the gateway announces', async () => {
      const { url, arrivals } = await gateway((response) => response.setHeader('Keep-Alive', 'timeout=600').end('{}'));
      const transport = transportOf({ keepAliveMs: 200 });
      await transport.post(requestTo(url));
      const socket = arrivals[0]?.request.socket;
      if (socket && !socket.destroyed) await once(socket, 'close');
      await transport.post(requestTo(url));
      expect(ports(arrivals).size).toBe(2);
    });
  });
});
