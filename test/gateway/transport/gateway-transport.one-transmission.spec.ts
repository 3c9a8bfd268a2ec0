import type { ServerResponse } from 'node:http';
import axios, { type AxiosInstance, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { type Agent, type Dispatcher, interceptors } from 'undici';
import type { GatewayTransport } from '../../../lib/gateway/transport/gateway-transport.js';
import { until } from '../../services/until.js';
import { agentOf, closeAll, dispatcherOf, gateway, nowhere, requestTo, transportOf, wiretap } from './gateways.js';

const closed = (response: ServerResponse): void => void response.destroy();
const half = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{"code":', () => response.destroy());
};
const approved = (response: ServerResponse): void => void response.end('{"code":"B0000"}');
/** A wiretap hangs up once it has the whole request. */
const hangUp: Parameters<typeof wiretap>[0] = (socket, text) => text.endsWith('}') && socket.destroy();
const ANSWERED = { sent: true, reply: { text: '{"code":"B0000"}' } };
const KEPT_BACK = { sent: false, cause: 'interceptor_failed' };

// Hosts' retrying interceptors and dispatchers, with each fault at each endpoint, are in test/faults/hosts.spec.ts.
describe('gateway transport one transmission', () => {
  afterEach(closeAll);

  /** A gateway that answers so, and a transport with interceptors. */
  async function shell(answer: (response: ServerResponse) => void, settings: Parameters<typeof transportOf>[0] = {}) {
    const { url, arrivals } = await gateway(answer);
    const transport = transportOf(settings);
    const { axiosRef } = transport.http;
    return {
      url,
      arrivals,
      axiosRef,
      on: axiosRef.interceptors,
      post: () => transport.post(requestTo(url)),
      transport,
    };
  }

  describe('an axios interceptor that tries again', () => {
    it.each<[string, (own: AxiosInstance) => AxiosInstance]>([
      ['the same instance', (own) => own],
      ['the global axios', () => axios],
      ['another axios', () => axios.create()],
    ])('after half an answer, over %s', async (_which, choose) => {
      const { transport, axiosRef, on, post, arrivals } = await shell(half);
      const [seen, errors] = [capture(transport), [] as unknown[]];
      on.response.use(undefined, async (error: unknown) => {
        errors.push(error);
        if (errors.length > 3) throw error;
        return choose(axiosRef).request(seen[0] ?? {});
      });
      const lost = { sent: true, reply: null, cause: 'connection_lost', errorCode: 'UND_ERR_SOCKET' };
      expect(await post()).toEqual(lost);
      await expect(choose(axiosRef).request(seen[0] ?? {})).rejects.toThrow(/transmits each payment request once/);
      expect(arrivals).toHaveLength(1);
    });

    it('has no request to take from the error, and no secret', async () => {
      const { axiosRef, on, post, arrivals } = await shell(closed);
      const errors: (Error & { config?: InternalAxiosRequestConfig })[] = [];
      on.response.use(undefined, async (error: Error) => {
        errors.push(error);
        if (errors.length > 3) throw error;
        return axiosRef.request(errors[0]?.config ?? {});
      });
      await post();
      await expect(axiosRef.request({})).rejects.toThrow();
      expect([arrivals.length, errors.length]).toEqual([1, 4]);
      for (const error of errors) {
        expect(Object.getPrototypeOf(error)).toBe(Error.prototype);
        expect(Object.getOwnPropertyNames(error).sort()).toEqual(['message', 'stack']);
        expect(`${error.message}${error.stack}`).not.toMatch(/sesame|Ağaç|60\.00/);
      }
    });

    it('even where it takes our adapter out, has no body to send', async () => {
      const { transport, axiosRef, post, arrivals } = await shell(closed);
      const seen = capture(transport);
      await post();
      await expect(axiosRef.request({ ...seen[0], adapter: undefined })).rejects.toThrow(/once/);
      expect(arrivals).toHaveLength(1);
      await expect(axios.request({ ...seen[0], adapter: 'http' })).rejects.toThrow();
      expect(arrivals[1]?.body).toBe('');
      expect(arrivals[1]?.request.headers['x-clientsecret']).toBeUndefined();
    });

    it.each<[string, (config: InternalAxiosRequestConfig) => unknown]>([
      ['before it was sent, sends it in its place', (config) => axios.create().request(config)],
      ['while it is being sent, does not disturb it', (config) => void axios.request(config).catch(() => undefined)],
    ])('%s', async (_when, again) => {
      const { on, post, arrivals } = await shell(approved);
      on.request.use(async (config) => (await again(config), config));
      expect(await post()).toMatchObject(ANSWERED);
      expect(arrivals).toHaveLength(1);
    });

    it('without end, stops neither the event loop nor the outcome', async () => {
      const { axiosRef, on, url, post, arrivals } = await shell(closed);
      let [isEnough, rounds] = [false, 0];
      on.response.use(undefined, async (error: unknown) => {
        rounds += 1;
        if (isEnough) throw error;
        return axiosRef.request({ url });
      });
      expect(await post()).toMatchObject({ sent: true, reply: null });
      await until(() => rounds >= 10);
      isEnough = true;
      expect(arrivals).toHaveLength(1);
    });
  });

  describe('the HttpService', () => {
    it.each([false, true])('sends nothing for anyone else (its own interceptor cleared: %s)', async (isCleared) => {
      const { axiosRef, on, url, transport, arrivals } = await shell(approved);
      if (isCleared) on.request.clear();
      const own = isCleared ? [] : [{ adapter: axios.getAdapter('http') }, { adapter: 'http' }];
      for (const config of [{}, ...own]) {
        await expect(axiosRef.post(url, {}, config)).rejects.toThrow(/and nothing else/);
      }
      await expect(new Promise((_, reject) => transport.http.get(url).subscribe({ error: reject }))).rejects.toThrow();
      expect(arrivals).toHaveLength(0);
    });

    it('is its own: the global axios has no part in it', async () => {
      const { post } = await shell(approved);
      const id = axios.interceptors.request.use(() => Promise.reject(new Error('global')));
      expect(await post().finally(() => axios.interceptors.request.eject(id))).toMatchObject(ANSWERED);
    });

    it('shows interceptors neither the body nor the secrets', async () => {
      const { transport, on, url, post } = await shell((response) => approved(response.setHeader('x-trace', 'abc')));
      const seen = capture(transport);
      const answered = new Promise<AxiosResponse>((resolve) => on.response.use((it) => (resolve(it), it)));
      await post();
      const { config, status, data, headers } = await answered;
      expect(seen.map((request) => request.url)).toEqual([url]);
      expect(JSON.stringify([seen, config])).not.toMatch(/sesame|Ağaç|60\.00/);
      expect([status, data, headers['x-trace']]).toEqual([200, '{"code":"B0000"}', 'abc']);
    });

    it.each<[string, (config: InternalAxiosRequestConfig) => unknown]>([
      ['brings an adapter of its own', (config) => ({ ...config, adapter: axios.getAdapter('http') })],
      ['rejects', () => Promise.reject(new Error('down'))],
      ['gives nothing', () => undefined],
    ])('sends nothing where an interceptor %s', async (_how, act) => {
      const { on, post, arrivals } = await shell(approved);
      on.request.use(act as never);
      expect(await post()).toEqual(KEPT_BACK);
      expect(arrivals).toHaveLength(0);
    });

    it('loses no answer where an interceptor fails after it, or never ends', async () => {
      for (const fail of [() => Promise.reject(new Error('down')), () => new Promise<never>(() => undefined)]) {
        const { on, post } = await shell(approved);
        on.response.use(fail);
        expect(await post()).toMatchObject(ANSWERED);
      }
    });

    it('sends nothing after the deadline, nor later, where an interceptor took longer', async () => {
      const { on, post, arrivals } = await shell(approved, { timeoutMs: 50 });
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const after = new Promise<unknown>((resolve) =>
        on.response.use(undefined, (error: Error) => (resolve(error), Promise.reject(error))),
      );
      on.request.use((config) => held.then(() => config));
      expect(await post()).toEqual({ sent: false, cause: 'deadline' });
      release();
      expect(await after).toBeInstanceOf(Error);
      expect(arrivals).toHaveLength(0);
    });
  });

  describe("a host's dispatcher that tries again", () => {
    it.each<[string, (agent: Agent) => Dispatcher]>([
      ['without saying so', (agent) => retrying(agent, hidden)],
      [
        'with a copy of the body',
        (agent) =>
          dispatcherOf((given, handler) => {
            const body = Buffer.concat([...(given.body as unknown as Iterable<Buffer>)]);
            return retrying(agent, (shown) => shown).dispatch({ ...given, body }, handler);
          }),
      ],
    ])('%s, writes nothing at all the second time', async (_how, dispatcher) => {
      const agent = agentOf();
      const { url, received, posts } = await wiretap(hangUp);
      const post = transportOf({ dispatcher: dispatcher(agent) }).post(requestTo(url));
      expect(await post).toMatchObject({ sent: true, reply: null });
      await agent.close();
      expect([posts(), received.slice(1).join('')]).toEqual([1, '']);
      expect(received[0]).toContain(requestTo(url).body);
    });

    it('may try another connection while nothing was sent', async () => {
      const { url, arrivals } = await gateway();
      const [agent, away] = [agentOf(), new URL(await nowhere()).origin];
      const again = (
        given: Agent.DispatchOptions,
        handler: Dispatcher.DispatchHandler,
      ): Dispatcher.DispatchHandler => ({
        onRequestStart: () => undefined,
        onResponseError: () => void agent.dispatch(given, handler),
      });
      const dispatcher = dispatcherOf((given, handler) =>
        agent.dispatch({ ...given, origin: away }, again(given, handler)),
      );
      expect(await transportOf({ dispatcher }).post(requestTo(url))).toMatchObject({ reply: { status: 200 } });
      expect(arrivals).toHaveLength(1);
    });

    it('at once, over two connections, sends one', async () => {
      const answer: typeof hangUp = (socket, text) => text.endsWith('}') && socket.end('HTTP/1.1 200 OK\r\n\r\n');
      const { url, received, posts } = await wiretap(answer);
      const agent = agentOf();
      const dispatcher = dispatcherOf((given, handler) => {
        agent.dispatch(given, handler);
        return agent.dispatch(given, handler);
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
  transport.http.axiosRef.interceptors.request.use((config) => (seen.push(config), config));
  return seen;
}

/** Does not say that the request starts. */
function hidden({ onRequestStart: _hidden, ...rest }: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  return rest;
}

/** Tries three times. `show` changes the handler for the second and the third time. */
function retrying(agent: Agent, show: typeof hidden, left = 2): Dispatcher {
  return dispatcherOf((options, handler) =>
    agent.dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onResponseError: (controller, error) => {
        if (left === 0) handler.onResponseError?.(controller, error);
        else retrying(agent, show, left - 1).dispatch(options, show(handler));
      },
    }),
  );
}
