import { closeAll, gateway, requestTo, transportOf } from './gateways.js';

describe('gateway transport http', () => {
  afterEach(closeAll);

  it('what travels is the same whether or not someone has taken the axios instance', async () => {
    const { url, arrivals } = await gateway((response) => void response.end('{"code":"B0000"}'));
    const [untouched, taken] = [transportOf(), transportOf()];
    const { axiosRef } = taken.http;
    expect(axiosRef.interceptors).toBeDefined();
    expect(await untouched.post(requestTo(url))).toEqual(await taken.post(requestTo(url)));
    const [one, other] = arrivals.map(({ request, body }) => [request.method, request.url, request.rawHeaders, body]);
    expect(one).toBeDefined();
    expect(new Set(pairs(one?.[2]))).toEqual(new Set(pairs(other?.[2])));
    expect([one?.[0], one?.[1], one?.[3]]).toEqual([other?.[0], other?.[1], other?.[3]]);
  });

  it('an interceptor that is added after payments sees the next', async () => {
    const { url, arrivals } = await gateway((response) => void response.end('{"code":"B0000"}'));
    const transport = transportOf();
    await transport.post(requestTo(url));
    transport.http.axiosRef.interceptors.request.use((config) => {
      config.headers.set('x-shop', 'ours');
      return config;
    });
    await transport.post(requestTo(url));
    expect(arrivals.map(({ request }) => request.headers['x-shop'])).toEqual([undefined, 'ours']);
  });
});

/** The headers as names with values, since their order has no meaning. */
function pairs(raw: unknown): string[] {
  const texts = raw as string[];
  return texts.flatMap((text, index) => (index % 2 === 0 ? [`${text.toLowerCase()}: ${texts[index + 1]}`] : []));
}
