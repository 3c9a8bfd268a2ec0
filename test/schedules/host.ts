import { PaymentClock } from 'nestjs-card-payment';
import type { TestClock } from 'nestjs-card-payment/testing';
import type { Choice } from './explorer.js';

/** The ways in which a step can end. All but `done` are faults. */
export type Ends<T> = { readonly done: () => Promise<T> } & Readonly<Record<string, () => Promise<T>>>;

/** One process. While it is held, each step that it takes outside itself waits until it is chosen. */
export class Host {
  readonly clock: HostClock;
  isHeld = false;
  /** Whether one of its steps was chosen. */
  hasMoved = false;
  private readonly steps = new Set<readonly Choice[]>();
  /** Writes that the store still has to do, even if the process has died. */
  private readonly late = new Set<readonly Choice[]>();

  constructor(
    readonly name: string,
    world: TestClock,
  ) {
    this.clock = new HostClock(world);
  }

  get isDead(): boolean {
    return this.clock.isStopped;
  }

  get choices(): readonly Choice[] {
    return [...this.steps, ...this.late].flat();
  }

  /** Nothing of the process goes on. */
  die(): Promise<never> {
    this.clock.isStopped = true;
    this.steps.clear();
    return never();
  }

  /** Takes a step outside the process, such as a call of the store. */
  step<T>(what: string, ends: Ends<T>): Promise<T> {
    if (this.isDead) return never();
    if (!this.isHeld) return ends.done();
    return new Promise<T>((resolve) => {
      const all: Ends<T> = { ...ends, [`${this.name} dies before that`]: () => this.die() };
      this.offer(this.steps, `${this.name} ${what}`, all, resolve);
    });
  }

  /** Lets something that the process has asked for happen at any later time. */
  happensLater(what: string, act: () => unknown): void {
    this.offer(this.late, what, { done: () => Promise.resolve(act()) }, () => undefined);
  }

  private offer<T>(
    offered: Set<readonly Choice[]>,
    what: string,
    ends: Ends<T>,
    resolve: (ended: Promise<T>) => void,
  ): void {
    const choices = Object.entries(ends).map(([end, act]): Choice => {
      const take = (): void => {
        this.hasMoved = true;
        offered.delete(choices);
        const ended = act();
        resolve(ended);
        // A compare-and-set that was too late is done, too.
        const remark = (result: unknown) => void (choice.remark = result === 'stale' ? ' (stale)' : '');
        void ended.then(remark, () => void (choice.remark = end === 'done' ? ' (in vain)' : ''));
      };
      const choice: Choice = { line: `${what}: ${end}`, isFault: end !== 'done', take };
      return choice;
    });
    offered.add(choices);
  }
}

/** Time passes until the first of these hosts goes on. No choice if none of them waits for that. */
export function timePasses(hosts: readonly Host[], world: TestClock): Choice[] {
  const wakes = hosts.flatMap(({ clock, isDead }) => (isDead ? [] : clock.wakes));
  if (wakes.length === 0) return [];
  const ms = Math.max(0, Math.min(...wakes) - world.monotonic());
  return [{ line: `${ms / 1_000} s pass`, isFault: false, take: () => world.advance(ms) }];
}

/** The clock of one process. */
class HostClock extends PaymentClock {
  isStopped = false;
  private readonly sleeps = new Set<{ readonly wakesAt: number }>();

  constructor(private readonly world: TestClock) {
    super();
  }

  /** When each sleep ends. The timers of deadlines do not count: nothing goes on when they end. */
  get wakes(): number[] {
    return Array.from(this.sleeps, ({ wakesAt }) => wakesAt);
  }

  now(): Date {
    return this.world.now();
  }

  override monotonic(): number {
    return this.world.monotonic();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const sleep = { wakesAt: this.monotonic() + ms };
    this.sleeps.add(sleep);
    await this.world.sleep(ms, signal);
    this.sleeps.delete(sleep);
    if (this.isStopped) await never();
  }

  override timer(ms: number, act: () => void): () => void {
    let isOff = false;
    void this.world.sleep(ms).then(() => {
      if (!isOff && !this.isStopped) act();
    });
    return () => void (isOff = true);
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
