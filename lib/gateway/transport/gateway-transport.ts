import axios, { type AxiosAdapter, type AxiosInstance, type RawAxiosResponseHeaders } from 'axios';
import { HttpService } from '@nestjs/axios';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { STRONG_TLS } from '../../runtime/network.js';
import { Attempt, causeCode, type RequestClaim, type Transmission, type WireRequest } from './attempt.js';

/** As of axios. A dialect or an interceptor may replace it. */
const DEFAULT_HEADERS = { accept: 'application/json, text/plain, */*' };
/** How requests are written, and how replies may be encoded. Neither a dialect nor an interceptor can replace these. */
const ENTITY_HEADERS = { 'content-type': 'application/json', 'accept-encoding': 'gzip' };
/** A host or a dialect must not change how a body is framed. */
const FRAMING_HEADERS = ['content-length', 'transfer-encoding'];

/** The `HttpService` for the host. Interceptors can be added only by whoever takes the axios instance. */
class GatewayHttp extends HttpService {
  mayHaveInterceptors = false;

  override get axiosRef(): AxiosInstance {
    this.mayHaveInterceptors = true;
    return super.axiosRef;
  }
}

export interface TransportSettings {
  /** One deadline for waiting for a connection, connecting and the answer. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How long an idle connection is kept, unless the gateway announces less. With 0, each connection is used once. */
  readonly keepAliveMs: number;
  /** The host's own, with its own connections and TLS. It is not closed here. */
  readonly dispatcher?: Dispatcher;
}

/**
 * Sends requests over undici, which tells whether a request was started. If the host has taken the axios instance, each
 * request goes through axios first, for the host's interceptors.
 */
export class GatewayTransport {
  /**
   * For interceptors of the host. They see the URL of a request and may add headers, but see neither its body nor its
   * own headers, which hold the card and the secrets. It refuses requests that the host makes itself.
   */
  readonly http: GatewayHttp;
  private readonly axios: AxiosInstance;
  /** #private, so that `inspect` does not show requests under way, nor the password of a proxy. */
  readonly #dispatcher: Dispatcher;
  private readonly isDispatcherOurs: boolean;
  private readonly settings: Omit<TransportSettings, 'dispatcher'>;
  /** The adapter of each attempt, the only one through which axios may send. */
  private readonly adapters = new WeakSet<object>();

  constructor({ dispatcher, ...settings }: TransportSettings) {
    this.settings = settings;
    this.isDispatcherOurs = dispatcher === undefined;
    this.#dispatcher = dispatcher ?? agentFor(settings);
    this.axios = axios.create({ adapter: refuse });
    // Axios runs interceptors in reverse order, so this one is last: whatever others have done, only an attempt's own
    // adapter may send.
    this.axios.interceptors.request.use((config) => {
      if (typeof config.adapter !== 'function' || !this.adapters.has(config.adapter)) config.adapter = refuse;
      return config;
    });
    this.http = new GatewayHttp(this.axios);
  }

  /**
   * Sends a request once. Never rejects, whatever an interceptor or dispatcher does. Resolves at the deadline at the
   * latest, which is the claim's if there is one.
   */
  post(request: WireRequest, claim?: RequestClaim): Promise<Transmission> {
    const timeoutMs = claim?.timeoutMs ?? this.settings.timeoutMs;
    const attempt = new Attempt(request.body, timeoutMs, claim);
    // Axios costs as much as the request itself, so it is used only if there may be interceptors.
    if (this.http.mayHaveInterceptors) this.postByAxios(attempt, request);
    else this.transmit(attempt, request);
    return attempt.outcome;
  }

  /** Ends the requests that are under way, as if their connections were lost. */
  async close(): Promise<void> {
    if (this.isDispatcherOurs) await this.#dispatcher.destroy();
  }

  private postByAxios(attempt: Attempt, request: WireRequest): void {
    const adapter: AxiosAdapter = async (config) => {
      if (!this.transmit(attempt, request, config.headers.toJSON(true))) return refuse();
      const transmission = await attempt.outcome;
      if (!transmission.sent || !transmission.reply) throw new Error('The payment gateway gave no answer.');
      const { status, text } = transmission.reply;
      const { statusText, headers: received } = attempt.head;
      return { status, statusText, headers: received as RawAxiosResponseHeaders, data: text, config, request: {} };
    };
    this.adapters.add(adapter);
    const transforms = { transformRequest: [], transformResponse: [] };
    const config = { method: 'post', url: request.url, adapter, headers: ENTITY_HEADERS, ...transforms };
    const send = async (): Promise<unknown> => this.axios.request(config);
    const done = (): void => attempt.interceptorsDone();
    void send().then(done, done);
  }

  /**
   * Gives the request to undici.
   *
   * @param added the host's headers
   * @returns false, without doing anything, if it was transmitted before or is over
   */
  private transmit(attempt: Attempt, { url, headers }: WireRequest, added: WireRequest['headers'] = {}): boolean {
    const length = attempt.take();
    if (length === null) return false;
    try {
      const { origin, pathname, search } = new URL(url);
      this.#dispatcher.dispatch(
        {
          origin,
          path: pathname + search,
          method: 'POST',
          headers: { ...wireHeaders(added, headers), 'content-length': String(length) },
          // undici takes iterables, but its types do not.
          body: { [Symbol.iterator]: () => attempt.handOut() } as unknown as Dispatcher.DispatchOptions['body'],
          reset: this.settings.keepAliveMs === 0,
          idempotent: false,
          // The attempt has its own deadline.
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        attempt.handler(),
      );
    } catch (error) {
      attempt.lose('connection_lost', causeCode(error));
    }
    return true;
  }
}

function agentFor({ connectTimeoutMs, keepAliveMs }: TransportSettings): Agent {
  return new Agent({
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED, meant for something else, does not affect payments.
    connect: { ...STRONG_TLS, timeout: connectTimeoutMs, rejectUnauthorized: true },
    keepAliveTimeout: Math.max(keepAliveMs, 1),
    keepAliveMaxTimeout: Math.max(keepAliveMs, 1),
    pipelining: 1,
    allowH2: false,
  });
}

/** Waits for the next turn of the event loop, so that an interceptor that retries forever does not block it. */
async function refuse(): Promise<never> {
  await nextTurn();
  throw new Error('This HttpService transmits each payment request once and nothing else.');
}

/**
 * The defaults, then the interceptors' headers, then our own. A later header replaces an earlier one; the case of names
 * is ignored.
 */
function wireHeaders(added: WireRequest['headers'], own: WireRequest['headers']): Record<string, string> {
  const headers = new Map<string, [name: string, value: string]>();
  for (const set of [DEFAULT_HEADERS, added, own, ENTITY_HEADERS]) {
    for (const [name, value] of Object.entries(set)) {
      headers.set(name.toLowerCase(), [name, value]);
    }
  }
  for (const name of FRAMING_HEADERS) headers.delete(name);
  return Object.fromEntries(headers.values());
}
