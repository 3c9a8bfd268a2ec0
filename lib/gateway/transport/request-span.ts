import { recordDuration } from '../../telemetry/metrics.js';
import { openTelemetry } from '../../telemetry/open-telemetry.js';
import { inSpan } from '../../telemetry/spans.js';
import type { Attributes } from '../../telemetry/attributes.js';
import type { Transmission, WireRequest } from './transmission.js';

/** Sends a request in a client span of its own, and measures it. Neither headers nor bodies are shown. */
export async function inRequest(
  operation: string,
  path: string,
  account: string | undefined,
  { url }: Pick<WireRequest, 'url'>,
  send: () => Promise<Transmission>,
): Promise<Transmission> {
  if (!openTelemetry() || !URL.canParse(url)) return send();
  const { hostname, port, protocol } = new URL(url);
  const by = {
    'card_payment.operation': operation,
    ...(account !== undefined && { 'card_payment.account': account }),
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
  const attributes = { ...by, 'http.request.method': 'POST', 'url.full': url };
  const began = performance.now();
  return inSpan(`POST ${path}`, { kind: 'client', attributes }, async (span) => {
    const transmission = await send();
    const outcome = outcomeOf(transmission);
    span.set(outcome);
    const error = outcome['error.type'];
    if (error !== undefined) span.fail(String(error));
    recordDuration('gatewayRequests', performance.now() - began, { ...by, ...outcome });
    return transmission;
  });
}

/** By the semantic conventions of HTTP clients: a status of 400 or more is an error, too. */
function outcomeOf(transmission: Transmission): Attributes {
  if (!transmission.sent || !transmission.reply) {
    return { 'error.type': transmission.errorCode ?? transmission.cause };
  }
  const { status } = transmission.reply;
  return { 'http.response.status_code': status, ...(status >= 400 && { 'error.type': String(status) }) };
}
