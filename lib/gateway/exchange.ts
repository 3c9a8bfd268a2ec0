import type { PaymentClock } from '../payment/clock.js';
import { type Carried, Masker } from '../payment/kept-text.js';
import { notAPromise, refusePromises } from '../payment/not-a-promise.js';
import { describeThrown, type Thrown } from '../payment/thrown.js';
import { withTimeout } from '../payment/with-timeout.js';
import { type Attributes } from '../telemetry/attributes.js';
import { recordDuration } from '../telemetry/metrics.js';
import { openTelemetry } from '../telemetry/open-telemetry.js';
import { inSpan } from '../telemetry/spans.js';
import type { DialectOperation, GatewayOperation, GatewaySettings } from './gateway-dialect.js';
import type { GatewayTrouble } from './gateway-trouble.js';
import type { GatewayTransport } from './transport/gateway-transport.js';
import type { Answer, RequestClaim, Transmission, WireRequest } from './transport/attempt.js';
import { objectsIn, wireText } from './wire-body.js';

/** How long a request may take to build and sign: a signer may make requests of its own. */
const MAX_PREPARATION_MS = 8_000;

/** It is certain that nothing was sent. `why` is for developers. */
export interface NotSent {
  readonly sent: false;
  readonly why: string;
}

/** The request could not be built or signed, or must not be sent any more. */
interface NotMade extends NotSent {
  /** Which part of the host's own code threw, and what. For the log only. */
  readonly by?: { readonly part: string; readonly thrown: Thrown };
}

/** A request that may have been sent, and what keeps its secrets out of what is kept of the answer. */
export type Sent = Answer & { readonly masker: Masker };

/** Not sent: the claim would run out before the deadline, or the time is not known well enough to rule that out. */
export const TOO_LATE: NotMade = { sent: false, why: 'the payment store or this process was held up for too long' };

const TOO_SLOW: NotMade = { sent: false, why: 'the signer took too long' };

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
    const [prepared, isTimeKnown] = await Promise.all([
      this.orIfLate(TOO_SLOW, () => this.prepare(name, operation, content)),
      claim ? this.orIfLate(false, () => claim.confirmTime()) : true,
    ]);
    const isTooLate = claim !== undefined && !(isTimeKnown && claim.mayStart(claim.timeoutMs));
    const ready = !('sent' in prepared) && isTooLate ? TOO_LATE : prepared;
    if ('sent' in ready) {
      this.trouble?.notMade(name, ready.why, ready.by);
      // Callers compare with TOO_LATE, so it is passed on as it is.
      return ready.by ? { sent: false, why: ready.why } : ready;
    }
    const { request, masker } = ready;
    const transmission = await inRequestSpan(name, operation.path, this.settings.account, request, () =>
      this.transport.post(request, claim),
    );
    this.reportLoss(name, transmission);
    if (transmission.sent) return { ...transmission, masker };
    return transmission.cause === 'claim_over'
      ? TOO_LATE
      : { sent: false, why: transmission.cause.replaceAll('_', ' ') };
  }

  /** The result of the work; `late` if it takes too long or fails. */
  private orIfLate<T, Late>(late: Late, work: () => Promise<T>): Promise<T | Late> {
    return withTimeout(MAX_PREPARATION_MS, work, this.clock).catch(() => late);
  }

  /** Builds and signs a request. */
  private async prepare<Request>(
    name: GatewayOperation,
    operation: DialectOperation<Request, unknown>,
    content: Request,
  ): Promise<NotMade | { readonly request: WireRequest; readonly masker: Masker }> {
    const { dialect, credentials } = this.settings;
    const { clientSecret, apiKey } = credentials;
    let part = `the dialect's body of ${name}`;
    try {
      const unsigned = notAPromise(operation.body(content, credentials.merchantId), 'the body');
      refusePromises(objectsIn(unsigned), 'a part of the body');
      part = 'the signer';
      const sign: unknown = await dialect.sign(unsigned, { operation: name, apiKey });
      if (sign !== null && typeof sign !== 'string') return { sent: false, why: 'the signer did not return a string' };
      part = "the dialect's headers";
      const headers = textsIn(dialect.headers({ credentials, operation: name, now: this.clock.now() }));
      part = `the JSON of the dialect's body of ${name}`;
      const body = wireText(sign === null ? unsigned : { ...unsigned, sign });
      const masker = new Masker([clientSecret, apiKey, sign, ...secretsIn(headers)], content as Carried);
      return { request: { url: this.baseUrl + operation.path, headers, body }, masker };
    } catch (error) {
      const thrown = describeThrown(error, new Masker([clientSecret, apiKey], content as Carried));
      return { sent: false, why: 'the dialect or the signer failed to make the request', by: { part, thrown } };
    }
  }

  private reportLoss(name: GatewayOperation, transmission: Transmission): void {
    if (!transmission.sent) {
      const { cause, errorCode = null } = transmission;
      if (cause === 'claim_over') this.trouble?.notMade(name, TOO_LATE.why);
      else this.trouble?.unreachable(name, cause, errorCode);
    } else if (!transmission.reply) this.trouble?.noAnswer(name, transmission.cause, transmission.errorCode ?? null);
  }
}

/** A host's own dialect may give anything as headers. */
function textsIn(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  notAPromise(headers, 'what headers() returned');
  refusePromises(Object.values<unknown>(headers), 'a header');
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
