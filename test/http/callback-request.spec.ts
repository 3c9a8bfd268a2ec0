import { type CallbackRequest, isPrefetch, receivedFields, receivedToken } from '../../lib/http/callback.controller.js';

function callbackRequest(over: Partial<CallbackRequest> = {}): CallbackRequest {
  return { method: 'POST', headers: {}, ...over };
}

describe('a prefetch', () => {
  it.each([
    ['HEAD', {}],
    ['GET', { 'sec-purpose': 'prefetch' }],
    ['GET', { 'sec-purpose': 'prefetch;prerender' }],
    ['GET', { purpose: 'Prefetch' }],
    ['GET', { 'x-purpose': 'preview' }],
    ['GET', { 'x-moz': 'prefetch' }],
    ['POST', { purpose: 'prefetch' }],
  ])('is recognised: %s %j', (method, headers) => {
    expect(isPrefetch(callbackRequest({ method, headers }))).toBe(true);
  });

  it.each([
    ['GET', {}],
    ['POST', { 'sec-fetch-mode': 'navigate', accept: 'text/html' }],
  ])('is distinguished from a visit: %s %j', (method, headers) => {
    expect(isPrefetch(callbackRequest({ method, headers }))).toBe(false);
  });
});

describe('receivedToken', () => {
  it('returns the token of the route, or else of the query', () => {
    expect(receivedToken(callbackRequest({ params: { token: 'a' }, query: { token: 'b' } }))).toBe('a');
    expect(receivedToken(callbackRequest({ params: {}, query: { token: 'b' } }))).toBe('b');
  });

  it('returns an empty token if it is repeated, nested or missing', () => {
    for (const token of [['a', 'b'], { a: 'b' }, 7, null, undefined]) {
      expect(receivedToken(callbackRequest({ params: { token }, query: { token } }))).toBe('');
    }
    expect(receivedToken(callbackRequest())).toBe('');
    expect(receivedToken(callbackRequest({ params: null, query: null }))).toBe('');
  });
});

describe('receivedFields', () => {
  it('returns the body that the host has parsed', () => {
    const body = { Code: 'B0000' };
    expect(receivedFields(callbackRequest({ body, query: { a: '1' } }))).toBe(body);
    expect(receivedFields(callbackRequest({ body: 'text', query: {} }))).toBe('text');
    expect(receivedFields(callbackRequest({ body: 7, query: { a: '1' } }))).toBe(7);
  });

  it.each([undefined, null, {}, []])('returns the query if the body is %j', (body) => {
    expect(receivedFields(callbackRequest({ method: 'GET', body, query: { Code: 'B0000' } }))).toEqual({
      Code: 'B0000',
    });
  });

  it('leaves out the token in the query, unless the token is in the route', () => {
    const query = { token: 't', Code: 'B0000' };
    expect(receivedFields(callbackRequest({ method: 'GET', query }))).toEqual({ Code: 'B0000' });
    expect(receivedFields(callbackRequest({ method: 'GET', query, params: { token: 'own' } }))).toEqual(query);
    expect(query).toEqual({ token: 't', Code: 'B0000' });
  });
});
