import { once } from 'node:events';
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { Agent } from 'undici';
import { selfSigned } from './certificates.js';
import { closeAll, dispatcherOf, gateway, requestTo, tlsWiretap, transportOf, whenDone, wiretap } from './gateways.js';

const CONNECTION_FAILED = { sent: false, cause: 'connection_failed' };
const failedBy = (errorCode: string) => ({ ...CONNECTION_FAILED, errorCode });
const DEADLINE = { sent: false, cause: 'deadline' };
const own = selfSigned('127.0.0.1');

describe('gateway transport not sent', () => {
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
      const { url, received } = await tlsWiretap(other);
      expect(await transportOf({ dispatcher: trusting(other.cert) }).post(requestTo(url))).toEqual(
        failedBy('ERR_TLS_CERT_ALTNAME_INVALID'),
      );
      expect(received.join('')).toBe('');
    });

    it('is what meets a certificate that nobody vouches for, whatever the environment says', async () => {
      const { url, received } = await tlsWiretap(own);
      await setForNode('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      try {
        expect(await transportOf().post(requestTo(url))).toEqual(failedBy('DEPTH_ZERO_SELF_SIGNED_CERT'));
      } finally {
        await setForNode('NODE_TLS_REJECT_UNAUTHORIZED', undefined);
      }
      expect(received.join('')).toBe('');
    });

    it('is what a dispatcher throws at', async () => {
      const { url, received } = await wiretap();
      const agent = trusting(own.cert);
      const dispatcher = dispatcherOf((options, handler) => {
        agent.dispatch(options, handler);
        throw new Error('out of order');
      });
      expect(await transportOf({ dispatcher }).post(requestTo(url))).toEqual(CONNECTION_FAILED);
      await agent.close();
      expect(received.join('')).toBe('');
    });
  });

  describe('past the deadline nothing leaves', () => {
    it('when it waited behind another request', async () => {
      const dispatcher = trusting(own.cert, { connections: 1 });
      let release: () => void = () => undefined;
      const arrived = new Promise<void>((resolve) => (release = resolve));
      let answer: () => void = () => undefined;
      const { url, arrivals } = await gateway((response) => {
        answer = () => void response.end('{}');
        release();
        if (arrivals.length > 1) answer();
      });
      const first = transportOf({ dispatcher }).post(requestTo(url));
      await arrived;
      const second = await transportOf({ dispatcher, timeoutMs: 50 }).post({ ...requestTo(url), body: 'second' });
      expect(second).toEqual(DEADLINE);
      answer();
      expect(await first).toMatchObject({ sent: true, reply: { status: 200 } });
      const third = await transportOf({ dispatcher }).post({ ...requestTo(url), body: 'third' });
      expect(third).toMatchObject({ sent: true, reply: { status: 200 } });
      expect(arrivals.map(({ body }) => body)).toEqual([requestTo(url).body, 'third']);
    });

    it('when the dispatcher was stuck', async () => {
      const { url, arrivals } = await gateway();
      const agent = trusting(own.cert, { connections: 1 });
      let late: () => void = () => undefined;
      const dispatcher = dispatcherOf((options, handler) => {
        late = () => void agent.dispatch(options, handler);
        return true;
      });
      expect(await transportOf({ dispatcher, timeoutMs: 50 }).post(requestTo(url))).toEqual(DEADLINE);
      late();
      await transportOf({ dispatcher: agent }).post({ ...requestTo(url), body: 'next' });
      expect(arrivals.map(({ body }) => body)).toEqual(['next']);
    });

    it('when the dispatcher, late, does not even say that it starts', async () => {
      const { url, received } = await wiretap();
      const agent = trusting(own.cert);
      let late: (failed: () => void) => void = () => undefined;
      const dispatcher = dispatcherOf((options) => {
        late = (failed) => agent.dispatch(options, { onRequestStart: () => undefined, onResponseError: failed });
        return true;
      });
      expect(await transportOf({ dispatcher, timeoutMs: 50 }).post(requestTo(url))).toEqual(DEADLINE);
      await new Promise<void>((resolve) => late(resolve));
      expect(received.join('')).toBe('');
    });

    it('when the event loop was held up until after it', async () => {
      const { url, received } = await wiretap();
      const agent = trusting(own.cert);
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
      expect(await transportOf({ dispatcher, timeoutMs: 1_000 }).post(requestTo(url))).toEqual(DEADLINE);
      await agent.close();
      expect(received.join('')).toBe('');
    });
  });
});

function trusting(cert: Buffer, options?: Agent.Options): Agent {
  const agent = new Agent({ ...options, connect: { ca: cert } });
  whenDone(() => agent.destroy());
  return agent;
}

/** Sets a variable in the real environment, which Node reads itself; Jest gives tests a copy. */
async function setForNode(name: string, value: string | undefined): Promise<void> {
  const code =
    value === undefined
      ? `delete process.env[${JSON.stringify(name)}]`
      : `process.env[${JSON.stringify(name)}] = ${JSON.stringify(value)}`;
  await once(new Worker(code, { eval: true, env: SHARE_ENV }), 'exit');
}
