import { HttpService } from '@nestjs/axios';
import axios, { type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { Agent, type Dispatcher } from 'undici';
import { Attempt, type Transmission, type WireRequest } from './transmission.js';

export type { Transmission, WireReply, WireRequest } from './transmission.js';

export interface TransportSettings {
  /** One deadline for queue, connect and answer. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How long an idle connection is kept, less where the gateway announces less; 0 uses each connection once. */
  readonly keepAliveMs: number;
  /** A host's own; it is not closed here. */
  readonly dispatcher?: Dispatcher;
}

/** Sends requests over a private axios instance, so that a host's interceptors see them, and undici, so that what was sent is known. */
export class GatewayTransport {
  /** For interceptors of the host. Requests of the host's own are refused. */
  readonly http: HttpService;
  private readonly own: Agent | null;
  private readonly dispatcher: Dispatcher;

  constructor(private readonly settings: TransportSettings) {
    const { connectTimeoutMs, keepAliveMs, dispatcher } = settings;
    this.own = dispatcher
      ? null
      : new Agent({
          connect: { timeout: connectTimeoutMs },
          keepAliveTimeout: Math.max(keepAliveMs, 1),
          keepAliveMaxTimeout: Math.max(keepAliveMs, 1),
          pipelining: 1,
          allowH2: false,
          // The deadline of the attempt governs.
          headersTimeout: 0,
          bodyTimeout: 0,
        });
    this.dispatcher = dispatcher ?? this.own ?? new Agent();
    this.http = new HttpService(axios.create({ adapter: () => Promise.reject(new Error(REFUSAL)) }));
  }

  /** One attempt. Never rejects, whatever an interceptor or dispatcher does. */
  async post(request: WireRequest): Promise<Transmission> {
    const attempt = new Attempt(this.settings.timeoutMs);
    let isTaken = false;
    const adapter = async (config: InternalAxiosRequestConfig): Promise<AxiosResponse> => {
      if (isTaken) throw new Error(REFUSAL);
      isTaken = true;
      attempt.begin(this.dispatcher, { ...request, headers: headersOf(config) }, this.settings.keepAliveMs === 0);
      const transmission = await attempt.outcome;
      if (!transmission.sent || !transmission.reply) throw new Error('The payment gateway gave no answer.');
      const { status, text } = transmission.reply;
      return { data: text, status, statusText: '', headers: {}, config, request: undefined };
    };
    const run = this.http.axiosRef.request({
      method: 'post',
      url: request.url,
      headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip, deflate, br', ...request.headers },
      data: request.body,
      adapter,
      transformRequest: [(data: string) => data],
      transformResponse: [(data: string) => data],
      validateStatus: () => true,
    });
    // An interceptor that gives up before anything began is proof that nothing was sent.
    run.catch(() => {
      if (!isTaken) attempt.end({ sent: false, cause: 'interceptor_failed' });
    });
    return attempt.outcome;
  }

  async close(): Promise<void> {
    await this.own?.destroy();
  }
}

const REFUSAL = 'This HttpService transmits each payment request once and nothing else.';

/** With what a host's interceptors added; the length is ours to say. */
function headersOf(config: InternalAxiosRequestConfig): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(config.headers.toJSON())) {
    const isOurs = /^(?:content-length|transfer-encoding)$/i.test(name);
    if (!isOurs && value !== null && value !== undefined) headers[name] = String(value);
  }
  return headers;
}
