import type { ServerResponse } from 'node:http';
import axios, { type AxiosInstance, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { Agent, type Dispatcher, interceptors, RetryAgent } from 'undici';
import type { GatewayTransport } from '../../../lib/gateway/transport/gateway-transport.js';
import { until } from '../../services/until.js';
import { closeAll, dispatcherOf, gateway, nowhere, requestTo, transportOf, whenDone, wiretap } from './gateways.js';

describe('gateway transport one transmission', () => {
  afterEach(closeAll);

  const closed = (response: ServerResponse): void => void response.destroy();
  const half = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"code":', () => response.destroy());
  };
  const FAULTS: [string, (response: ServerResponse) => void][] = [
    ['no answer', closed],
    ['half an answer', half],
  ];

  describe('an axios interceptor that tries again', () => {
    describe.each(FAULTS)('after %s', (_fault, answer) => {
      it.each<[string, (own: AxiosInstance) => AxiosInstance]>([
        ['the same instance', (own) => own],
        ['the global axios', () => axios],
        ['another axios', () => axios.create()],
      ])('with the request it saw, over %s', async (_which, choose) => {
        const { url, arrivals } = await gateway(answer);
        const transport = transportOf();
        const [own, seen, errors] = [transport.http.axiosRef, capture(transport), [] as unknown[]];
        own.interceptors.response.use(undefined, async (error: unknown) => {
          errors.push(error);
          if (errors.length > 3) throw error;
          return choose(own).request(seen[0] ?? {});
        });
        expect(await transport.post(requestTo(url))).toEqual({
          sent: true,
          reply: null,
          cause: 'connection_lost',
          errorCode: 'UND_ERR_SOCKET',
        });
        await expect(choose(own).request(seen[0] ?? {})).rejects.toThrow(/transmits each payment request once/);
        expect(arrivals).toHaveLength(1);
      });
    });

    it('has no request to take from the error, and no secret', async () => {
      const { url, arrivals } = await gateway(closed);
      const transport = transportOf();
      const errors: (Error & { config?: InternalAxiosRequestConfig })[] = [];
      transport.http.axiosRef.interceptors.response.use(undefined, async (error: Error) => {
        errors.push(error);
        if (errors.length > 3) throw error;
        return transport.http.axiosRef.request(errors[0]?.config ?? {});
      });
      await transport.post(requestTo(url));
      await expect(transport.http.axiosRef.request({})).rejects.toThrow();
      expect(arrivals).toHaveLength(1);
      expect(errors).toHaveLength(4);
      for (const error of errors) {
        expect(Object.getPrototypeOf(error)).toBe(Error.prototype);
        expect(Object.getOwnPropertyNames(error).sort()).toEqual(['message', 'stack']);
        expect(`${error.message}${error.stack}`).not.toMatch(/sesame|Ağaç|60\.00/);
      }
    });

    it('even where it takes our adapter out, has no body to send', async () => {
      const { url, arrivals } = await gateway(closed);
      const transport = transportOf();
      const seen = capture(transport);
      await transport.post(requestTo(url));
      await expect(transport.http.axiosRef.request({ ...seen[0], adapter: undefined })).rejects.toThrow(/once/);
      expect(arrivals).toHaveLength(1);
      await expect(axios.request({ ...seen[0], adapter: 'http' })).rejects.toThrow();
      expect(arrivals.map(({ body }) => body)).toEqual([requestTo(url).body, '']);
      expect(arrivals[1]?.request.headers['x-clientsecret']).toBeUndefined();
    });

    it('before it was sent, sends it in its place', async () => {
      const { url, arrivals } = await gateway();
      const transport = transportOf();
      transport.http.axiosRef.interceptors.request.use(async (config) => {
        await axios.create().request(config);
        return config;
      });
      expect(await transport.post(requestTo(url))).toMatchObject({ sent: true, reply: { text: '{}' } });
      expect(arrivals).toHaveLength(1);
    });

    it('while it is being sent, does not disturb it', async () => {
      const { url, arrivals } = await gateway();
      const transport = transportOf();
      const refusals: unknown[] = [];
      transport.http.axiosRef.interceptors.request.use((config) => {
        for (const instance of [axios, axios.create()]) {
          instance.request(config).catch((error: unknown) => refusals.push(error));
        }
        return config;
      });
      expect(await transport.post(requestTo(url))).toMatchObject({ sent: true, reply: { text: '{}' } });
      await until(() => refusals.length > 0);
      expect(arrivals).toHaveLength(1);
    });

    it('because of a status, loses no answer', async () => {
      const { url, arrivals } = await gateway((response) => response.writeHead(503).end('busy'));
      const transport = transportOf();
      transport.http.axiosRef.interceptors.response.use((response) => axios.request(response.config));
      expect(await transport.post(requestTo(url))).toEqual({ sent: true, reply: { status: 503, text: 'busy' } });
      expect(arrivals).toHaveLength(1);
    });

    it('without end, stops neither the event loop nor the outcome', async () => {
      const { url, arrivals } = await gateway(closed);
      const transport = transportOf();
      let isEnough = false;
      let rounds = 0;
      transport.http.axiosRef.interceptors.response.use(undefined, async (error: unknown) => {
        rounds += 1;
        if (isEnough) throw error;
        return transport.http.axiosRef.request({ url });
      });
      expect(await transport.post(requestTo(url))).toMatchObject({ sent: true, reply: null });
      await until(() => rounds >= 10);
      isEnough = true;
      expect(arrivals).toHaveLength(1);
    });
  });

  describe('the HttpService', () => {
    it('sends nothing for anyone else', async () => {
      const { url, arrivals } = await gateway();
      const { http } = transportOf();
      const adapter = axios.getAdapter('http');
      await expect(http.axiosRef.post(url, {})).rejects.toThrow(/and nothing else/);
      await expect(http.axiosRef.post(url, {}, { adapter })).rejects.toThrow(/and nothing else/);
      await expect(http.axiosRef.get(url, { adapter: 'http' })).rejects.toThrow(/and nothing else/);
      await expect(new Promise((_, reject) => http.get(url).subscribe({ error: reject }))).rejects.toThrow(
        /nothing else/,
      );
      expect(arrivals).toHaveLength(0);
    });

    it('sends nothing for anyone else, even where its own interceptor was cleared', async () => {
      const { url, arrivals } = await gateway();
      const { http } = transportOf();
      http.axiosRef.interceptors.request.clear();
      await expect(http.axiosRef.post(url, {})).rejects.toThrow(/and nothing else/);
      expect(arrivals).toHaveLength(0);
    });

    it('is its own: the global axios has no part in it', async () => {
      const { url } = await gateway();
      const id = axios.interceptors.request.use(() => Promise.reject(new Error('global')));
      try {
        expect(await transportOf().post(requestTo(url))).toMatchObject({ sent: true, reply: { status: 200 } });
      } finally {
        axios.interceptors.request.eject(id);
      }
    });

    it('shows interceptors neither the body nor the secrets', async () => {
      const { url } = await gateway((response) =>
        response.writeHead(200, { 'x-trace': 'abc' }).end('{"code":"B0000"}'),
      );
      const transport = transportOf();
      const seen = capture(transport);
      const answered = new Promise<AxiosResponse>((resolve) => {
        transport.http.axiosRef.interceptors.response.use((response) => {
          resolve(response);
          return response;
        });
      });
      await transport.post(requestTo(url));
      const { config, status, data, headers } = await answered;
      expect(seen.map((request) => request.url)).toEqual([url]);
      expect(JSON.stringify([seen, config])).not.toMatch(/sesame|Ağaç|60\.00/);
      expect([status, data, headers['x-trace']]).toEqual([200, '{"code":"B0000"}', 'abc']);
    });

    it('lets no interceptor bring an adapter of its own', async () => {
      const { url, arrivals } = await gateway();
      const transport = transportOf();
      transport.http.axiosRef.interceptors.request.use((config) => {
        config.adapter = axios.getAdapter('http');
        return config;
      });
      expect(await transport.post(requestTo(url))).toEqual({ sent: false, cause: 'interceptor_failed' });
      expect(arrivals).toHaveLength(0);
    });
  });

  describe('interceptors that fail', () => {
    it('before the request: it is not sent', async () => {
      const { url, arrivals } = await gateway();
      for (const fail of [() => Promise.reject(new Error('down')), () => undefined as never]) {
        const transport = transportOf();
        transport.http.axiosRef.interceptors.request.use(fail);
        expect(await transport.post(requestTo(url))).toEqual({ sent: false, cause: 'interceptor_failed' });
      }
      expect(arrivals).toHaveLength(0);
    });

    it('after the answer: it is not lost', async () => {
      const { url } = await gateway((response) => response.end('{"code":"B0000"}'));
      for (const fail of [() => Promise.reject(new Error('down')), () => new Promise<never>(() => undefined)]) {
        const transport = transportOf();
        transport.http.axiosRef.interceptors.response.use(fail);
        expect(await transport.post(requestTo(url))).toMatchObject({ reply: { text: '{"code":"B0000"}' } });
      }
    });

    it('by taking longer than the deadline: it is not sent then, nor later', async () => {
      const { url, arrivals } = await gateway();
      const transport = transportOf({ timeoutMs: 50 });
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const after = new Promise<unknown>((resolve) => {
        transport.http.axiosRef.interceptors.response.use(undefined, (error: Error) => {
          resolve(error);
          throw error;
        });
      });
      transport.http.axiosRef.interceptors.request.use((config) => held.then(() => config));
      expect(await transport.post(requestTo(url))).toEqual({ sent: false, cause: 'deadline' });
      release();
      expect(await after).toBeInstanceOf(Error);
      expect(arrivals).toHaveLength(0);
    });
  });

  describe("a host's dispatcher that tries again", () => {
    describe.each([...FAULTS, ['503', (response: ServerResponse) => void response.writeHead(503).end()] as const])(
      'after %s',
      (_fault, answer) => {
        const options = { methods: ['POST' as const], maxRetries: 3, minTimeout: 1, maxTimeout: 5, statusCodes: [503] };
        it.each<[string, () => Dispatcher]>([
          ['RetryAgent', () => new RetryAgent(agentOf(), options)],
          ['RetryAgent that does not throw', () => new RetryAgent(agentOf(), { ...options, throwOnError: false })],
          ['the retry interceptor', () => agentOf().compose(interceptors.retry(options))],
          ['one of its own', () => retrying(agentOf(), (handler) => handler)],
          ['one that hides it', () => retrying(agentOf(), ({ onRequestStart: _hidden, ...rest }) => rest)],
        ])('%s', async (_which, dispatcher) => {
          const { url, arrivals } = await gateway(answer);
          const transmission = await transportOf({ dispatcher: dispatcher() }).post(requestTo(url));
          expect(transmission).toMatchObject({ sent: true });
          // A second transmission would have arrived before this request, over another connection.
          await transportOf().post(requestTo(url));
          expect(arrivals.map(({ body }) => body)).toEqual([requestTo(url).body, requestTo(url).body]);
        });
      },
    );

    it('writes nothing at all the second time', async () => {
      const agent = agentOf();
      const { url, received, posts } = await wiretap((socket, text) => text.endsWith('}') && socket.destroy());
      const dispatcher = retrying(agent, ({ onRequestStart: _hidden, ...rest }) => rest);
      expect(await transportOf({ dispatcher }).post(requestTo(url))).toMatchObject({ sent: true, reply: null });
      await agent.close();
      expect(posts()).toBe(1);
      expect(received.slice(1).join('')).toBe('');
    });

    it('with a copy of the body, sends one', async () => {
      const agent = agentOf();
      const { url, received, posts } = await wiretap((socket, text) => text.endsWith('}') && socket.destroy());
      const dispatcher = dispatcherOf((options, handler) => {
        const body = Buffer.concat([...(options.body as unknown as Iterable<Buffer>)]);
        return retrying(agent, (shown) => shown).dispatch({ ...options, body }, handler);
      });
      expect(await transportOf({ dispatcher }).post(requestTo(url))).toMatchObject({ sent: true, reply: null });
      await agent.close();
      expect(posts()).toBe(1);
      expect(received[0]).toContain(requestTo(url).body);
    });

    it('may try another connection while nothing was sent', async () => {
      const { url, arrivals } = await gateway();
      const [agent, away] = [agentOf(), new URL(await nowhere()).origin];
      const dispatcher = dispatcherOf((options, handler) =>
        agent.dispatch(
          { ...options, origin: away },
          { onRequestStart: () => undefined, onResponseError: () => void agent.dispatch(options, handler) },
        ),
      );
      expect(await transportOf({ dispatcher }).post(requestTo(url))).toMatchObject({
        sent: true,
        reply: { status: 200 },
      });
      expect(arrivals).toHaveLength(1);
    });

    it('at once, over two connections, sends one', async () => {
      const { url, received, posts } = await wiretap(
        (socket, text) => text.endsWith('}') && socket.end('HTTP/1.1 200 OK\r\n\r\n'),
      );
      const agent = agentOf();
      const dispatcher = dispatcherOf((options, handler) => {
        agent.dispatch(options, handler);
        return agent.dispatch(options, handler);
      });
      expect(await transportOf({ dispatcher }).post(requestTo(url))).toMatchObject({ sent: true });
      await agent.close();
      expect(posts()).toBe(1);
      expect(received.filter((text) => text.includes(requestTo(url).body))).toHaveLength(1);
    });

    it('follows no redirect', async () => {
      const other = await gateway();
      const { url, arrivals } = await gateway((response) => response.writeHead(307, { location: other.url }).end());
      const dispatcher = agentOf().compose(interceptors.redirect({ maxRedirections: 3 }));
      expect(await transportOf({ dispatcher }).post(requestTo(url))).toMatchObject({ sent: true });
      await transportOf().post(requestTo(other.url));
      expect([arrivals.length, other.arrivals.length]).toEqual([1, 1]);
    });
  });
});

/** What the host's request interceptors see. */
function capture(transport: GatewayTransport): InternalAxiosRequestConfig[] {
  const seen: InternalAxiosRequestConfig[] = [];
  transport.http.axiosRef.interceptors.request.use((config) => {
    seen.push(config);
    return config;
  });
  return seen;
}

function agentOf(options?: Agent.Options): Agent {
  const agent = new Agent(options);
  whenDone(() => agent.destroy());
  return agent;
}

/** Tries three times. `show` changes the handler for the second and the third time. */
function retrying(
  agent: Agent,
  show: (handler: Dispatcher.DispatchHandler) => Dispatcher.DispatchHandler,
  left = 2,
): Dispatcher {
  return dispatcherOf((options, handler) => {
    const again = (error: Error, controller: Dispatcher.DispatchController): void => {
      if (left === 0) handler.onResponseError?.(controller, error);
      else retrying(agent, show, left - 1).dispatch(options, show(handler));
    };
    return agent.dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onResponseStart: (controller, status, headers, text) => {
        if (status === 503) throw new Error('again');
        handler.onResponseStart?.(controller, status, headers, text);
      },
      onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => again(error, controller),
    });
  });
}
