import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { MOST_REPLY_BYTES, replyText } from './reply-text.js';

/** One request, ready to go. It holds the card: never log it. */
export interface WireRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WireReply {
  readonly status: number;
  readonly text: string;
}

/** Why an answer is missing although the request may have left. */
export type LostReply = 'deadline' | 'connection_lost' | 'reply_too_large' | 'reply_unreadable';

/** What is known of one attempt. `sent: false` is proof that nothing of it was written. */
export type Transmission =
  | { readonly sent: false; readonly cause: 'connection_failed' | 'deadline' | 'interceptor_failed' }
  | { readonly sent: true; readonly reply: WireReply }
  | { readonly sent: true; readonly reply: null; readonly cause: LostReply };

/** Nothing of it ever leaves this module. */
class Abandoned extends Error {}

/**
 * One attempt, transmitted at most once: a second start is cut off before anything is written. That a request never began is proven
 * by undici never having started it, not by what kind of error came.
 */
export class Attempt {
  private isStarted = false;
  private isOver = false;
  private status = 0;
  private encoding = '';
  private type = '';
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private abort: (() => void) | null = null;
  private settle!: (transmission: Transmission) => void;
  /** Resolves when the outcome is known, at the deadline at the latest. Never rejects. */
  readonly outcome = new Promise<Transmission>((resolve) => (this.settle = resolve));
  private readonly timer: NodeJS.Timeout;

  constructor(timeoutMs: number) {
    this.timer = setTimeout(() => this.lose('deadline'), timeoutMs);
  }

  /** What is known by now. */
  get hasStarted(): boolean {
    return this.isStarted;
  }

  begin(dispatcher: Dispatcher, request: WireRequest, closeAfter: boolean): void {
    if (this.isOver) return;
    const { origin, pathname, search } = new URL(request.url);
    const body = Buffer.from(request.body, 'utf8');
    const headers = { ...request.headers, 'content-length': String(body.length) };
    try {
      dispatcher.dispatch(
        {
          origin,
          path: pathname + search,
          method: 'POST',
          headers,
          body: readOnce(body),
          reset: closeAfter,
          idempotent: false,
        },
        this.handler(),
      );
    } catch {
      this.lose('connection_lost');
    }
  }

  /** Ends the attempt: nothing leaves from here on. */
  end(transmission: Transmission): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    this.settle(transmission);
    this.abort?.();
  }

  private lose(cause: LostReply): void {
    if (this.isStarted) this.end({ sent: true, reply: null, cause });
    else this.end({ sent: false, cause: cause === 'deadline' ? 'deadline' : 'connection_failed' });
  }

  private handler(): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller) => {
        if (this.isStarted || this.isOver) return controller.abort(new Abandoned());
        this.isStarted = true;
        this.abort = () => controller.abort(new Abandoned());
      },
      onResponseStart: (_controller, statusCode, headers) => {
        if (statusCode < 200) return;
        this.status = statusCode;
        this.encoding = [headers['content-encoding'] ?? ''].flat().join(',');
        this.type = [headers['content-type'] ?? ''].flat().join(',');
      },
      onResponseData: (_controller, chunk) => {
        this.size += chunk.length;
        if (this.size > MOST_REPLY_BYTES) return this.lose('reply_too_large');
        this.chunks.push(chunk);
      },
      onResponseEnd: () => void this.read(),
      onResponseError: () => this.lose('connection_lost'),
    };
  }

  private async read(): Promise<void> {
    const { status, encoding, type } = this;
    this.abort = null;
    const read = await replyText(Buffer.concat(this.chunks), { contentEncoding: encoding, contentType: type });
    if ('text' in read) this.end({ sent: true, reply: { status, text: read.text } });
    else this.lose(read.cause);
  }
}

/** A body that a retrying dispatcher finds spent the second time. */
function readOnce(body: Buffer): Readable {
  return Readable.from([body], { objectMode: false });
}
