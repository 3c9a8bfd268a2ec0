import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { closeAll, dispatcherOf, gateway, requestTo, transportOf, whenDone, wiretap } from './gateways.js';

const CONNECTION_LOST = { sent: true, reply: null, cause: 'connection_lost' };
/** Which code it is depends on what the system had read by then. */
const SOCKET_CODES = /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|UND_ERR_HEADERS_OVERFLOW|HTTPParserError)$/;
const SOCKET_LOST = { ...CONNECTION_LOST, errorCode: expect.stringMatching(SOCKET_CODES) as string };
const DEADLINE = { sent: true, reply: null, cause: 'deadline' };

describe('gateway transport lost answer', () => {
  afterEach(closeAll);

  /** Answers once the whole request has arrived. */
  const whole =
    (answer: (socket: Socket) => unknown) =>
    (socket: Socket, text: string): void => {
      if (text.endsWith('}')) answer(socket);
    };

  describe('the connection is lost', () => {
    it.each<[string, (socket: Socket) => unknown]>([
      ['closed in the middle of the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
      [
        'closed in the middle of a chunk',
        (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\n{"code":'),
      ],
      ['answered with something else than HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
      [
        'upgraded to something else',
        (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      ],
      [
        'answered with a header too long',
        (socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`),
      ],
    ])('%s', async (_how, answer) => {
      const { url, posts } = await wiretap(whole(answer));
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
      const agent = new Agent();
      whenDone(() => agent.destroy());
      const dispatcher = dispatcherOf((options, handler) =>
        agent.dispatch(options, { ...handler, onRequestStart: () => undefined }),
      );
      expect(await transportOf({ dispatcher }).post(requestTo(url))).toEqual(SOCKET_LOST);
      expect(posts()).toBe(1);
    });
  });

  it('an answer that was begun proves that the request was sent, whatever the dispatcher said before', async () => {
    const dispatcher = dispatcherOf((_options, handler) => {
      handler.onResponseStart?.({} as never, 200, {}, 'OK');
      handler.onResponseError?.({} as never, new Error('gone'));
      return true;
    });
    expect(await transportOf({ dispatcher }).post(requestTo('http://x.example/pay'))).toEqual(CONNECTION_LOST);
  });

  describe('the deadline', () => {
    it.each<[string, (response: ServerResponse) => unknown]>([
      ['no answer', () => undefined],
      ['hints only', (response) => response.writeEarlyHints({ link: '</x>; rel=preload' })],
    ])('ends it: %s', async (_what, answer) => {
      const { url, arrivals } = await gateway((response) => void answer(response));
      const began = performance.now();
      expect(await transportOf({ timeoutMs: 300 }).post(requestTo(url))).toEqual(DEADLINE);
      const took = performance.now() - began;
      expect(took).toBeGreaterThan(290);
      expect(took).toBeLessThan(5_000);
      expect(arrivals).toHaveLength(1);
    });

    it('hangs up, and a late answer changes nothing', async () => {
      let hungUp: Promise<unknown> = Promise.resolve();
      const { url, arrivals } = await gateway((response) => {
        hungUp = once(response, 'close').then(() => response.end('{"code":"B0000"}'));
      });
      const transport = transportOf({ timeoutMs: 300 });
      const posting = transport.post(requestTo(url));
      expect(await posting).toEqual(DEADLINE);
      await hungUp;
      expect(await posting).toEqual(DEADLINE);
      expect(arrivals).toHaveLength(1);
    });

    it('is kept with a dispatcher that cannot be aborted', async () => {
      const dispatcher = dispatcherOf((_options, handler) => {
        const abort = (): never => {
          throw new Error('stuck');
        };
        handler.onRequestStart?.({ abort } as never, {});
        return true;
      });
      expect(await transportOf({ dispatcher, timeoutMs: 50 }).post(requestTo('http://x.example/pay'))).toEqual(
        DEADLINE,
      );
    });
  });

  describe('too large an answer', () => {
    const TOO_LARGE = { sent: true, reply: null, cause: 'reply_too_large' };

    it.each<[string, (response: ServerResponse) => void]>([
      [
        'more than it says, in chunks without end',
        (response) => {
          const more = (): boolean => response.destroyed || (response.write(' '.repeat(65_536)) && more());
          response.on('drain', more);
          more();
        },
      ],
    ])('%s: the connection is cut', async (_what, answer) => {
      let cut: Promise<unknown> = Promise.resolve();
      const { url } = await gateway((response) => {
        cut = once(response, 'close');
        answer(response);
      });
      expect(await transportOf().post(requestTo(url))).toEqual(TOO_LARGE);
      await cut;
    });

    it.each([
      ['unpacks twice', gzipSync(gzipSync(Buffer.alloc(50 * 1024 * 1024))), 'gzip, gzip'],
      ['unpacks to one byte too many', gzipSync(Buffer.alloc(1_048_577)), 'gzip'],
    ])('%s', async (_what, body, encoding) => {
      const { url } = await gateway((response) => response.writeHead(200, { 'content-encoding': encoding }).end(body));
      expect(await transportOf().post(requestTo(url))).toEqual(TOO_LARGE);
    });

    it('but 1 MiB is not', async () => {
      const text = 'x'.repeat(1_048_576);
      for (const [encoding, body] of [['identity', Buffer.from(text)] as const, ['gzip', gzipSync(text)] as const]) {
        const { url } = await gateway((response) =>
          response.writeHead(200, { 'content-encoding': encoding }).end(body),
        );
        expect(await transportOf().post(requestTo(url))).toEqual({ sent: true, reply: { status: 200, text } });
      }
    });
  });
});
