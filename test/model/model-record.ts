/** For this long an operator has to force what was interrupted to `failed`. */
const FORCED_WITHIN_MS = 3_600_000;
const TOLD = ['succeeded', 'failed', 'expired', 'unknown', 'review'];

export interface Line {
  readonly version: number;
  readonly state: string;
  readonly reason: string | null;
}

/** A payment or refund as it should be. */
export class ModelRecord {
  readonly history: Line[] = [];
  readonly events: string[] = [];
  isHolding = false;

  constructor(
    /** Its conversationId or refundId. */
    readonly id: string,
    public idempotencyKey: string | null,
    /** When it was claimed. */
    public claimedAt: number,
  ) {}

  get state(): string {
    return this.history.at(-1)?.state ?? '';
  }

  get reason(): string | null {
    return this.history.at(-1)?.reason ?? null;
  }

  /** Adds a line of history and, if the state is new and told, an event. */
  write(state: string, reason: string | null): void {
    const before = this.state;
    const version = this.history.length + 1;
    this.history.push({ version, state, reason });
    if (state !== before && TOLD.includes(state)) this.events.push(`${this.id}:${version} ${state}`);
  }

  /** Whether an operator has to use force to resolve it as failed, since the request may still be on its way. */
  isForced(now: number): boolean {
    return this.state === 'unknown' && this.reason === 'interrupted' && now - this.claimedAt < FORCED_WITHIN_MS;
  }
}
