import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { MAX_REPLY_BYTES, replyText } from './reply-text.js';
import { causeCode, type LostReply, type Transmission } from './transmission.js';

const ONCE = 'A payment request is transmitted once.';

/** The part of a reply that comes before its body. */
interface ReplyHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * One attempt to send a request, which is transmitted at most once: a second start is aborted before anything is
 * written. Nothing was sent if undici never started the request. The kind of an error proves nothing.
 */
export class Attempt {
  /** Empty until there is a reply. */
  head: ReplyHead = { status: 0, statusText: '', headers: {} };
  private isTaken = false;
  /** A part of the request may have been written. */
  private hasStarted = false;
  private isOver = false;
  private readonly body: Buffer;
  private isHandedOut = false;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  /** Aborts the start that undici announced first. */
  private abort: (() => void) | null = null;
  private settle!: (transmission: Transmission) => void;
  /** Resolves when the outcome is known, at the deadline at the latest. Never rejects. */
  readonly outcome = new Promise<Transmission>((resolve) => (this.settle = resolve));
  private readonly deadline: number;
  private readonly timer: NodeJS.Timeout;

  /** @param mayStart whether a request that starts now, and takes this long, may still be sent */
  constructor(
    body: string,
    timeoutMs: number,
    private readonly mayStart: (timeoutMs: number) => boolean = () => true,
  ) {
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
        // The request is over: there is nothing left to abort.
        this.abort = null;
        this.read();
      },
      onResponseError: (_controller, error) => this.lose('connection_lost', causeCode(error)),
    };
  }

  /** Ends the attempt without a reply. */
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
    else if (!this.mayStart(left)) this.end({ sent: false, cause: 'claim_over' });
  }

  private read(): void {
    if (this.isOver) return;
    const { status, headers } = this.head;
    const reply = replyText(Buffer.concat(this.chunks), headers);
    if ('text' in reply) this.end({ sent: true, reply: { status, text: reply.text } });
    else this.lose(reply.cause);
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
