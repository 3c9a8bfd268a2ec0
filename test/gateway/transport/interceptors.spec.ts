import type { ServerResponse } from 'node:http';
import axios, { type AxiosInstance, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { closeAll, gateway, requestTo, transportOf } from './gateways.js';

const closed = (response: ServerResponse): void => void response.destroy();
const half = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{"code":', () => response.destroy());
};
const approved = (response: ServerResponse): void => void response.setHeader('x-trace', 'abc').end('{"code":"B0000"}');
const ANSWERED = { sent: true, reply: { status: 200, text: '{"code":"B0000"}' } };
const KEPT_BACK = { sent: false, cause: 'interceptor_failed' };
const LOST = { sent: true, reply: null, cause: 'connection_lost', errorCode: 'UND_ERR_SOCKET' };
const SECRETS = /sesame|Ağaç|60\.00/;

// Each fault at each endpoint, through interceptors and dispatchers that try again, is in test/faults/hosts.spec.ts.
describe('interceptors of the host', () => {
  afterEach(closeAll);

  /** A gateway that answers so, a transport with interceptors, and what they are given of its requests. */
  async function shell(answer: (response: ServerResponse) => void, settings: Parameters<typeof transportOf>[0] = {}) {
    const { url, arrivals } = await gateway(answer);
    const transport = transportOf(settings);
    const { http } = transport;
    const { axiosRef } = http;
    const seen: InternalAxiosRequestConfig[] = [];
    axiosRef.interceptors.request.use((config) => (seen.push(config), config));
    const post = (): Promise<unknown> => transport.post(requestTo(url));
    return { url, arrivals, http, axiosRef, seen, on: axiosRef.interceptors, post };
  }

  it.each<[string, (own: AxiosInstance) => AxiosInstance]>([
    ['the same instance', (own) => own],
    ['the global axios', () => axios],
  ])('that try again after half an answer, over %s, send nothing, and see no secret', async (_which, choose) => {
    const { axiosRef, on, post, seen, arrivals } = await shell(half);
    const errors: Error[] = [];
    on.response.use(undefined, async (error: Error & { config?: InternalAxiosRequestConfig }) => {
      errors.push(error);
      if (errors.length > 3) throw error;
      return choose(axiosRef).request(error.config ?? seen[0] ?? {});
    });
    expect(await post()).toEqual(LOST);
    await expect(choose(axiosRef).request(seen[0] ?? {})).rejects.toThrow(/transmits each payment request once/);
    expect(arrivals).toHaveLength(1);
    for (const error of errors) {
      expect(Object.getPrototypeOf(error)).toBe(Error.prototype);
      expect(Object.getOwnPropertyNames(error).sort()).toEqual(['message', 'stack']);
      expect(`${error.message}${error.stack}`).not.toMatch(SECRETS);
    }
  });

  it('that take our adapter out have no body to send', async () => {
    const { axiosRef, post, seen, arrivals } = await shell(closed);
    await post();
    await expect(axiosRef.request({ ...seen[0], adapter: undefined })).rejects.toThrow(/once/);
    expect(arrivals).toHaveLength(1);
    await expect(axios.request({ ...seen[0], adapter: 'http' })).rejects.toThrow();
    expect(arrivals[1]?.body).toBe('');
    expect(arrivals[1]?.request.headers['x-clientsecret']).toBeUndefined();
  });

  it.each<['request' | 'response', string, act: (given: InternalAxiosRequestConfig) => unknown, outcome: object]>([
    ['request', 'sends it elsewhere', async (it) => (await axios.create().request(it), it), ANSWERED],
    ['request', 'sends it besides', (it) => (void axios.request(it).catch(() => undefined), it), ANSWERED],
    ['response', 'fails', () => Promise.reject(new Error('down')), ANSWERED],
    ['response', 'never ends', () => new Promise<never>(() => undefined), ANSWERED],
    ['request', 'has its own adapter', (it) => ({ ...it, adapter: axios.getAdapter('http') }), KEPT_BACK],
    ['request', 'rejects', () => Promise.reject(new Error('down')), KEPT_BACK],
  ])('of the %s, of which one %s, lose no answer and send nothing more', async (kind, _how, act, outcome) => {
    const { on, post, arrivals } = await shell(approved);
    on[kind].use(act as never);
    expect(await post()).toEqual(outcome);
    expect(arrivals).toHaveLength(outcome === ANSWERED ? 1 : 0);
  });

  it('that take longer than the deadline send nothing, neither then nor later', async () => {
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

  it('see neither the body nor the secrets', async () => {
    const { on, url, post, seen } = await shell(approved);
    const answered = new Promise<AxiosResponse>((resolve) => on.response.use((it) => (resolve(it), it)));
    await post();
    const { config, status, data, headers } = await answered;
    expect(seen.map((request) => request.url)).toEqual([url]);
    expect(JSON.stringify([seen, config])).not.toMatch(SECRETS);
    expect([status, data, headers['x-trace']]).toEqual([200, '{"code":"B0000"}', 'abc']);
  });

  it.each([false, true])('have an HttpService that sends nothing else (its own one cleared: %s)', async (isCleared) => {
    const { axiosRef, on, url, http, arrivals } = await shell(approved);
    if (isCleared) on.request.clear();
    const own = isCleared ? [] : [{ adapter: axios.getAdapter('http') }, { adapter: 'http' }];
    for (const config of [{}, ...own]) {
      await expect(axiosRef.post(url, {}, config)).rejects.toThrow(/and nothing else/);
    }
    await expect(new Promise((_, reject) => http.get(url).subscribe({ error: reject }))).rejects.toThrow();
    expect(arrivals).toHaveLength(0);
  });
});
