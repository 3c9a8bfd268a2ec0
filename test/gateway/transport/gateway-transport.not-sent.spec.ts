import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { Attempt } from '../../../lib/gateway/transport/attempt.js';
import { selfSigned } from './certificates.js';
import { agentOf, closeAll, dispatcherOf, gateway, requestTo, transportOf, wiretap } from './gateways.js';

const failedBy = (errorCode: string) => ({ sent: false, cause: 'connection_failed', errorCode });
const LATE = { sent: false, cause: 'deadline' };
const CONNECTION_LOST = { sent: true, reply: null, cause: 'connection_lost' };
/** Which code it is depends on what the system had read by then. */
const SOCKET_CODES = /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|UND_ERR_HEADERS_OVERFLOW|HTTPParserError)$/;
const SOCKET_LOST = { ...CONNECTION_LOST, errorCode: expect.stringMatching(SOCKET_CODES) as string };
const DEADLINE = { sent: true, reply: null, cause: 'deadline' };
const TOO_LARGE = { sent: true, reply: null, cause: 'reply_too_large' };
const NOWHERE = requestTo('http://x.example/pay');
const own = selfSigned('127.0.0.1');

describe('gateway transport not sent, or sent and lost', () => {
  afterEach(closeAll);

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
      expect(received.join('')).toBe('');
    });

    it('is what meets a certificate that nobody vouches for, whatever the environment says', async () => {
      const { url, received } = await wiretap(undefined, own);
      await runInNode("process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'");
      const post = transportOf().post(requestTo(url));
      const clear = (): Promise<void> => runInNode('delete process.env.NODE_TLS_REJECT_UNAUTHORIZED');
      expect(await post.finally(clear)).toEqual(failedBy('DEPTH_ZERO_SELF_SIGNED_CERT'));
      expect(received.join('')).toBe('');
    });

    it('is what a dispatcher throws at', async () => {
      const { url, received } = await wiretap();
      const agent = agentOf();
      const dispatcher = dispatcherOf((options, handler) => {
        agent.dispatch(options, handler);
        throw new Error('out of order');
      });
      const post = transportOf({ dispatcher }).post(requestTo(url));
      expect(await post).toEqual({ sent: false, cause: 'connection_failed' });
      await agent.close();
      expect(received.join('')).toBe('');
    });
  });

  // That a request waits in a queue is in test/faults/connections.spec.ts.
  describe('past the deadline nothing leaves', () => {
    it.each([
      ['was stuck', (handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler => handler],
      [
        'does not even say that it starts',
        () => ({ onRequestStart: () => undefined, onResponseError: () => undefined }),
      ],
    ])('when the dispatcher %s', async (_how, handlerOf) => {
      const { url, received, posts } = await wiretap((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
      const agent = agentOf({ connections: 1 });
      let late: () => void = () => undefined;
      const dispatcher = dispatcherOf((options, handler) => {
        late = () => void agent.dispatch(options, handlerOf(handler));
        return true;
      });
      expect(await transportOf({ dispatcher, timeoutMs: 50 }).post(requestTo(url))).toEqual(LATE);
      late();
      await transportOf({ dispatcher: agent }).post({ ...requestTo(url), body: 'next' });
      expect([posts(), received.join('').includes(requestTo(url).body)]).toEqual([1, false]);
    });

    it('when the event loop was held up until after it', async () => {
      const { url, received } = await wiretap();
      const agent = agentOf();
      const dispatcher = dispatcherOf((options, handler) =>
        agent.dispatch(options, {
          onRequestStart: (controller, context) => {
            const end = performance.now() + 1_100;
            while (performance.now() < end);
            handler.onRequestStart?.(controller, context);
          },
          onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
        }),
      );
      expect(await transportOf({ dispatcher, timeoutMs: 1_000 }).post(requestTo(url))).toEqual(LATE);
      await agent.close();
      expect(received.join('')).toBe('');
    });
  });

  describe('a claim that has run out', () => {
    const OVER = { sent: false, cause: 'claim_over' };
    const claimOf = (mayStart: (left: number) => boolean) => {
      return { timeoutMs: 10_000, confirmTime: () => Promise.resolve(true), mayStart };
    };
    const silent = (): void => undefined;

    it.each([
      ['to a dispatcher that says so', true],
      ['to one that does not', false],
    ])('as the request begins, sends nothing, with what is left of the deadline judged, %s', async (_who, isTold) => {
      const { url, received } = await wiretap();
      const agent = agentOf();
      const dispatcher = dispatcherOf((options, handler) =>
        agent.dispatch(options, isTold ? handler : { ...handler, onRequestStart: silent }),
      );
      const left: number[] = [];
      const claim = claimOf((ms) => (left.push(ms), false));
      expect(await transportOf({ dispatcher }).post(requestTo(url), claim)).toEqual(OVER);
      await agent.close();
      expect(received.join('')).toBe('');
      expect(left).toEqual([expect.any(Number)]);
      expect(left[0]).toBeGreaterThan(5_000);
      expect(left[0]).toBeLessThanOrEqual(10_000);
    });

    it('after the beginning changes nothing: something may have been written', () => {
      let mayStart = true;
      const attempt = new Attempt('{}', 60_000, () => mayStart);
      attempt.handler().onRequestStart?.({ abort: silent } as never, {});
      mayStart = false;
      expect([...attempt.handOut()]).toHaveLength(1);
      expect(() => [...attempt.handOut()]).toThrow('once');
      attempt.lose('deadline');
    });
  });

  describe('the connection is lost', () => {
    /** Answers once the whole request has arrived. */
    const whole =
      (answer: (socket: Socket) => unknown) =>
      (socket: Socket, text: string): void => {
        if (text.endsWith('}')) answer(socket);
      };

    it.each<[string, answer: string]>([
      ['closed in the middle of the headers', '200 OK\r\ncontent-le'],
      ['closed in the middle of a chunk', '200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\n{"code":'],
      ['answered with something else than HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
      ['upgraded to something else', '101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
      ['answered with a header too long', `200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`],
    ])('%s', async (_how, answer) => {
      const { url, posts } = await wiretap(
        whole((socket) => socket.end(/^\d/.test(answer) ? `HTTP/1.1 ${answer}` : answer)),
      );
      expect(await transportOf().post(requestTo(url))).toEqual(SOCKET_LOST);
      expect(posts()).toBe(1);
    });

    it('reset in the middle of the request', async () => {
      const { url, received, posts } = await wiretap((socket) => socket.resetAndDestroy());
      const body = 'x'.repeat(32 * 1024 * 1024);
      expect(await transportOf().post({ ...requestTo(url), body })).toEqual(SOCKET_LOST);
      expect(posts()).toBe(1);
      expect(received.join('').length).toBeLessThan(body.length);
    });

    it('because the application ends', async () => {
      const transport = transportOf();
      const { url } = await gateway(() => void transport.close());
      expect(await transport.post(requestTo(url))).toEqual({ ...CONNECTION_LOST, errorCode: 'UND_ERR_DESTROYED' });
    });

    it('to a dispatcher that never said that it started', async () => {
      const { url, posts } = await wiretap(whole((socket) => socket.destroy()));
      const agent = agentOf();
      const dispatcher = dispatcherOf((options, handler) =>
        agent.dispatch(options, { ...handler, onRequestStart: () => undefined }),
      );
      expect(await transportOf({ dispatcher }).post(requestTo(url))).toEqual(SOCKET_LOST);
      expect(posts()).toBe(1);
    });

    it('after an answer was begun, which proves that the request was sent, whatever the dispatcher said', async () => {
      const dispatcher = dispatcherOf((_options, handler) => {
        handler.onResponseStart?.({} as never, 200, {}, 'OK');
        handler.onResponseError?.({} as never, new Error('gone'));
        return true;
      });
      expect(await transportOf({ dispatcher }).post(NOWHERE)).toEqual(CONNECTION_LOST);
    });
  });

  describe('the deadline', () => {
    it.each<[string, (response: ServerResponse) => unknown]>([
      ['no answer', () => undefined],
      ['hints only', (response) => response.writeEarlyHints({ link: '</x>; rel=preload' })],
    ])('ends it, hangs up, and a late answer changes nothing: %s', async (_what, answer) => {
      let hungUp: Promise<unknown> = Promise.resolve();
      const { url, arrivals } = await gateway((response) => {
        answer(response);
        hungUp = once(response, 'close').then(() => response.end('{"code":"B0000"}'));
      });
      const began = performance.now();
      const posting = transportOf({ timeoutMs: 1_000 }).post(requestTo(url));
      expect(await posting).toEqual(DEADLINE);
      const took = performance.now() - began;
      expect(took).toBeGreaterThan(990);
      expect(took).toBeLessThan(10_000);
      await hungUp;
      expect(await posting).toEqual(DEADLINE);
      expect(arrivals).toHaveLength(1);
    });

    it('is kept with a dispatcher that cannot be aborted', async () => {
      const abort = (): never => {
        throw new Error('stuck');
      };
      const dispatcher = dispatcherOf((_options, handler) => {
        handler.onRequestStart?.({ abort } as never, {});
        return true;
      });
      expect(await transportOf({ dispatcher, timeoutMs: 50 }).post(NOWHERE)).toEqual(DEADLINE);
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
      ['a byte too many', 'identity', Buffer.from(`${most}x`), TOO_LARGE],
      ['a byte too many, packed', 'gzip', gzipSync(`${most}x`), TOO_LARGE],
      ['not a byte too many', 'identity', Buffer.from(most), { sent: true, reply: { status: 200, text: most } }],
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
