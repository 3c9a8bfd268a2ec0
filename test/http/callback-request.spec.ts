import { type CallbackRequest, isPrefetch, receivedFields, receivedToken } from '../../lib/http/callback.controller.js';
import { expectCases } from '../rigs/case-texts.js';

/** A request by POST, if nothing else is said. What the host's parser made of it stays as it is. */
function ofRequest(input: string): string {
  const request = { method: 'POST', headers: {}, ...(JSON.parse(input) as object) } as CallbackRequest;
  const before = structuredClone(request);
  const fields = receivedFields(request);
  const token = receivedToken(request);
  expect(request).toEqual(before);
  const read = `token ${JSON.stringify(token)}, fields ${JSON.stringify(fields)}`;
  return isPrefetch(request) ? 'a prefetch' : read;
}

it('what is read of a callback request is in expected/requests.txt', () =>
  expectCases(import.meta.url, 'requests.txt', { 'A request': ofRequest }));
