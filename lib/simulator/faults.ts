import type { JsonObject } from './exact-json.js';
import { NAMED_FAULTS, type FaultName } from './named-faults.js';
import type { SimulatorOperation } from './ledger.js';
import type { RecordedRequest } from './recorded-request.js';

/** An answer as it goes on the wire. */
export interface WireReply {
  readonly status: number;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What goes wrong. */
export type FaultPlay =
  /** The connection is reset (TCP RST). */
  | { readonly kind: 'reset' }
  /** The connection is closed (TCP FIN). */
  | { readonly kind: 'close' }
  /** Nothing more happens until the client goes away, or until `release()`: then the request takes its normal course. */
  | { readonly kind: 'stall' }
  /** The headers and the first half of the answer's body, then the connection is closed. */
  | { readonly kind: 'half-reply' }
  /** The right answer, byte by byte. */
  | { readonly kind: 'one-byte' }
  /** The right answer; then the connection is reset as its next request arrives. */
  | { readonly kind: 'close-next-request' }
  /** The right answer with a promise of keep-alive; then the connection is closed. */
  | { readonly kind: 'close-after-reply' }
  /** An answer of your own. */
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Buffer;
    }
  /** A status with the documented error shape (or HTML, or nothing) in its body. A 3xx points at `location`, by default the simulator. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: 'json' | 'html' | 'empty';
      readonly code?: string;
      readonly location?: string;
    }
  /** The right answer with other fields: changed in place, before it is signed. Numbers are {@link JsonNumber}. */
  | {
      readonly kind: 'edit';
      readonly edit: (fields: JsonObject, context: { readonly contentField: string }) => void;
    }
  /** The right answer with other bytes or headers. */
  | { readonly kind: 'transform'; readonly transform: (reply: WireReply) => WireReply };

/**
 * `before`: no work is done. `middle`: the same, but a connection is cut, or stalls, only after the body was read.
 * `after`: the work is done (the buyer is charged) and only the answer suffers.
 */
export type FaultMoment = 'before' | 'middle' | 'after';

export type FaultOptions = {
  readonly operation: SimulatorOperation | 'any';
  /** Default `after`. */
  readonly at?: FaultMoment;
  /** How many requests it meets. Default 1. */
  readonly times?: number;
} & (FaultPlay | { readonly kind: FaultName });

/** A fault and how often it was played. */
export class Fault {
  /** Resolves with the request when the fault was first played; for a stall, when it began. */
  readonly played: Promise<RecordedRequest>;
  timesPlayed = 0;
  readonly operation: SimulatorOperation | 'any';
  readonly at: FaultMoment;
  readonly play: FaultPlay;
  timesLeft: number;
  /** Resolves on `release()`. */
  readonly released: Promise<void>;
  private markPlayed!: (request: RecordedRequest) => void;
  private markReleased!: () => void;

  constructor(options: FaultOptions) {
    const { operation, at = 'after', times = 1, ...play } = options;
    this.operation = operation;
    this.at = at;
    this.timesLeft = times;
    this.play = isNamed(play.kind) ? NAMED_FAULTS[play.kind] : (play as FaultPlay);
    this.played = new Promise((resolve) => (this.markPlayed = resolve));
    this.released = new Promise((resolve) => (this.markReleased = resolve));
  }

  /** Lets requests that stall go on, and later ones pass. */
  release(): void {
    this.timesLeft = 0;
    this.markReleased();
  }

  notePlayed(request: RecordedRequest): void {
    this.timesPlayed += 1;
    this.markPlayed(request);
  }
}

/** A fault that was ordered, as tests hold it. */
export type FaultHandle = Readonly<Pick<Fault, 'played' | 'timesPlayed' | 'release'>>;

/** The faults that wait for a request, in the order in which they were ordered. */
export class FaultQueue {
  private readonly faults: Fault[] = [];

  add(options: FaultOptions): Fault {
    const fault = new Fault(options);
    this.faults.push(fault);
    return fault;
  }

  take(operation: SimulatorOperation): Fault | undefined {
    const fault = this.faults.find(
      (queued) => queued.timesLeft > 0 && (queued.operation === 'any' || queued.operation === operation),
    );
    if (fault) fault.timesLeft -= 1;
    return fault;
  }

  reset(): void {
    for (const fault of this.faults.splice(0)) fault.release();
  }
}

function isNamed(kind: string): kind is FaultName {
  return Object.hasOwn(NAMED_FAULTS, kind);
}
