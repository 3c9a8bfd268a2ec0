import { recordDuration } from '../../telemetry/metrics.js';
import { openTelemetry } from '../../telemetry/open-telemetry.js';
import { inSpan } from '../../telemetry/spans.js';
import type { Attributes } from '../../telemetry/attributes.js';
import type { GatewayOperation } from '../gateway-dialect.js';
import type { Transmission, WireRequest } from './transmission.js';

/** Sends a request in a client span, and records how long it took. Neither headers nor bodies are shown. */
export async function inRequestSpan(
  operation: GatewayOperation,
  path: string,
  account: string | undefined,
  { url }: Pick<WireRequest, 'url'>,
  send: () => Promise<Transmission>,
): Promise<Transmission> {
  if (!openTelemetry() || !URL.canParse(url)) return send();
  const { hostname, port, protocol } = new URL(url);
  const labels = {
    'card_payment.operation': operation,
    ...(account !== undefined && { 'card_payment.account': account }),
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
  const attributes = { ...labels, 'http.request.method': 'POST', 'url.full': url };
  const began = performance.now();
  return inSpan(`POST ${path}`, { kind: 'client', attributes }, async (span) => {
    const transmission = await send();
    const outcome = outcomeOf(transmission);
    span.set(outcome);
    const error = outcome['error.type'];
    if (error !== undefined) span.fail(String(error));
    recordDuration('gatewayRequests', performance.now() - began, { ...labels, ...outcome });
    return transmission;
  });
}

/** OpenTelemetry's semantic conventions for HTTP clients count a status of 400 or more as an error, too. */
function outcomeOf(transmission: Transmission): Attributes {
  if (!transmission.sent || !transmission.reply) {
    return { 'error.type': transmission.errorCode ?? transmission.cause };
  }
  const { status } = transmission.reply;
  return { 'http.response.status_code': status, ...(status >= 400 && { 'error.type': String(status) }) };
}
