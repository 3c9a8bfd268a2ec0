import axios, { type AxiosAdapter, type AxiosInstance, type AxiosResponse, type RawAxiosResponseHeaders } from 'axios';
import { HttpService } from '@nestjs/axios';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { Hidden } from '../../payment/hidden.js';
import { STRONG_TLS } from '../../payment/tls.js';
import { Attempt } from './attempt.js';
import { causeCode, type RequestClaim, type Transmission, type WireRequest } from './transmission.js';
import { monitorWarning } from './monitors.js';
import { PaymentLogger } from '../../telemetry/payment-logger.js';

/** The `HttpService` that a host gets. It notices when someone takes the axios instance, to add interceptors to it. */
export class GatewayHttp extends HttpService {
  private isTaken = false;

  override get axiosRef(): AxiosInstance {
    this.isTaken = true;
    return super.axiosRef;
  }

  /** Whether the axios instance may have been changed: nobody else can reach it. */
  get mayHaveInterceptors(): boolean {
    return this.isTaken;
  }
}

export interface TransportSettings {
  /** One deadline for queueing, connecting and the answer. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How long an idle connection is kept, less where the gateway announces less; 0 uses each connection once. */
  readonly keepAliveMs: number;
  /** A host's own, which brings its own connections and TLS; it is not closed here. */
  readonly dispatcher?: Dispatcher;
}

/**
 * Sends requests over undici, so that it is known what was sent; where a host has taken the axios instance, through
 * that, so that its interceptors see them.
 */
export class GatewayTransport {
  /**
   * For interceptors of the host. They see where a request goes and may add headers; its body and its own headers,
   * which hold the card and the secrets, are not shown to them. Requests of the host's own are refused.
   */
  readonly http: GatewayHttp;
  private readonly axios: AxiosInstance;
  /** It holds requests on their way, and a host's own may know a password. */
  private readonly dispatcher: Hidden<Dispatcher>;
  private readonly isDispatcherOurs: boolean;
  private readonly settings: Omit<TransportSettings, 'dispatcher'>;
  private readonly logger = new PaymentLogger();
  private hasWarned = false;
  private readonly adapters = new WeakSet<object>();

  constructor({ dispatcher, ...settings }: TransportSettings) {
    this.settings = settings;
    this.isDispatcherOurs = dispatcher === undefined;
    this.dispatcher = new Hidden(dispatcher ?? agentFor(settings));
    this.axios = axios.create({ adapter: refuse });
    // Registered first, it runs last: whatever others made of the request, only an attempt's own adapter gets through.
    this.axios.interceptors.request.use((config) => {
      if (typeof config.adapter !== 'function' || !this.adapters.has(config.adapter)) config.adapter = refuse;
      return config;
    });
    this.http = new GatewayHttp(this.axios);
  }

  /**
   * One attempt. It never rejects, whatever an interceptor or dispatcher does, and is over at the deadline: the claim's,
   * where it is sent under one.
   */
  post(request: WireRequest, claim?: RequestClaim): Promise<Transmission> {
    this.warnOfMonitors();
    const timeoutMs = claim?.timeoutMs ?? this.settings.timeoutMs;
    const mayStart = (left: number): boolean => claim?.mayStart(left) ?? true;
    const attempt = new Attempt(request.body, timeoutMs, mayStart, this.isDispatcherOurs);
    // Axios costs as much as the request itself: it is asked only where someone can have added to it.
    if (this.http.mayHaveInterceptors) this.postByAxios(attempt, request);
    else this.transmit(attempt, request);
    return attempt.outcome;
  }

  /** Ends what is under way: to whoever waits for it, the connection was lost. */
  async close(): Promise<void> {
    if (this.isDispatcherOurs) await this.dispatcher.reveal().destroy();
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
    const over = (): void => attempt.forgo();
    void this.offer(request.url, adapter).then(over, over);
  }

  /** @param added headers of the host's @returns false, and does nothing, when the attempt was transmitted before */
  private transmit(attempt: Attempt, { url, headers }: WireRequest, added: WireRequest['headers'] = {}): boolean {
    const length = attempt.take();
    if (length === null) return false;
    this.dispatch(attempt, url, { ...wireHeaders(added, headers), 'content-length': String(length) });
    return true;
  }

  /** Once, whenever they subscribed. */
  private warnOfMonitors(): void {
    if (this.hasWarned) return;
    const warning = monitorWarning();
    if (warning === null) return;
    this.hasWarned = true;
    this.logger.warn(warning);
  }

  /** Hands the request to the socket: of each attempt, once. */
  private dispatch(attempt: Attempt, url: string, headers: Record<string, string>): void {
    try {
      const { origin, pathname, search } = new URL(url);
      this.dispatcher.reveal().dispatch(
        {
          origin,
          path: pathname + search,
          method: 'POST',
          headers,
          // An iterable, of which undici's types know nothing.
          body: { [Symbol.iterator]: () => attempt.handOut() } as unknown as Dispatcher.DispatchOptions['body'],
          reset: this.settings.keepAliveMs === 0,
          idempotent: false,
          // The deadline governs.
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        attempt.handler(),
      );
    } catch (error) {
      attempt.lose('connection_lost', causeCode(error));
    }
  }

  private async offer(url: string, adapter: AxiosAdapter): Promise<AxiosResponse> {
    return this.axios.request({
      method: 'post',
      url,
      adapter,
      headers: ENTITY_HEADERS,
      transformRequest: [],
      transformResponse: [],
    });
  }
}

/** What axios asks for; a dialect or an interceptor may ask for something else. */
const DEFAULT_HEADERS = { accept: 'application/json, text/plain, */*' };
/** In what form a body is sent, and how a reply may be encoded. */
const ENTITY_HEADERS = { 'content-type': 'application/json', 'accept-encoding': 'gzip, deflate, br' };
/** How a body is framed is not for a host or a dialect to decide. */
const FRAMING_HEADERS = ['content-length', 'transfer-encoding'];

function agentFor({ connectTimeoutMs, keepAliveMs }: TransportSettings): Agent {
  return new Agent({
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED, meant for something else, does not reach payments.
    connect: { ...STRONG_TLS, timeout: connectTimeoutMs, rejectUnauthorized: true },
    keepAliveTimeout: Math.max(keepAliveMs, 1),
    keepAliveMaxTimeout: Math.max(keepAliveMs, 1),
    pipelining: 1,
    allowH2: false,
  });
}

/** Not before the next turn of the event loop, so that an interceptor that tries again without end does not stop it. */
async function refuse(): Promise<never> {
  await nextTurn();
  throw new Error('This HttpService transmits each payment request once and nothing else.');
}

/** The defaults, what interceptors added, then our own, each name once, in whatever case it is written. */
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
