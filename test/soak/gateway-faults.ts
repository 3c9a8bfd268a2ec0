import { setTimeout as delay } from 'node:timers/promises';
import type {
  FaultHandle,
  FaultOptions,
  FaultPlay,
  Simulator,
  SimulatorOperation,
} from 'nestjs-card-payment/simulator';
import type { Chance } from '../rigs/chance.js';
import { BYTE_BY_BYTE, CLOSED_AFTERWARDS, ODD, RESET_AT_NEXT } from '../rigs/odd-answers.js';

const CUTS = ['reset', 'close'] as const;

/** The gateway tells no lies: a decline of a sale that was charged, for example, would rightly be believed. */
const PLAYS: readonly (FaultPlay & Pick<FaultOptions, 'at'>)[] = [
  ...CUTS.flatMap((kind) => (['before', 'middle', 'after'] as const).map((at) => ({ kind, at }))),
  { kind: 'half-reply' },
  RESET_AT_NEXT,
  CLOSED_AFTERWARDS,
  BYTE_BY_BYTE,
  ODD.gzip,
  ODD.bom,
  ...(['html', 'empty', 'null', 'cut-json', 'no-code', 'unheard-of-code', 'indeterminate-code'] as const).map(
    (name) => ODD[name],
  ),
  ...[500, 502, 503, 504].flatMap((status) =>
    (['before', 'after'] as const).map((at) => ({ kind: 'status' as const, status, at, body: 'html' as const })),
  ),
  { kind: 'status', status: 429, at: 'before' },
  { kind: 'status', status: 401, at: 'before' },
];

const OPERATIONS: readonly SimulatorOperation[] = [
  'DoPayment',
  'DoPayment',
  'Init3d',
  'Auth3d',
  'Auth3d',
  'CheckPayment',
  'refund',
  'void',
];
const MAX_WAITING = 4;

/** Faults of the gateway, one after the other. */
export class GatewayFaults {
  private readonly handles: FaultHandle[] = [];
  private readonly stopping = new AbortController();

  constructor(
    private readonly simulator: Simulator,
    private readonly random: Chance,
    /** Between one fault and the next, on average. */
    private readonly everyMs: number,
  ) {}

  get played(): number {
    return this.handles.filter(({ timesPlayed }) => timesPlayed > 0).length;
  }

  async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await delay(this.everyMs * (0.5 + this.random.fraction()), undefined, { signal }).catch(() => undefined);
      const waiting = this.handles.filter(({ timesPlayed }) => timesPlayed === 0);
      if (!signal.aborted && waiting.length < MAX_WAITING) this.add();
    }
    for (const handle of this.handles) handle.release();
  }

  stop(): void {
    this.stopping.abort();
  }

  private add(): void {
    const operation = this.random.oneOf(OPERATIONS);
    if (this.random.happens(0.2)) this.addDelay(operation);
    else this.handles.push(this.simulator.fail({ ...this.random.oneOf(PLAYS), operation }));
  }

  /** Longer than the deadline or shorter. */
  private addDelay(operation: SimulatorOperation): void {
    const at = this.random.oneOf(['before', 'middle', 'after'] as const);
    const handle = this.simulator.fail({ kind: 'stall', operation, at });
    const ms = this.random.between(50, 4_000);
    this.handles.push(handle);
    void handle.played.then(() => delay(ms, undefined, { ref: false })).then(() => handle.release());
  }
}
