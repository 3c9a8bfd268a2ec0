import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { SimulatorOperation } from './ledger.js';
import { OPERATIONS } from './operations.js';
import type { JsonObject } from './wire-values.js';

/** A request as it reached the gateway. It holds the card: it is for tests only, and is gone when the process ends. */
export interface RecordedRequest {
  /** null for a path that the gateway does not have. */
  operation: SimulatorOperation | null;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly at: Date;
  /** The body as it was received; empty when it was not read. */
  text: string;
  /** The body parsed; undefined when it is not JSON. */
  body: unknown;
  /** Why the request was refused: a code and what is wrong, without values. */
  refusal: { readonly code: string; readonly message: string; readonly problems: readonly string[] } | null;
  /** The kind of the fault that was played on it. */
  fault: string | null;
  /** What was answered; null when nothing was, or not all of it. */
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string } | null;
}

/** An answer as it is sent. */
export interface WireReply {
  readonly status: number;
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What goes wrong with a request or its answer. */
export type FaultPlay =
  /** The connection is reset (TCP RST). */
  | { readonly kind: 'reset' }
  /** The connection is closed (TCP FIN). */
  | { readonly kind: 'close' }
  /** Nothing happens until the client goes away, or until `release()`: then the request takes its normal course. */
  | { readonly kind: 'stall' }
  /** The headers and the first half of the answer's body, then the connection is closed. */
  | { readonly kind: 'half-reply' }
  /** An answer of your own. */
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Buffer;
    }
  /** A status whose body is the documented error shape, HTML or empty. A 3xx points at the simulator. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: 'json' | 'html' | 'empty';
      readonly code?: string;
    }
  /** The right answer with other fields: changed in place, before it is signed. Numbers are `JsonNumber`s. */
  | { readonly kind: 'edit'; readonly edit: (fields: JsonObject, request: RecordedRequest) => unknown }
  /** An answer that your own code sends; it is given the right one. */
  | {
      readonly kind: 'send';
      readonly send: (response: ServerResponse, reply: WireReply, request: RecordedRequest) => unknown;
    };

const KINDS: readonly string[] = [
  'reset',
  'close',
  'stall',
  'half-reply',
  'reply',
  'status',
  'edit',
  'send',
] satisfies FaultPlay['kind'][];

/**
 * `before`: the request has no effect. `middle`: like `before`, but a connection is cut, or stalls, only after the body
 * was read. `after`: the request takes effect (the buyer is charged), and only its answer goes wrong.
 */
export type FaultMoment = 'before' | 'middle' | 'after';

export type FaultOptions = {
  readonly operation: SimulatorOperation | 'any';
  /** Default `after`. */
  readonly at?: FaultMoment;
  /** How many requests it is played on. Default 1. */
  readonly times?: number;
} & FaultPlay;

/** A fault, with how often it was played. */
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
  private resolvePlayed!: (request: RecordedRequest) => void;
  private resolveReleased!: () => void;

  constructor(options: FaultOptions) {
    const { operation, at = 'after', times = 1, ...play } = options;
    this.operation = operation;
    this.at = at;
    this.timesLeft = times;
    this.play = play;
    this.played = new Promise((resolve) => (this.resolvePlayed = resolve));
    this.released = new Promise((resolve) => (this.resolveReleased = resolve));
  }

  /** Lets stalled requests continue, and later ones pass. */
  release(): void {
    this.timesLeft = 0;
    this.resolveReleased();
  }

  recordPlay(request: RecordedRequest): void {
    this.timesPlayed += 1;
    this.resolvePlayed(request);
  }
}

/** A queued fault, as tests see it. */
export type FaultHandle = Readonly<Pick<Fault, 'played' | 'timesPlayed' | 'release'>>;

/** The faults that wait for a request, oldest first. */
export class FaultQueue {
  private readonly faults: Fault[] = [];

  /** @throws Error for an operation or a fault that there is not: a test would pass without its fault */
  add(options: FaultOptions): Fault {
    const { operation, kind } = options;
    if (operation !== 'any' && !Object.hasOwn(OPERATIONS, operation)) {
      throw new Error(`The simulator has no operation ${operation}`);
    }
    if (!KINDS.includes(kind)) throw new Error(`The simulator has no fault ${kind as string}`);
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
