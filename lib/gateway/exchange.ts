import { type PaymentClock, withTimeout } from '../runtime/clock.js';
import { type Carried, describeThrown, Masker } from '../payment/kept-text.js';
import { notAPromise, refusePromises } from '../runtime/not-a-promise.js';
import type { Attributes } from '../telemetry/attributes.js';
import { openTelemetry } from '../telemetry/open-telemetry.js';
import { recordDuration } from '../telemetry/metrics.js';
import { inSpan } from '../telemetry/spans.js';
import type { DialectOperation, GatewayOperation, GatewaySettings } from './gateway-dialect.js';
import type { GatewayTrouble, HostFailure } from './gateway-trouble.js';
import type { GatewayTransport } from './transport/gateway-transport.js';
import type { Answer, RequestClaim, Transmission, WireRequest } from './transport/attempt.js';
import { wireText } from './wire-body.js';

/** How long a request may take to build and sign: a signer may make requests of its own. */
const MAX_PREPARATION_MS = 8_000;

/** It is certain that nothing was sent. `why` is for developers. */
export interface NotSent {
  readonly sent: false;
  readonly why: string;
}

/** A request that may have been sent. `masker` keeps what it carries out of what is kept of its answer. */
export type Sent = Answer & { readonly masker: Masker };

/**
 * Not sent: the claim would run out before the deadline, or the time is not known well enough to rule that out. Callers
 * compare with it.
 */
export const TOO_LATE: NotSent = { sent: false, why: 'the payment store or this process was held up for too long' };

/** Builds, signs and sends requests in the dialect, each once. */
export class Exchange {
  constructor(
    private readonly settings: GatewaySettings,
    private readonly transport: GatewayTransport,
    private readonly clock: PaymentClock,
    private readonly trouble: GatewayTrouble | undefined,
    private readonly baseUrl: string,
  ) {}

  async send<Request>(
    name: GatewayOperation,
    operation: DialectOperation<Request, unknown>,
    content: Request,
    claim?: RequestClaim,
  ): Promise<Sent | NotSent> {
    const inTime = <T>(work: () => Promise<T>): Promise<T> => withTimeout(MAX_PREPARATION_MS, work, this.clock);
    const [prepared, isTimeKnown] = await Promise.all([
      inTime(() => this.prepare(name, operation, content)).catch(() => this.notMade(name, 'the signer took too long')),
      claim ? inTime(() => claim.confirmTime()).catch(() => false) : true,
    ]);
    if ('sent' in prepared) return prepared;
    if (claim && !(isTimeKnown && claim.mayStart(claim.timeoutMs))) return this.tooLate(name);
    const { request, masker } = prepared;
    const transmission = await inRequestSpan(name, operation.path, this.settings.account, request.url, () =>
      this.transport.post(request, claim),
    );
    if (transmission.sent && transmission.reply) return { ...transmission, masker };
    const { sent, cause } = transmission;
    if (cause === 'claim_over') return this.tooLate(name);
    this.trouble?.lost(name, transmission);
    return sent ? { ...transmission, masker } : { sent, why: cause.replaceAll('_', ' ') };
  }

  /** Builds and signs a request. Never rejects. */
  private async prepare<Request>(
    name: GatewayOperation,
    operation: DialectOperation<Request, unknown>,
    content: Request,
  ): Promise<{ readonly request: WireRequest; readonly masker: Masker } | NotSent> {
    const { dialect, credentials } = this.settings;
    const { clientSecret, apiKey } = credentials;
    let part = `the dialect's body of ${name}`;
    try {
      const unsigned = notAPromise(operation.body(content, credentials.merchantId), 'the body');
      part = `the JSON of the dialect's body of ${name}`;
      // Before anything else can fail: what rejects in it must not end the process.
      const unsignedText = wireText(unsigned);
      part = 'the signer';
      const sign: unknown = await dialect.sign(unsigned, { operation: name, apiKey });
      if (sign !== null && typeof sign !== 'string') return this.notMade(name, 'the signer did not return a string');
      part = "the dialect's headers";
      const headers = textsIn(dialect.headers({ credentials, operation: name, now: this.clock.now() }));
      const body = sign === null ? unsignedText : wireText({ ...unsigned, sign });
      const masker = new Masker([clientSecret, apiKey, sign, ...secretsIn(headers)], content as Carried);
      return { request: { url: this.baseUrl + operation.path, headers, body }, masker };
    } catch (error) {
      const thrown = describeThrown(error, new Masker([clientSecret, apiKey], content as Carried));
      return this.notMade(name, 'the dialect or the signer failed to make the request', { part, thrown });
    }
  }

  private tooLate(name: GatewayOperation): NotSent {
    this.trouble?.notMade(name, TOO_LATE.why);
    return TOO_LATE;
  }

  private notMade(name: GatewayOperation, why: string, by?: HostFailure): NotSent {
    this.trouble?.notMade(name, why, by);
    return { sent: false, why };
  }
}

/** A host's own dialect may give anything as headers. */
function textsIn(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  notAPromise(headers, 'what headers() returned');
  refusePromises(Object.values(headers), 'a header');
  for (const [name, value] of Object.entries<unknown>(headers)) {
    if (typeof value !== 'string') throw new TypeError(`the header ${name} is no text`);
  }
  return headers;
}

/** The credentials in the headers: a dialect may send them in another form than the configured one. */
function secretsIn(headers: Readonly<Record<string, string>>): string[] {
  const secret = Object.entries(headers).filter(([name]) => /secret|authorization|key|token/i.test(name));
  // `Bearer abc` and `abc`.
  return secret.flatMap(([, value]) => [value, ...value.split(' ').slice(1)]);
}

/** Sends a request in a client span, and records how long it took. Neither headers nor bodies are shown. */
async function inRequestSpan(
  operation: GatewayOperation,
  path: string,
  account: string,
  url: string,
  send: () => Promise<Transmission>,
): Promise<Transmission> {
  if (!openTelemetry() || !URL.canParse(url)) return send();
  const { hostname, port, protocol } = new URL(url);
  const labels = {
    'card_payment.operation': operation,
    'card_payment.account': account,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
  const attributes = { ...labels, 'http.request.method': 'POST', 'url.full': url };
  const began = performance.now();
  return inSpan(`POST ${path}`, { kind: 'client', attributes }, async (span) => {
    const transmission = await send();
    const outcome = outcomeOf(transmission);
    span.set(outcome);
    if ('error.type' in outcome) span.fail(String(outcome['error.type']));
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
