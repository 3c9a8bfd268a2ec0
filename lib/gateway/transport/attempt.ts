import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';

/** Codes of the system, of DNS, of undici and its parser, of Node's TLS and of OpenSSL's certificate checks. */
const KNOWN_FORMS = [
  /^(?:E[A-Z0-9]{2,20}|EAI_[A-Z]{3,20}|HPE_[A-Z0-9_]{1,40})$/,
  // OpenSSL 3.5 has a slash in its names of alerts: ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE.
  /^(?:UND_)?ERR_[A-Z0-9_/]{3,60}$/,
  /^(?:CERT|CRL|CA|DEPTH_ZERO|ERROR_IN|HOSTNAME|INVALID|OUT_OF_MEM|PATH_LENGTH|SELF_SIGNED|UNABLE_TO)_?[A-Z_]{0,60}$/,
];

/** In decoded bytes: more than any payment gateway sends. */
const MAX_REPLY_BYTES = 1_048_576;
const UTF8 = new TextDecoder();

/** One request, ready to be sent. It holds the card: never log it. */
export interface WireRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The claim on a payment, under which a request that moves money is sent. Nothing is sent once it has run out. */
export interface RequestClaim {
  /** One deadline for waiting for a connection, connecting and the answer. */
  readonly timeoutMs: number;
  /** Asks the store for the time if necessary. @returns whether it is known well enough for {@link mayStart} */
  confirmTime(): Promise<boolean>;
  /** Whether a request that starts now and takes this long is over before the claim runs out. */
  mayStart(timeoutMs: number): boolean;
}

export interface GatewayReply {
  readonly status: number;
  readonly text: string;
}

/** Why there is no reply although the request may have been sent. */
export type LostReply = 'deadline' | 'connection_lost' | 'reply_too_large' | 'reply_unreadable';

export type NothingSent = 'connection_failed' | 'deadline' | 'interceptor_failed' | 'claim_over';

/**
 * There is no reply. `sent: false` proves that nothing was written. `errorCode` is the code of the connection's error,
 * if it has one: `ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`.
 */
export type NoReply =
  | { readonly sent: false; readonly cause: NothingSent; readonly errorCode?: string }
  | { readonly sent: true; readonly reply: null; readonly cause: LostReply; readonly errorCode?: string };

/** The outcome of one attempt to send a request. */
export type Transmission = { readonly sent: true; readonly reply: GatewayReply } | NoReply;

/** The reply to a request that may have been sent, or why there is none. */
export type Answer = Transmission & { readonly sent: true };

/** The `code` of a connection's error, if it has a known form: a host's own dispatcher may throw anything. */
export function causeCode(error: unknown): string | null {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  // undici's parser has no code for some of its errors.
  if (code === undefined && name === 'HTTPParserError') return name;
  return typeof code === 'string' && KNOWN_FORMS.some((form) => form.test(code)) ? code : null;
}

const ONCE = 'A payment request is transmitted once.';

/**
 * One attempt to send a request, which is transmitted at most once: a second start is aborted before anything is
 * written. Nothing was sent if undici never started the request. The kind of an error proves nothing.
 */
export class Attempt {
  /** What comes before the reply's body. Empty until there is a reply. */
  head = { status: 0, statusText: '', headers: {} as IncomingHttpHeaders };
  /** Resolves when the outcome is known, at the deadline at the latest. Never rejects. */
  readonly outcome: Promise<Transmission>;
  private settle!: (transmission: Transmission) => void;
  private isTaken = false;
  private isHandedOut = false;
  /** A part of the request may have been written. */
  private hasStarted = false;
  private isOver = false;
  /** Aborts the start that undici announced first. */
  private abort: (() => void) | null = null;
  private readonly body: Buffer;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private readonly deadline: number;
  private readonly timer: NodeJS.Timeout;

  /** @param claim under which the request may be sent; none for one that moves no money */
  constructor(
    body: string,
    timeoutMs: number,
    private readonly claim?: Pick<RequestClaim, 'mayStart'>,
  ) {
    this.outcome = new Promise((resolve) => (this.settle = resolve));
    this.body = Buffer.from(body);
    this.deadline = performance.now() + timeoutMs;
    this.timer = setTimeout(() => this.lose('deadline'), timeoutMs);
  }

  /** Takes the right to dispatch the request. @returns the body's length; null if it was taken before or is over */
  take(): number | null {
    if (this.isTaken || this.isOver) return null;
    this.isTaken = true;
    return this.body.length;
  }

  /** The interceptors have finished. If none of them let the request through, the attempt is over. */
  interceptorsDone(): void {
    if (!this.isTaken) this.end({ sent: false, cause: 'interceptor_failed' });
  }

  /** Gives the body once, so that a dispatcher which retries without announcing a start has nothing to write. */
  *handOut(): Generator<Buffer> {
    this.endIfLate();
    if (this.isOver || this.isHandedOut) throw new Error(ONCE);
    this.isHandedOut = true;
    this.hasStarted = true;
    yield this.body;
  }

  /** A plain object, because hosts' dispatchers destructure handlers. */
  handler(): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller) => {
        this.endIfLate();
        if (this.abort || this.isOver) return controller.abort(new Error(ONCE));
        this.hasStarted = true;
        this.abort = () => controller.abort(new Error('The payment request is over.'));
      },
      onResponseStart: (_controller, status, headers, statusText = '') => {
        this.hasStarted = true;
        this.head = { status, statusText, headers };
      },
      onResponseData: (_controller, chunk) => {
        if (this.isOver) return;
        this.chunks.push(chunk);
        this.size += chunk.length;
        if (this.size > MAX_REPLY_BYTES) this.lose('reply_too_large');
      },
      onResponseEnd: () => {
        if (this.isOver) return;
        // There is nothing left to abort.
        this.abort = null;
        const reply = replyText(Buffer.concat(this.chunks), this.head.headers);
        if ('text' in reply) this.end({ sent: true, reply: { status: this.head.status, text: reply.text } });
        else this.lose(reply.cause);
      },
      onResponseError: (_controller, error) => this.lose('connection_lost', causeCode(error)),
    };
  }

  lose(cause: LostReply, errorCode: string | null = null): void {
    const why = errorCode === null ? {} : { errorCode };
    if (this.hasStarted) this.end({ sent: true, reply: null, cause, ...why });
    else this.end({ sent: false, cause: cause === 'deadline' ? 'deadline' : 'connection_failed', ...why });
  }

  /**
   * Ends the attempt if it is too late to start. The request may have waited for a connection, and in an event loop
   * that was blocked this may run before the timer.
   */
  private endIfLate(): void {
    if (this.hasStarted || this.isOver) return;
    const left = this.deadline - performance.now();
    if (left <= 0) this.end({ sent: false, cause: 'deadline' });
    else if (this.claim?.mayStart(left) === false) this.end({ sent: false, cause: 'claim_over' });
  }

  /** Nothing is sent after this. */
  private end(transmission: Transmission): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    this.settle(transmission);
    try {
      this.abort?.();
    } catch {
      // A host's own dispatcher may fail to abort; the outcome stays the same.
    }
  }
}

/** The text of a body, or why it cannot be read. Only gzip is asked for. */
export function replyText(
  body: Buffer,
  headers: IncomingHttpHeaders,
): { text: string } | { cause: 'reply_too_large' | 'reply_unreadable' } {
  const isPlain = body.length === 0 || /^(?:identity)?$/i.test(headers['content-encoding'] ?? '');
  try {
    const bytes = isPlain ? body : gunzipSync(body, { maxOutputLength: MAX_REPLY_BYTES });
    return { text: textOf(bytes, headers['content-type'] ?? '') };
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return { cause: isTooLarge ? 'reply_too_large' : 'reply_unreadable' };
  }
}

/** Decodes as UTF-8 if that is valid, else as the content type says, else as Latin-1, in which every byte is valid. */
function textOf(bytes: Buffer, contentType: string): string {
  if (isUtf8(bytes)) return UTF8.decode(bytes);
  const [, charset = 'latin1'] = /charset="?([^";\s]+)/i.exec(contentType) ?? [];
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}
