import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ownBytes, ownCopy } from '../../payment/own-bytes.js';
import { causeCode, type LostReply, type Transmission } from './transmission.js';
import { MAX_REPLY_BYTES, replyText } from './reply-text.js';

/** What came before a reply's body. */
interface ReplyHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingHttpHeaders;
}

const ONCE = 'A payment request is transmitted once.';

/**
 * What is known of one transmission, which happens at most once: a second start is cut off before anything is written.
 * That a request never began is proven by undici never having started it, not by what kind of error came.
 */
export class Attempt {
  /** The reply's, once there is one. */
  head: ReplyHead = { status: 0, statusText: '', headers: {} };
  private isTaken = false;
  /** Something of it may have been written. */
  private hasStarted = false;
  private isOver = false;
  /** Wiped and null when it is over. */
  private body: Buffer | null;
  private isHandedOut = false;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  /** Of the start that undici announced first. */
  private abort: (() => void) | null = null;
  private settle!: (transmission: Transmission) => void;
  /** Resolves when the outcome is known, at the deadline at the latest. Never rejects. */
  readonly outcome = new Promise<Transmission>((resolve) => (this.settle = resolve));
  private readonly deadline: number;
  private readonly timer: NodeJS.Timeout;

  /**
   * @param mayStart whether a request that begins now, and takes this long, may still be sent
   * @param ownsChunks whether nobody else needs the pieces of the reply, so that they can be wiped
   */
  constructor(
    body: string,
    timeoutMs: number,
    private readonly mayStart: (timeoutMs: number) => boolean = () => true,
    private readonly ownsChunks = false,
  ) {
    this.body = ownBytes(body, 'utf8');
    this.deadline = performance.now() + timeoutMs;
    this.timer = setTimeout(() => this.lose('deadline'), timeoutMs);
  }

  /**
   * Takes the right to dispatch it, which is granted once. @returns the body's length; null when it was taken or is
   * over
   */
  take(): number | null {
    if (this.isTaken || this.isOver || !this.body) return null;
    this.isTaken = true;
    return this.body.length;
  }

  /** The interceptors are done. If they did not let it through, it is over. */
  forgo(): void {
    if (!this.isTaken) this.end({ sent: false, cause: 'interceptor_failed' });
  }

  /** The body, once: a dispatcher that tries again, without saying that it starts, gets nothing to write. */
  *handOut(): Generator<Buffer> {
    this.endIfLate();
    const { body } = this;
    if (!body || this.isHandedOut) throw new Error(ONCE);
    this.isHandedOut = true;
    this.hasStarted = true;
    yield body;
  }

  /** A plain object, since hosts' dispatchers take handlers apart. */
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
        this.chunks.push(chunk);
        this.size += chunk.length;
        if (this.isOver) this.wipe();
        else if (this.size > MAX_REPLY_BYTES) this.lose('reply_too_large');
      },
      onResponseEnd: () => {
        // It is over, so there is nothing to abort.
        this.abort = null;
        this.read();
      },
      onResponseError: (_controller, error) => this.lose('connection_lost', causeCode(error)),
    };
  }

  /** There will be no reply. */
  lose(cause: LostReply, errorCode: string | null = null): void {
    const why = errorCode === null ? {} : { errorCode };
    if (this.hasStarted) this.end({ sent: true, reply: null, cause, ...why });
    else this.end({ sent: false, cause: cause === 'deadline' ? 'deadline' : 'connection_failed', ...why });
  }

  /**
   * Asked where the request begins: it may have waited for a connection, and an event loop that was held up may come here
   * before its timer does.
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
    const [first] = this.chunks;
    const body = first?.length === this.size ? first : ownCopy(this.chunks, this.size);
    const reply = replyText(body, headers);
    if (body !== first) body.fill(0);
    if ('text' in reply) this.end({ sent: true, reply: { status, text: reply.text } });
    else this.lose(reply.cause);
  }

  /** Nothing leaves from here on. */
  private end(transmission: Transmission): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    this.settle(transmission);
    try {
      this.abort?.();
    } catch {
      // A host's dispatcher that cannot abort changes nothing of what is known.
    }
    this.wipe();
  }

  /**
   * Leaves nothing of the card in memory that others may be given later. What a connection has not written by now, it
   * writes as zeros, which is no request.
   */
  private wipe(): void {
    this.body?.fill(0);
    this.body = null;
    if (this.ownsChunks) for (const chunk of this.chunks) chunk.fill(0);
    this.chunks.length = 0;
  }
}
