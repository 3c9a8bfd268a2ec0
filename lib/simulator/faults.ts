import { NAMED_FAULTS, type FaultName, type FaultPlay } from './fault-plays.js';
import type { RecordedRequest } from './http.js';
import type { SimulatorOperation } from './ledger.js';

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
} & (FaultPlay | { readonly kind: FaultName });

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

  /** Lets stalled requests continue, and later ones pass. */
  release(): void {
    this.timesLeft = 0;
    this.markReleased();
  }

  notePlayed(request: RecordedRequest): void {
    this.timesPlayed += 1;
    this.markPlayed(request);
  }
}

/** A queued fault, as tests see it. */
export type FaultHandle = Readonly<Pick<Fault, 'played' | 'timesPlayed' | 'release'>>;

/** The faults that wait for a request, oldest first. */
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
